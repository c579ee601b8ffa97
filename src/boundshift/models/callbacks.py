"""What scikit-learn's callbacks are told of the fits inside a fit (scikit-learn 1.9 and later)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar, cast

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks

    # The stack level at which a warning in a method with callbacks names its caller's line.
    CALLER = 3
except ImportError:  # scikit-learn before 1.9 has no callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands where nothing can be set."""

    def _with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method

    CALLER = 2


__all__ = [
    "CALLER",
    "NOBODY_LISTENS",
    "CallbackSupportMixin",
    "Task",
    "begin_fit",
    "with_callbacks",
]

Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """Return a method that tears down its callbacks in the end."""
    return cast(Method, _with_callbacks(method))


@dataclass(frozen=True)
class Task:
    """A task that callbacks hear of.

    Parameters
    ----------
    caller : estimator
        Whose task it is.
    context : CallbackContext
        Scikit-learn's own record of the task; None where nobody listens.
    """

    caller: Any
    context: Any

    def part(self, name: str, place: int, parts: int = 0) -> Task:
        """Return one of the tasks that this one consists of, itself of so many parts."""
        if self.context is None:
            return self
        return Task(
            self.caller,
            self.context.subcontext(
                task_name=name, task_id=place, max_subtasks=parts, sequential_subtasks=False
            ),
        )

    @contextmanager
    def run(self, X: Any, y: Any, model: Any = None) -> Iterator[None]:
        """Tell that the task begins and, unless it fails, that it ends; let a model tell too."""
        if self.context is None:
            yield
            return
        told = {"estimator": self.caller, "X": X, "y": y}
        self.context.call_on_fit_task_begin(**told)
        # A model that knows no callbacks tells nothing, which is no reason to warn.
        hears = hasattr(model, "set_callbacks")
        with self.context.propagate_callback_context(model) if hears else nullcontext():
            yield
        self.context.call_on_fit_task_end(**told)


NOBODY_LISTENS = Task(None, None)


def begin_fit(estimator: Any) -> Task:
    """Return the task of a fit: the fits of folds, and one on all rows."""
    if not any(hasattr(estimator, name) for name in ("_skl_callbacks", "_parent_callback_ctx")):
        return NOBODY_LISTENS
    context = estimator._init_callback_context(max_subtasks=2, sequential_subtasks=False)
    return Task(estimator, context)
