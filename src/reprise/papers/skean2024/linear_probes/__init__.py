"""Tables 2 and 3: linear probes of all methods, during and after training."""
