"""The commands: options in, one function called, a few lines of what came of it.

The help lists them in the order of these imports.
"""

# isort: off
from boundshift._app.cli import app
from boundshift._app.commands.doctor import doctor
from boundshift._app.commands.fit import fit
from boundshift._app.commands.predict import predict
from boundshift._app.commands.threshold import threshold
from boundshift._app.commands.report import report
from boundshift._app.commands.certify import certify
from boundshift._app.commands.monitor import monitor
from boundshift._app.commands.datasets import datasets

__all__ = [
    "app",
    "certify",
    "datasets",
    "doctor",
    "fit",
    "monitor",
    "predict",
    "report",
    "threshold",
]
