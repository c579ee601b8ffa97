"""Labelled scores as the mathematics sees them: two samples in order, one per class."""
