"""How to read a model's margin, and how to give a shifted model to other tools."""

from boundshift.models.scoring import raw_margin
from boundshift.models.shift import shift_module
from boundshift.models.store import trusted_types

__all__ = ["raw_margin", "shift_module", "trusted_types"]
