"""Random input of every kind, to be run for as long as one likes."""
