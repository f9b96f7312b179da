"""Files and streams larger than memory: DuckDB brings the rows of a user together on disk."""
