"""Figure 2: two linear layers on images, trained by FroSSL's variant and by Barlow Twins'."""
