"""A user's own loss beside the published ones: `reprise try`."""
