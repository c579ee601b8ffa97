"""What plots and report share: the axis of scores, rows, the picture of a class, and words."""
