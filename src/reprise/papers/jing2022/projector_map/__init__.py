"""What decides whether a projector prevents collapse: varies one factor at a time around the settings of
`projector_spectra`."""
