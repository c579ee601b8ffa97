"""
Does my deployed model still work?
==================================

Pass labelled rows to a ``Monitor`` as they arrive. It tests whether the certified error rates still
hold, and you may look after every batch. Here the positive class becomes harder to recognise in
May. The monitor raises an alarm within weeks and estimates when the change began.
"""

# %%
# Choose a threshold, and certify it on other rows.
import matplotlib.pyplot as plt
import numpy as np

from boundshift import Monitor, certify, find_boundary
from boundshift.plots import MonitorDisplay

rng = np.random.default_rng(0)


def draw(n, drift=0.0):
    """Return labels and scores of n rows, one in five of them positive."""
    y = (rng.random(n) < 0.2).astype(int)
    return y, rng.normal(size=n) + (2 - drift) * y


boundary = find_boundary(*draw(2000))
certificate = certify(*draw(2000), boundary)
print(certificate)

# %%
# Labelled rows arrive every week, 100 at a time.
monitor = Monitor(certificate)
weeks = np.arange("2026-01-05", "2026-07-01", 7, dtype="datetime64[D]")
for week in weeks:
    has_changed = week >= np.datetime64("2026-05-01")
    monitor.update(*draw(100, drift=0.8 * has_changed), when=str(week))
print(monitor)

# %%
# The lines show the evidence that an error rate exceeds its bound. The observed error rates are in
# the legend.
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
display = MonitorDisplay.from_monitor(monitor, ax=ax)
