"""Other libraries on the same frame, each in a process of its own."""
