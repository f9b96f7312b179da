"""Tests of interactions."""
