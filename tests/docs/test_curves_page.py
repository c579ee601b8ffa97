"""The page's table has every curve, with the claim that the curve makes."""

import re

from boundshift.curves import CURVES
from tests.docs.pages import between, read


def test_the_page_shows_every_curve() -> None:
    table = between(read("reference/rules_and_curves.md"), "curves")
    shown = dict(re.findall(r"^\| `([\w-]+)` \| ([\w ]+) \|", table, flags=re.MULTILINE))
    claims = {name: c.claim.name.lower().replace("_", " ") for name, c in CURVES.items()}
    assert shown == claims
