"""How to get a faithful score out of a model."""

from boundshift.models.margins import raw_margin
from boundshift.models.network import shift_module
from boundshift.models.response import Response, find_methods, read_response

__all__ = ["Response", "find_methods", "raw_margin", "read_response", "shift_module"]
