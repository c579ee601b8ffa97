"""How to get a faithful score out of a model, and how to hand a shifted one to other tools."""

from boundshift.models.scoring import Response, find_methods, raw_margin, read_response
from boundshift.models.shift import shift_module
from boundshift.models.store import trusted_types

__all__ = [
    "Response",
    "find_methods",
    "raw_margin",
    "read_response",
    "shift_module",
    "trusted_types",
]
