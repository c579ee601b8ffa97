"""Files written whole or not at all, for tables and figures."""

from boundshift.writing import write_whole

__all__ = ["write_whole"]
