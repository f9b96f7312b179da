"""One module per library: compute the three means in its fastest documented way."""
