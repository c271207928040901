"""Storage on disk: results, a cache keyed by everything an entry depends on, and checkpoints, all verified on
reading."""
