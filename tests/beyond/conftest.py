"""The engines of `tests.scale`."""

from tests.scale.conftest import in_parts, loaded, session

__all__ = ["in_parts", "loaded", "session"]
