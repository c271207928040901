"""What decides whether a projector prevents collapse: one factor at a time about the point of
`projector_spectra`."""
