"""Errors and warnings of boundshift."""


class InvalidInputError(ValueError):
    """Input that cannot be used; the message has the rule, the value and the remedy."""


class MissingExtraError(ImportError):
    """An optional dependency is not installed.

    Parameters
    ----------
    package : str
        Name of the missing distribution.
    extra : str
        Extra of boundshift that brings it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is needed here and is not installed. "
            f'In a clone of boundshift, run: pip install ".[{extra}]"'
        )


class BoundaryWarning(UserWarning):
    """A boundary was returned, but its status says that it needs a second look."""
