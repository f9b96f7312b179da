"""The tests; each file is one idea."""
