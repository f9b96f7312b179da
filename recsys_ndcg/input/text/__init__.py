"""Tables that are written as text: fields between separators, and lines of JSON."""
