"""How to get a faithful score out of a model."""

from boundshift.models.response import Response, choose_response, read_response

__all__ = ["Response", "choose_response", "read_response"]
