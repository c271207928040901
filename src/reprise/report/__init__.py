"""From verdicts and figures to what people read."""
