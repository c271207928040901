"""What three other papers say, tried on the two-layer model of Section 5: observations of ours."""
