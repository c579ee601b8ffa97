"""Columns that give the target away, each by a pattern of its own, and columns that do not."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from boundshift._app.leakage import MOST_AREA, find_suspects

N = 2000
NAMES = ("claim = no", "claim = yes")
RNG = np.random.default_rng(0)
IS_POSITIVE = RNG.random(N) < 0.1
NOISE = RNG.normal(size=N)
AMOUNT = np.where(IS_POSITIVE, RNG.gamma(2, 500, N), 0.0)
SEPARATED = IS_POSITIVE + 0.9 * RNG.random(N)
SOME = RNG.random(N) < 0.6

LEAKS = {
    "the amount of the claim": (AMOUNT, "in exactly the rows with claim = yes"),
    "reversed": (-AMOUNT, "in exactly the rows with claim = no"),
    "a cut of a number": (SEPARATED, "in exactly the rows with claim = yes"),
    "nearly separated": (SEPARATED + 0.06 * NOISE, "of 100 pairs of rows correctly"),
    "filled in later": (np.where(IS_POSITIVE & SOME, NOISE, np.nan), "is not missing have"),
    "left empty later": (
        np.where(IS_POSITIVE & SOME, np.nan, NOISE),
        "is missing have claim = yes",
    ),
    "adjusted if found": (np.where(SOME, AMOUNT, 0.0), "is not 0 have claim = yes"),
    "a code of the outcome": (np.where(IS_POSITIVE & SOME, "C9", "A1"), "is 'C9' have claim = yes"),
    "words of the outcome": (np.where(IS_POSITIVE, "paid", "open"), "of 100 pairs"),
}
FREE = {
    "noise": NOISE,
    "a strong feature": NOISE + 2.5 * IS_POSITIVE,
    "zeros in both classes": np.where(SOME, 0.0, NOISE),
    "a value of one class on a scale": np.where(
        IS_POSITIVE, RNG.choice([0.0, 1, 4, 5], N), RNG.choice([0.0, 1, 2, 3, 3, 4, 5], N)
    ),
    "many categories": RNG.integers(0, 1000, N).astype(str),
    "a rare category of the frequent class": np.where(~IS_POSITIVE & (NOISE > 1.8), "a", "b"),
    "a few missing": np.where((np.cumsum(IS_POSITIVE) < 15) & IS_POSITIVE, np.nan, NOISE),
    "constant but for one": np.where(np.arange(N) == 5, 1.0, 0.0),
}


def suspects(values, is_positive=IS_POSITIVE):
    return find_suspects(pd.DataFrame({"x": values}), is_positive, NAMES)


@pytest.mark.parametrize("case", LEAKS)
def test_a_leak_is_named_with_its_evidence(case):
    values, evidence = LEAKS[case]
    (found,) = suspects(values)
    assert found.column == "x"
    assert evidence in found.evidence


@pytest.mark.parametrize("case", FREE)
def test_a_column_that_may_be_good_is_no_suspect(case):
    assert suspects(FREE[case]) == []


def test_the_limit_is_an_area_under_the_curve_of_scikit_learn():
    random = np.random.default_rng(1)
    said = {}
    for shift in np.linspace(2.2, 3.6, 15):
        values = random.normal(size=N) + shift * IS_POSITIVE
        area = roc_auc_score(IS_POSITIVE, values)
        said[area] = bool(suspects(values))
        if said[area]:
            assert f"{100 * area:.1f} of 100" in suspects(values)[0].evidence
    assert all(is_suspect == (area > MOST_AREA) for area, is_suspect in said.items())
    assert set(said.values()) == {True, False}


def test_fit_names_a_leak_first_on_terminal_and_page(run, tmp_path):
    frame = pd.DataFrame({"age": NOISE, "paid": AMOUNT, "claim": IS_POSITIVE.astype(int)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ("fit", "t.csv", "--target", "claim", "--model", "logistic", "--out")
    shown = run(*asked, "leaking", code=3).stdout
    evidence = "in exactly the rows with claim = 1"
    assert shown.index(evidence) < shown.index("method")
    assert "Check this column first: paid." in shown
    page = (tmp_path / "leaking" / "report.html").read_text(encoding="utf-8")
    assert page.index("Check this column first") < page.index("<main>")
    assert evidence in page
    assert page.index("Which columns matter") < page.index('<th scope="row">paid</th><td>0.')
    assert "  age: " not in shown, "noise is not among what matters"
    accepted = run(*asked, "accepted", "--keep-suspects")
    assert "Check this column first" not in accepted.stdout
    found = json.loads(run(*asked, "dropped", "--drop", "paid", "--json").stdout)
    assert found["suspects"] == []
    assert [each["column"] for each in found["importance"]] == ["age"]


def test_columns_without_information_are_seldom_suspected():
    random = np.random.default_rng(2)
    for n_positive in (10, 40, 400):
        is_positive = np.arange(800) < n_positive
        frame = pd.DataFrame({f"n{i}": random.normal(size=800).round(1) for i in range(40)})
        for i in range(40):
            frame[f"c{i}"] = random.choice(list("abcdefgh"), 800)
        assert find_suspects(frame, is_positive, NAMES) == []
