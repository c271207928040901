"""Section 4: a direction whose augmentation varies more than twice as much as the data collapses."""
