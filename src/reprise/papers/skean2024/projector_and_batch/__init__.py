"""Appendix C: FroSSL with other embedding dimensions and batch sizes."""
