"""Theorem 4.3 and Lemma B.17: how unbalanced a learner without negatives becomes as the dimension grows."""
