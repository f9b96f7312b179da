"""One suite of cases for every engine: memory, threads, out of core, Spark."""
