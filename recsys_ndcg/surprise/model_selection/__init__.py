"""Cross-validation, searches and splits, as in the library's own module of that name."""
