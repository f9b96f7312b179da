"""Lists of items grouped by user, as they came and as a convention prepares them."""
