"""The page's table is made from the curves: `python tests/test_curves_page.py` prints it."""

from pathlib import Path

from boundshift.curves import CURVES

PAGE = Path(__file__).parents[2] / "docs" / "curves_and_rules.md"


def table() -> str:
    lines = [
        "| name | claim | U(t), with k of n points on the wrong side | assumes |",
        "|---|---|---|---|",
    ]
    for name, curve in CURVES.items():
        claim = curve.claim.name.lower().replace("_", " ")
        lines.append(f"| `{name}` | {claim} | {curve.formula} | {curve.assumptions} |")
    return "\n".join(lines) + "\n"


def test_the_page_shows_every_curve() -> None:
    shown = PAGE.read_text(encoding="utf-8").partition("<!-- curves -->\n")[2]
    assert shown.partition("<!-- /curves -->")[0] == table()


if __name__ == "__main__":
    print(table(), end="")
