"""Move a trained classifier's decision boundary to where class-wise confidence bounds put it."""

__version__ = "0.1.0.dev0"
