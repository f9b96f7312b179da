"""Run other libraries on the same frame, each in its own process."""
