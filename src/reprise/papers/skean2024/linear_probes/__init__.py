"""Tables 2 and 3: linear probes of all methods, at the end and on the way."""
