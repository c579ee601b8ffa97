"""Models: the types inside them that other tools must trust."""

from boundshift.models._store import trusted_types

__all__ = ["trusted_types"]
