"""What may be claimed about a boundary, and how variable it is."""
