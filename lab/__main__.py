"""``python -m lab``."""

from lab.commands import app

app()
