"""One adapter per library; each runs where that library is installed and this package is not."""
