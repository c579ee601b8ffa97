"""The commands of ``python -m lab``, one a file."""

from lab.commands import reproduce, suite
from lab.commands.application import app

__all__ = ["app", "reproduce", "suite"]
