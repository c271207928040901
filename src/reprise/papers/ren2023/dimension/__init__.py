"""Theorem 4.3 and Lemma B.17 as the dimension grows: how unbalanced a learner becomes without negatives."""
