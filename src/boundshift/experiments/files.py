"""Files written whole or not at all."""

from boundshift.files import write_whole

__all__ = ["write_whole"]
