"""Labels with weights: propensities, parts by stratum of items, sensitivity."""
