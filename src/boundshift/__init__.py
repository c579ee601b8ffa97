"""Move a trained classifier's decision boundary to where class-wise confidence bounds put it.

`find_boundary` takes labels and scores of any model; `BoundShiftClassifier` wraps a scikit-learn
classifier. Both return one number, the boundary, and an account of how it was found.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def _read_stub() -> dict[str, str]:
    """Return the home of each public name: a line of the stub each, also inside a zip file."""
    stub = __loader__.get_data(f"{__file__.rpartition('.')[0]}.pyi").decode()
    words = [line.split() for line in stub.splitlines() if line.startswith("from ")]
    return {name: home for _, home, _, name, *_ in words}


# Loaded on demand, so that a name costs only what it needs.
_HOME_OF = _read_stub()
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOME_OF[name]
    return (
        import_module(f"{home}.{name}") if home == __name__ else getattr(import_module(home), name)
    )


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
