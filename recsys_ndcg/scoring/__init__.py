"""What is measured, settled beforehand, and what comes of it."""
