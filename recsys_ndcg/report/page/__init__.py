"""What the page of a report holds."""
