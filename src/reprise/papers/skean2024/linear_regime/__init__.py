"""Figure 2: two linear layers on images, trained with FroSSL's variant and with Barlow Twins'."""
