"""Appendices D, E.3 and E.4: the dynamics of linear layers under FroSSL's variant, corrected."""
