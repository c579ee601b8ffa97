"""A stored boundary can be reviewed: its notes, the scale of its scores, and what changes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from boundshift import Boundary, Cost, Floors, InvalidInputError, find_boundary, load, save
from boundshift.streaming import scan_boundary
from tests.problems import two_normals

Y, S = two_normals(800, 200, 2.0)
OLD = find_boundary(Y, S)


def test_notes_are_stored_and_replaced(tmp_path):
    noted = OLD.with_metadata(judge="llm-1", version=1, tuned=False, share=0.5)
    noted = noted.with_metadata(version=2)
    assert json.loads(noted.to_json())["metadata"]["version"] == 2
    again = load(save(noted, tmp_path / "boundary.json"))
    assert again == noted
    assert again != OLD
    assert dict(again.metadata) == {"judge": "llm-1", "version": 2, "tuned": False, "share": 0.5}
    assert hash(again) == hash(noted)


@pytest.mark.parametrize("note", [None, float("nan"), [1], {"a": 1}])
def test_notes_that_json_cannot_carry_are_refused(note):
    with pytest.raises(InvalidInputError, match="strings, finite numbers or booleans"):
        OLD.with_metadata(judge=note)
    with pytest.raises(InvalidInputError):
        Boundary.from_dict(OLD.to_dict() | {"metadata": {"judge": note}})


RNG = np.random.default_rng(1)
FRESH = RNG.normal(2.0 * Y)
SAME_SCALE = {
    "fresh rows": FRESH,
    "another prevalence": FRESH[:850],
    "one class alone": FRESH[Y == 1],
    "a few rows": FRESH[-3:],
    "a slow drift": FRESH + 0.3,
}
OTHER_SCALE = {
    "times ten": 10 * FRESH,
    "a hundredth": FRESH / 100,
    "an offset": FRESH + 3,
    "negated, far away": -FRESH - 9,
    "probabilities": expit(FRESH),
    "ratings": np.digitize(FRESH, [-1, 0, 1, 2, 3, 4]) + 3.0,
    "a few rows, far away": 100 + FRESH[:3],
}


@pytest.mark.parametrize("read_in_passes", [False, True])
def test_scores_on_the_same_scale_pass_and_others_are_refused(read_in_passes):
    found = scan_boundary([(Y, S)]) if read_in_passes else OLD
    stored = Boundary.from_json(found.to_json())
    for scores in SAME_SCALE.values():
        stored.check_scale(scores)
    for scores in OTHER_SCALE.values():
        with pytest.raises(InvalidInputError, match=r"must be on .* for class 1, but the scores"):
            stored.check_scale(scores)


def test_probabilities_that_moved_are_refused():
    stored = find_boundary(Y, expit(S))
    stored.check_scale(expit(FRESH))
    with pytest.raises(
        InvalidInputError, match=r"but the scores given lie .* \(median 0\.01\d+\)\. Use"
    ):
        stored.check_scale(expit(FRESH) / 50)
    with pytest.raises(InvalidInputError, match="must be probabilities"):
        stored.check_scale(FRESH)


def test_deciles_are_scores_in_memory_and_nearly_so_in_passes():
    deciles = np.array(OLD.chosen_on.deciles)
    for k in (0, 1):
        ranked = np.sort(S[k == Y])
        assert deciles[k].tolist() == ranked[(np.arange(11) * (len(ranked) - 1)) // 10].tolist()
    passed = np.array(scan_boundary([(Y, S)]).chosen_on.deciles)
    assert passed[:, [0, -1]].tolist() == deciles[:, [0, -1]].tolist()
    assert passed == pytest.approx(deciles, rel=1e-3)


CHANGES = {
    "nothing": (OLD, ""),
    "the threshold by a digit": (
        replace(OLD, threshold=np.nextafter(OLD.threshold, 9)),
        f"The threshold rises from {OLD.threshold!r} to {np.nextafter(OLD.threshold, 9)!r}.",
    ),
    "the classes": (
        replace(OLD, labels=("no", "yes")),
        "The classes change from (0, 1) to ('no', 'yes').",
    ),
    "the goal": (replace(OLD, rule=Cost()), f"The goal changes from GMean() to {Cost()}."),
    "a note": (OLD.with_metadata(judge=2), "The note 'judge' is new: 2."),
}


@pytest.mark.parametrize(("new", "sentence"), CHANGES.values(), ids=CHANGES)
def test_each_change_is_a_sentence(new, sentence):
    assert OLD.diff(new) == sentence


def test_all_that_changes_with_other_rows_and_floors_is_named():
    old = find_boundary(Y, S, rule=Floors(recall=0.9)).with_metadata(judge="a", run=1)
    with pytest.warns(UserWarning, match="No threshold meets"):
        new = find_boundary(Y[400:], 2 * S[400:], rule=Floors(recall=0.9, specificity=0.9))
    text = old.diff(new.with_metadata(judge="b"))
    for sentence in (
        "The floors were guaranteed and are not any more.",
        "The status changes from OPTIMAL to UNMET: No threshold meets",
        f"rows were on the wrong side; now {new.wrong[0]} of 400 are.",
        "The claimed error rate of class 0 changes from",
        f"and now lie between {2 * S[Y == 1].min():.6g} and",
        "The note 'judge' changes from 'a' to 'b'.",
        "The note 'run' is gone; it was 1.",
    ):
        assert sentence in text
    assert "The floors are now guaranteed." in new.diff(old)


@pytest.mark.parametrize("curve", ["clopper-pearson", "empirical"])
def test_errors_that_do_not_follow_from_the_counts_are_refused(curve):
    stored = find_boundary(Y, S, curve=curve).to_dict()
    negative, positive = stored["errors"]
    with pytest.raises(InvalidInputError, match="'errors' must follow from the counts"):
        Boundary.from_dict(stored | {"errors": [negative, positive - 0.01]})
