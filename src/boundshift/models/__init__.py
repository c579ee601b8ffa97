"""How to get a faithful score out of a model."""

from boundshift.models.margins import raw_margin
from boundshift.models.network import shift_module
from boundshift.models.response import Response, choose_response, read_response

__all__ = ["Response", "choose_response", "raw_margin", "read_response", "shift_module"]
