"""The arrays that everything here speaks in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ids = NDArray[Any]
Codes = NDArray[np.int32]
Positions = NDArray[np.int64]
