"""Tests of the Surprise plug-in; all are skipped if scikit-surprise is not installed."""

import pytest

pytest.importorskip("surprise")
