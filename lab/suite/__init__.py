"""The suite: real imbalanced data sets, five models, every method on the same scores."""
