"""Pages in a real browser: appearance, use and safety."""
