"""Lines and files of the package by room: `make size`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "boundshift"


def measure(folder: Path = PACKAGE) -> dict[str, tuple[int, int]]:
    """Return the lines and the files of each room; modules at the root are one room."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in (*folder.rglob("*.py"), *folder.rglob("*.pyi")):
        parts = path.relative_to(folder).parts
        room = parts[0] if len(parts) > 1 else "(root)"
        lines[room] += len(path.read_text(encoding="utf-8").splitlines())
        files[room] += 1
    return {room: (lines[room], files[room]) for room in sorted(lines)}


def main() -> None:
    """Print a row for each room of the package, then the sums of package, lab and tests."""
    rooms = measure()
    for room, (lines, files) in rooms.items():
        print(f"{room:<14}{lines:>8,}{files:>6}")
    for name in ("src", "lab", "tests"):
        parts = measure(PACKAGE if name == "src" else ROOT / name).values()
        print(f"{name:<14}{sum(p[0] for p in parts):>8,}{sum(p[1] for p in parts):>6}")


if __name__ == "__main__":
    main()
