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
ROOMS = ("curves", "datasets", "metrics", "plots", "report", "rules", "streaming")
MODULES = ("boundshift", *(f"boundshift.{name}" for name in ROOMS))


def list_wheel() -> list[str]:
    """Build the wheel of this source, and return the names of its files but for the metadata."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as archive:
            return sorted(name for name in archive.namelist() if ".dist-info/" not in name)


def list_names(module: str) -> list[str]:
    """Return the names that a public module declares, rules left out.

    A test compares the rules with the table of docs/reference/rules_and_curves.md.
    """
    found = import_module(module)
    rules = {rule.__name__ for rule in getattr(found, "RULES", {}).values()}
    return sorted(set(found.__all__) - rules)


def take_snapshot(files: list[str]) -> dict[str, object]:
    """Describe a wheel with these files."""
    modules = (name for name in files if ".py" in name)
    return {
        "rooms": sorted({name.split("/")[1].partition(".py")[0] for name in modules}),
        "data": [name for name in files if not name.endswith(".py")],
        "public names": {module: list_names(module) for module in MODULES},
    }


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(take_snapshot(list_wheel()), indent=1) + "\n", encoding="utf-8")
