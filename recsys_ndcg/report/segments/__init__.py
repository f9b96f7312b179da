"""A report in segments: groups of its users."""
