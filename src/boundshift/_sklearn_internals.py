"""The private parts of scikit-learn that this package uses, in one place.

Each may change in any release; tests/install/oldest.py runs the oldest release that has them all.
"""

from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils.metaestimators import _safe_split as split_rows
from sklearn.utils.validation import _check_method_params as index_parameters
from sklearn.utils.validation import _num_samples as count_rows

__all__ = ["GroupsConsumerMixin", "count_rows", "index_parameters", "split_rows", "take_rows"]
