"""The private and the untyped parts of scikit-learn that this package uses, in one place.

The private ones may change in any release; tests/install/oldest.py runs the oldest release that
has them all.
"""

from collections.abc import Callable
from typing import TypeVar

from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils.metaestimators import _safe_split as split_rows
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_method_params as index_parameters
from sklearn.utils.validation import _num_samples as count_rows

__all__ = [
    "GroupsConsumerMixin", "count_rows", "exists_if", "index_parameters", "split_rows", "take_rows",
]  # fmt: skip

_Method = TypeVar("_Method")


def exists_if(check: Callable[..., bool]) -> Callable[[_Method], _Method]:
    """Return a decorator for methods that some objects of a class have, by a check of the object.

    It is scikit-learn's ``available_if``, which hides the signature from type checkers.
    """
    decorate: Callable[[_Method], _Method] = available_if(check)
    return decorate
