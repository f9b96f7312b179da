"""All items that a user has not rated: their estimates, and where the test items stand."""
