"""What the page of a comparison holds."""
