"""Image data sets: loaders for real ones, stand-ins that need no download, and augmentation."""
