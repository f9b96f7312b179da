"""Measures beyond accuracy against their textbook formulas."""
