"""What a measurement is worth, for people: scores, what stands beside them, and signatures."""
