"""The estimates of each algorithm of Surprise over arrays."""
