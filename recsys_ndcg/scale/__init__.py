"""More data than memory, and than one machine: users brought together, measured, and merged."""
