"""How other libraries compute measures beyond accuracy, as choices of a Convention by metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: By library and metric, the choices that differ from our defaults.
BEYOND_PRESETS: dict[str, dict[str, Mapping[str, Any]]] = {
    "rectools": {
        "popularity": {"popularity_of": "rows"},
        "novelty": {},
        "coverage": {"coverage_as": "count"},
    },
}
