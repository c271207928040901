"""Benchmarks: the speed of training on images, and the timing that the papers' own benches share."""
