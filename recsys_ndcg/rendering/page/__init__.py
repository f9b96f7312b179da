"""Pages: one file of HTML each, that needs nothing from elsewhere and runs nothing but its own."""
