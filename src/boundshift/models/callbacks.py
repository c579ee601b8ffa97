"""What scikit-learn's callbacks are told of the fits inside a fit (scikit-learn 1.9 and later)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, TypeVar, cast

try:
    import sklearn.callback as _callback
except ImportError:  # scikit-learn before 1.9 has no callbacks
    _callback = None

__all__ = ["CALLER", "CallbackSupportMixin", "Task", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])
CallbackSupportMixin: Any = getattr(_callback, "CallbackSupportMixin", type("NoSupport", (), {}))
# The stack level at which a warning in a method with callbacks names its caller's line.
CALLER = 3 if _callback else 2


def with_callbacks(method: Method) -> Method:
    """Return a method that tears down its callbacks in the end."""
    return cast(Method, _callback.with_callbacks(method)) if _callback else method


class Task(NamedTuple):
    """A task that callbacks hear of: whose it is, and scikit-learn's record of it, if any."""

    caller: Any
    context: Any = None

    @classmethod
    def of_fit(cls, estimator: Any) -> Task:
        """Return the task of a fit: the fits of folds, and one on all rows."""
        if not any(hasattr(estimator, name) for name in ("_skl_callbacks", "_parent_callback_ctx")):
            return cls(estimator)
        context = estimator._init_callback_context(max_subtasks=2, sequential_subtasks=False)
        return cls(estimator, context)

    def part(self, name: str, place: int = 1, parts: int = 0) -> Task:
        """Return a subtask, itself of so many parts."""
        if self.context is None:
            return Task(None)
        known = {"task_name": name, "task_id": place, "max_subtasks": parts}
        return Task(self.caller, self.context.subcontext(**known, sequential_subtasks=False))

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
