"""Tests of input."""
