"""Saved files: written whole, read within bounds, of this format and of the one before."""
