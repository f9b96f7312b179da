"""Audits: what stands beside scores, measured, stored or summed up."""
