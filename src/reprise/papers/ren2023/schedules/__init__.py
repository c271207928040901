"""Theorem 4.3 (b): the temperatures and lengths of both stages at which it holds."""
