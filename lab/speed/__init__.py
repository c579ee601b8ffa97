"""Speed against named rivals and np.sort, and boundaries of data bigger than memory."""
