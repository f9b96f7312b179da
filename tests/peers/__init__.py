"""The real libraries on drawn data: what runs them, and their answers."""
