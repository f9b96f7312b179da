"""Names of metrics, theirs and ours, of the pages on coming from other libraries."""
