"""The version, which every signature carries."""

__version__ = "0.1.0.dev5"
