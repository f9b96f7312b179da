"""More data than memory, and than one machine."""
