"""The command line: options in, one function called, a few lines of what came of it."""

from boundshift._app.commands import app

__all__ = ["app"]
