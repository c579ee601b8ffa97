"""Write what a user gets: the wheel's listing and the public names.

``python tests/install/snapshot.py`` writes the file that the tests compare with. A change of it is
a change of what is published, so it stands in a commit's difference for all to see.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
SNAPSHOT = Path(__file__).parent / "snapshot.json"
# What a user may import from; all other modules may change without notice.
MODULES = (
    "boundshift",
    *(
        f"boundshift.{name}"
        for name in ("curves", "datasets", "metrics", "plots", "report", "rules", "streaming")
    ),
)


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this source into a folder and return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def list_wheel(wheel: Path) -> list[str]:
    """Return the names of all files in a wheel, but for its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return sorted(name for name in archive.namelist() if ".dist-info/" not in name)


def list_rooms(files: list[str]) -> list[str]:
    """Return the folders and modules that stand at the root of the package."""
    return sorted({name.split("/")[1].partition(".py")[0] for name in files if ".py" in name})


def list_data(files: list[str]) -> list[str]:
    """Return the files that are no Python."""
    return [name for name in files if not name.endswith(".py")]


def list_names(module: str) -> list[str]:
    """Return the names that a public module declares, rules left out.

    A test compares the rules with the table of docs/curves_and_rules.md.
    """
    found = import_module(module)
    rules = {rule.__name__ for rule in getattr(found, "RULES", {}).values()}
    return sorted(set(found.__all__) - rules)


def take_snapshot() -> dict[str, object]:
    """Build the wheel and describe it."""
    with tempfile.TemporaryDirectory() as folder:
        files = list_wheel(build_wheel(Path(folder)))
    return {
        "rooms": list_rooms(files),
        "data": list_data(files),
        "public names": {module: list_names(module) for module in MODULES},
    }


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(take_snapshot(), indent=1) + "\n", encoding="utf-8")
