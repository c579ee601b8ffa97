"""Every model of docs/reference/supported_models.md, in every way, and its table."""

import pytest

from lab.claims import models as matrix
from lab.experiment import ROOT

NAMES = (*matrix.MODELS, *matrix.NATIVE)
PAGE = (ROOT / "docs" / "reference" / "supported_models.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("<!-- matrix -->\n")[2].partition("\n<!-- /matrix -->")[0]
PRINTED = {line.split(" | ")[0].strip("| "): line for line in TABLE.splitlines()[2:]}


@pytest.mark.parametrize("name", NAMES)
def test_the_table_tells_what_the_model_does(name):
    assert f"| {' | '.join(matrix.as_row(name))} |" == PRINTED[name]
    assert "NO" not in PRINTED[name]


def test_the_table_has_every_model_and_no_other():
    assert list(PRINTED) == list(NAMES)


def test_a_disagreement_would_be_seen():
    X, y = matrix.draw(2)
    model = matrix.MODELS["LogisticRegression"].fit(X, y)
    clf = matrix.shifter(model, "prefit").fit(X, y)
    p = model.predict_proba(X)[:, 1]
    assert matrix.agrees(clf, y, p)
    assert not matrix.agrees(clf, y, 0.99 * p)
