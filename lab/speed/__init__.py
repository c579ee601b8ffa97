"""Speed against named baselines and np.sort, and boundaries of data bigger than memory."""
