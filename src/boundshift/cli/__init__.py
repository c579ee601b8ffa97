"""The command line: options in, one public function called, a line of what was written.

One command a file; a file beside this one that adds a command to `app` is found by itself.
"""

from importlib import import_module
from pkgutil import iter_modules

from boundshift.cli.application import app

__all__ = ["app"]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
