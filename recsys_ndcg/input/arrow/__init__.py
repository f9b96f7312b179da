"""Binary files that pyarrow reads: Parquet, Feather."""
