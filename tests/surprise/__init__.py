"""Tests of the Surprise plug-in."""
