"""Files damaged at random, against all that reads them: ``python -m tests.fuzz``."""
