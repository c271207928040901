"""Section 3.1: FroSSL with several invariance weights; the paper finds equal weights best."""
