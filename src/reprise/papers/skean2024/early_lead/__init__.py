"""Figure 4: FroSSL and Barlow Twins early and late in training on many classes."""
