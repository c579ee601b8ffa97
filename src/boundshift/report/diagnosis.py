"""Is this classifier good enough? What the projected space says, and what to do about it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from boundshift.curves import CountCurve
from boundshift.promises.certificate import Certificate
from boundshift.promises.planning import rows_needed
from boundshift.result.boundary import Boundary
from boundshift.scores.sample import ScoreSample
from boundshift.status import QUIET
from boundshift.view.axis import is_probability
from boundshift.view.rows import area_under_curve, least_balanced_error
from boundshift.view.words import Names, at_most, percent, score_text

__all__ = ["diagnose"]

Level = Literal["good", "caution", "bad", "unknown"]
Finding = dict[str, Any]

# Areas under the curve from which separation is called good, and below which it is called poor.
_GOOD_AUC, _POOR_AUC = 0.85, 0.65
# Training scores that promise this much more area than fresh rows have are called optimistic.
_OPTIMISM = (0.02, 0.08)
# A boundary whose balanced error exceeds the least by more than this is called far off.
_FAR = 0.05


def diagnose(
    *,
    boundary: Boundary,
    judging: ScoreSample,
    certificate: Certificate,
    training: ScoreSample | None,
    trained_on: bool,
    interval: tuple[float, float] | None,
    old_threshold: float,
    precision: float | None,
    names: Names,
) -> dict[str, Any]:
    """Return measures of the projected space, findings with advice, and one answer.

    The boundary is judged, and certified, on `judging`; the model was fitted on `training`, and
    `trained_on` says whether the rows that chose the boundary are of that kind. The threshold may
    fall in `interval`, the model's own is `old_threshold`; of the alarms that it will give,
    `precision` are right.
    """
    measures = _measure(judging, training)
    findings = [
        _separation(measures, names),
        _overlap(measures),
        _place(measures, boundary, certificate, is_probability(judging)),
        _proof(certificate, names),
        _alarms(precision),
        _optimism(measures, trained_on),
        _row_count(certificate, names),
        _stability(interval, boundary, old_threshold),
        _state(boundary),
    ]
    found = [finding for finding in findings if finding is not None]
    return {"measures": measures, "findings": found, **_answer(found)}


def _measure(judging: ScoreSample, training: ScoreSample | None) -> dict[str, float | None]:
    """Return the numbers that the findings rest on."""
    return {
        "auc": area_under_curve(judging),
        "auc_training": None if training is None else area_under_curve(training),
        "best_balanced_error": least_balanced_error(judging),
    }


def _finding(key: str, level: Level, title: str, text: str, advice: str = "") -> Finding:
    """Return a finding."""
    return {"key": key, "level": level, "title": title, "text": text, "advice": advice}


def _separation(measures: dict[str, Any], names: Names) -> Finding:
    """Say how well the scores tell the classes apart, at any threshold."""
    auc = measures["auc"]
    pairs = (
        f"Draw one of the {names.positives} and one of the {names.negatives}: in "
        f"{round(100 * auc)} of 100 such pairs the model gives the first the higher score; a coin "
        "would in 50."
    )
    if auc >= _GOOD_AUC:
        return _finding("separation", "good", "The scores tell the classes apart", pairs)
    if auc >= _POOR_AUC:
        advice = (
            "Moving the boundary helps, and so would a better model: try more or other features."
        )
        return _finding("separation", "caution", "The scores tell the classes apart in part", pairs,
                        advice)  # fmt: skip
    advice = "No boundary makes up for that. Train a better model before moving its boundary."
    return _finding("separation", "bad", "The scores hardly tell the classes apart", pairs, advice)


def _overlap(measures: dict[str, Any]) -> Finding:
    """Say how much the classes overlap, and what no boundary can do about it."""
    best = measures["best_balanced_error"]
    text = (
        "Even the best threshold for these rows, which is known only afterwards, gets "
        f"{percent(best)} of both classes wrong on average."
    )
    if best <= 0.1:
        return _finding("overlap", "good", "The classes overlap little", text)
    if best <= 0.3:
        advice = "Expect errors on both sides; the slider shows which can be traded for which."
        return _finding("overlap", "caution", "The classes overlap", text, advice)
    advice = "Look for features that separate the classes, or for wrong labels where they overlap."
    return _finding("overlap", "bad", "The classes overlap almost wholly", text, advice)


def _place(
    measures: dict[str, Any], boundary: Boundary, certificate: Certificate, probabilities: bool
) -> Finding | None:
    """Say so if a rule that treats both classes alike ended far from the best threshold."""
    here = sum(certificate.errors) / 2
    excess = here - measures["best_balanced_error"]
    if not boundary.rule.alike or excess <= _FAR:
        return None
    text = (
        f"At the boundary {percent(here)} of both classes are wrong on average, {percent(excess)} "
        "more than at the best threshold. With few rows that may be chance."
    )
    other = "smoothed" if boundary.curve.name == "logistic" else "logistic"
    advice = f"Else try another curve, such as “{other}”."
    if probabilities and not isinstance(boundary.curve, CountCurve):
        advice = (
            "Else choose the boundary on log-odds, ln(p/(1 − p)): distances between probabilities "
            "near 0 or 1 say little."
        )
    return _finding("place", "caution", "The boundary is far from the best threshold", text, advice)


def _proof(certificate: Certificate, names: Names) -> Finding:
    """Say whether the model is shown to beat guessing, both bounds holding together."""
    joint = certificate.at(certificate.confidence, joint=True)
    flagged, missed = joint.error_bounds
    text = (
        f"With {100 * joint.confidence:.6g}% confidence in both together, at most "
        f"{at_most(missed)} of {names.positives} are missed and at most {at_most(flagged)} of "
        f"{names.negatives} flagged in the long run. The two add up to "
        f"{at_most(flagged + missed)}; those of a guess add up to 100%."
    )
    if certificate.status == "nominal":
        advice = "Score rows that the model has not seen; only those can show what it is worth."
        title = "Nothing is proved: the model has seen these rows"
        return _finding("proof", "bad", title, text, advice)
    if certificate.status == "cross-fitted" and flagged + missed < 1:
        advice = "Keep rows apart for a test; only those can show what the deployed model is worth."
        title = "Shown to be better than guessing for the models of the folds"
        return _finding("proof", "caution", title, text, advice)
    if flagged + missed < 1:
        return _finding("proof", "good", "Shown to be better than guessing", text)
    advice = f"Collect more rows, above all {names.positives}, or train a better model."
    return _finding("proof", "bad", "Not shown to be better than guessing", text, advice)


def _alarms(precision: float | None) -> Finding | None:
    """Say so if most alarms are false, which both error rates together do not show."""
    if precision is None or precision >= 0.5:
        return None
    base = 100 if precision >= 0.0095 else 1000
    false = base - round(base * precision)
    text = f"Of {base:,} alarms about {false:,} are false: the class is rare."
    advice = (
        "Ask whether a hit is worth so many false alarms; the fields beside the slider move the "
        "line to where it is."
    )
    return _finding("alarms", "caution", "Most alarms are false", text, advice)


def _optimism(measures: dict[str, Any], trained_on: bool) -> Finding:
    """Say how much better the model looks on the rows that it was fitted on."""
    training = measures["auc_training"]
    title = "Training scores"
    if trained_on:
        advice = "Choose the boundary on scores from cross-validation or on rows kept aside."
        text = "The boundary was chosen on rows that the model was trained on."
        return _finding("optimism", "caution", f"{title} chose the boundary", text, advice)
    if training is None:
        text = (
            "The boundary was chosen on rows that the model had not seen, as it should be. How "
            "much better the model looks on its training rows was not measured."
        )
        return _finding("optimism", "unknown", f"{title}: not given", text)
    excess = training - measures["auc"]
    text = (
        f"On its training rows the model ranks {round(100 * training)} of 100 pairs rightly, on "
        f"fresh ones {round(100 * measures['auc'])}."
    )
    if excess <= _OPTIMISM[0]:
        return _finding("optimism", "good", f"{title} do not flatter the model", text)
    if excess <= _OPTIMISM[1]:
        advice = "Do not choose a boundary on training scores."
        return _finding("optimism", "caution", f"{title} flatter the model somewhat", text, advice)
    advice = "The model has memorised its rows: regularise it, and never trust its training scores."
    return _finding("optimism", "bad", f"{title} flatter the model", text, advice)


def _row_count(certificate: Certificate, names: Names) -> Finding:
    """Say what so few rows can show at best."""
    i = int(np.argmin(certificate.n_samples))
    phrase = (names.negatives, names.positives)[i]
    n, floor = certificate.n_samples[i], certificate.floors[i]
    text = (
        f"With {n:,} {phrase}, no error rate below {at_most(floor)} can be shown, even if every "
        "one is decided rightly."
    )
    if floor <= 0.05:
        return _finding("rows", "good", "There are enough rows", text)
    level: Level = "caution" if floor <= 0.2 else "bad"
    needed = f"{rows_needed(0.05, certificate.confidence):,} or more"
    advice = f"For a claim of at most 5%, collect {needed} and keep them for a test."
    return _finding("rows", level, f"There are few {phrase}", text, advice)


def _stability(
    interval: tuple[float, float] | None, boundary: Boundary, old_threshold: float
) -> Finding | None:
    """Say whether other rows of the same kind would have moved the boundary the same way."""
    if interval is None:
        return None
    low, high = interval
    text = (
        "With other rows of the same kind, the threshold would mostly have fallen between "
        f"{score_text(low)} and {score_text(high)}."
    )
    if low <= old_threshold <= high and boundary.threshold != old_threshold:
        advice = (
            "The model's own threshold lies inside: the shift may be chance. Collect more rows."
        )
        return _finding("stability", "caution", "The shift is uncertain", text, advice)
    return _finding("stability", "good", "The direction of the shift is stable", text)


def _state(boundary: Boundary) -> Finding | None:
    """Say so if the method had to fall back, or was used upside down."""
    if boundary.status in QUIET:
        return None
    level: Level = "caution" if boundary.status.solved else "bad"
    title = "The boundary needs a second look"
    return _finding("status", level, title, boundary.status.value)


def _answer(findings: list[Finding]) -> dict[str, str]:
    """Answer the question in a word and a sentence."""
    levels = {finding["key"]: finding["level"] for finding in findings}
    if levels["separation"] == "bad" or levels.get("status") == "bad":
        sentence = "No: its scores do not separate the classes, and no boundary makes up for that."
        return {"good_enough": "no", "answer": sentence}
    if levels["proof"] == "bad":
        sentence = "Not shown: these rows do not prove that it is better than guessing."
        return {"good_enough": "unproved", "answer": sentence}
    if levels["separation"] == levels["overlap"] == "good" and "bad" not in levels.values():
        but = "" if "alarms" not in levels else " But most alarms are false."
        return {"good_enough": "yes", "answer": f"Yes: its scores separate the classes.{but}"}
    sentence = "With care: it is shown to beat guessing, and it has the weak points below."
    return {"good_enough": "with care", "answer": sentence}
