"""Real libraries' measures beyond accuracy on the same lists: what runs them, and their answers."""
