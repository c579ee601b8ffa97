"""The benchmark: methods that decide, compared on real imbalanced data."""
