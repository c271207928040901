"""Figure 4: FroSSL and Barlow Twins early and late in a training on many classes."""
