"""Real libraries of statistics on the same scores per user: what runs them, and their answers."""
