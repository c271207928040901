"""Factors that decide if a projector prevents collapse, varied one at a time around the settings of
`projector_spectra`."""
