"""How to get a faithful score out of a model."""

from boundshift.models.scoring import Response, find_methods, raw_margin, read_response
from boundshift.models.shift import shift_module

__all__ = ["Response", "find_methods", "raw_margin", "read_response", "shift_module"]
