"""The command line: options in, one public function called, a line of what was written."""

from boundshift.app.application import app
from boundshift.app.commands import compare, datasets, fit, monitor, predict, report, threshold

__all__ = ["app", "compare", "datasets", "fit", "monitor", "predict", "report", "threshold"]
