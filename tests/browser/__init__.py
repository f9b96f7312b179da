"""Pages in a real browser: what a reader sees, does, and is safe from."""
