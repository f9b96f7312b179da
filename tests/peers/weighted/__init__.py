"""Labels with weights: the numbers of other libraries."""
