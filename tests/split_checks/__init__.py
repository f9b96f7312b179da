"""Checks of a split, before any model is trained."""
