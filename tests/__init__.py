"""The tests."""

import os
import sys

# pip installs without compiling (--no-compile): if Python may not write bytecode, either, each
# process of the tests compiles pandas again
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
