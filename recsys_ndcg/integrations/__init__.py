"""Metrics in the form that other libraries call: one file per library, none imported here."""
