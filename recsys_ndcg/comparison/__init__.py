"""Several models on the same users: which is better, for whom, and how sure that is."""
