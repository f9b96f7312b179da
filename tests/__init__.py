"""The tests, which compile each module once, not in every process."""

import os
import sys

# The README's commands install libraries without compiling them.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
