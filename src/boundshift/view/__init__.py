"""What plots and report share: the axis of scores, rows and words."""
