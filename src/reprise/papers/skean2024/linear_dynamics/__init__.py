"""Appendices D, E.3 and E.4: how linear layers move under FroSSL's variant, corrected."""
