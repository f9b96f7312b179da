"""Tests of significance."""
