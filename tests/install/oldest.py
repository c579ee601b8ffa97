"""Print the lowest version of every dependency that pyproject.toml allows, as pip's constraints."""

import re
import tomllib
from itertools import chain
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))[
    "project"
]


def list_floors() -> list[str]:
    """Return ``numpy==1.26.*`` for ``numpy>=1.26``, and so on."""
    asked = chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    pattern = re.compile(r"([\w-]+)(?:\[.*\])?>=([\d.]+)")
    found = [match for requirement in asked if (match := pattern.fullmatch(requirement))]
    return sorted({f"{match[1]}=={match[2]}.*" for match in found})


if __name__ == "__main__":
    print(*list_floors(), sep="\n")
