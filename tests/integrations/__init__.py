"""Metrics for other libraries, each tested by training with it."""
