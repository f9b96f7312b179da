"""A module per library: the means of the three metrics by its fastest documented way."""
