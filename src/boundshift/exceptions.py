"""Errors and warnings of boundshift."""


class InvalidInputError(ValueError):
    """Input that cannot be used; the message has the rule, the value and the remedy.

    Parameters
    ----------
    problem : str
        What is wrong; with `argument`, what follows its name in the sentence.
    argument : str, default=None
        Name of the argument that the message is about.

    Attributes
    ----------
    problem, argument : str and str or None
        The parts of the message, for programs that call the argument by another name.
    """

    def __init__(self, problem: str, argument: str | None = None) -> None:
        super().__init__(problem if argument is None else f"`{argument}` {problem}")
        self.problem = problem
        self.argument = argument


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
