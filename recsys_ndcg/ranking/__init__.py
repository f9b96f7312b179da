"""The only sort: lists in order of their estimates, and the tables that metrics read."""
