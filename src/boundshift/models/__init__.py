"""How to read a model's margin, and how to give a shifted model to other tools."""

from boundshift.models._scoring import raw_margin
from boundshift.models._shift import shift_module
from boundshift.models._store import trusted_types

__all__ = ["raw_margin", "shift_module", "trusted_types"]
