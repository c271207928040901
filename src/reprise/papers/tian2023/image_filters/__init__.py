"""Appendix E.3: the filters that a two-layer net learns on images, without and with random crops."""
