"""Experiments: models trained and evaluated over folds and seeds, kept in a folder that resumes."""
