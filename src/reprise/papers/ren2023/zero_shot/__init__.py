"""Figure 2: heads on frozen encoders, trained on captioned images with and without negative pairs."""
