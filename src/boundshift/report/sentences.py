"""What a report says: the verdict, every claim, the diagnosis and the unsure zone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from boundshift.curves import CountCurve
from boundshift.curves.uniform import clopper_pearson
from boundshift.promises.certificate import Certificate
from boundshift.promises.planning import rows_needed
from boundshift.promises.zone import Zone
from boundshift.report.evidence import Evidence, JudgedOn
from boundshift.report.goal import State
from boundshift.status import QUIET
from boundshift.validation import as_labels, as_scores
from boundshift.view.axis import is_probability
from boundshift.view.rows import area_under_curve, least_balanced_error
from boundshift.words import (
    Sentence,
    at_most,
    claim,
    claim_text,
    error_text,
    number,
    percent,
    sentence,
    sure,
)

__all__ = ["add_zone", "collect_claims", "diagnose", "say_verdict"]

Level = Literal["good", "caution", "bad", "unknown"]
Finding = dict[str, Any]

# Areas under the curve from which separation is called good, and below which it is called poor.
_GOOD_AUC, _POOR_AUC = 0.85, 0.65
# Training scores that promise this much more area than fresh rows have are called optimistic.
_OPTIMISM = (0.02, 0.08)
# A boundary whose balanced error exceeds the least by more than this is called far off.
_FAR = 0.05


def say_verdict(
    evidence: Evidence, diagnosis: Mapping[str, Any], goal: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Say what changes for both classes, in natural frequencies.

    Returns
    -------
    dict
        ``sentence``, its ``parts`` (text, and status for the one that is claimed), ``status`` of
        the certificate, ``note``, the numbers of the sentence, and a ``caution`` or None.
    """
    shifted, names = evidence.shifted, evidence.names
    alarms, before = (
        count_alarms(certificate.errors, evidence.prevalence)
        for certificate in (shifted, evidence.old)
    )
    base = choose_base((shifted.errors[1], evidence.old.errors[1]))
    missed, missed_before = (round(base * c.errors[1]) for c in (shifted, evidence.old))
    told = f"Of {base:,} {names.positives} the shifted model is expected to miss {missed:,}"
    if shifted.status == "nominal":
        told = f"Of {base:,} {names.positives} in training the shifted model misses {missed:,}"
    told += " as before" if missed == missed_before else f" instead of {missed_before:,}"
    parts = [Sentence(f"{told}.")]
    if shifted.certified:  # only the bound of a rate, not of a count, is claimed
        bound = claim(f"at most {at_most(shifted.error_bounds[1])}", evidence.confidence)
        parts = [Sentence(f"{told},"), Sentence(f"{bound}.", "certified")]
    parts.append(Sentence(_say_alarms(alarms, before, evidence)))
    return {
        "sentence": " ".join(p.text for p in parts),
        "parts": parts,
        "status": shifted.status,
        "note": _note(evidence),
        "alarms": alarms,
        "alarms_before": before,
        "base": base,
        "missed": missed,
        "missed_before": missed_before,
        "caution": _caution(shifted, diagnosis, goal),
    }


def choose_base(shares: tuple[float, ...]) -> int:
    """Return out of how many to count: 100, or more if a share would vanish."""
    smallest = min((abs(s) for s in shares if s), default=1.0)
    return next((base for base in (100, 1000, 10_000) if smallest * base >= 0.95), 100_000)


def count_alarms(errors: tuple[float, ...], prevalence: float) -> dict[str, Any]:
    """Return hits and false alarms out of a thousand rows, or of more where hits would vanish.

    Examples
    --------
    >>> count = count_alarms((0.06, 0.09), 0.005)
    >>> [count[key] for key in ("base", "positives", "flagged", "hits", "false")]
    [1000, 5, 64, 5, 59]
    """
    hits, false = prevalence * (1 - errors[1]), (1 - prevalence) * errors[0]
    base = max(1000, choose_base((prevalence, hits)))
    flagged = round(base * (hits + false))
    right = min(flagged, round(base * hits))
    return {
        "base": base,
        "positives": round(base * prevalence),
        "flagged": flagged,
        "hits": right,
        "false": flagged - right,
        "precision": hits / (hits + false) if hits + false > 0 else None,
        "share": hits + false,
    }


def _say_alarms(now: dict[str, Any], before: dict[str, Any], evidence: Evidence) -> str:
    """Say how many alarms that makes, and how many of them are right."""
    names = evidence.names
    among = f"Of {now['base']:,} {names.unit}, with {now['positives']:,} {names.positives} among"
    old = round(now["base"] * before["share"])
    change = "" if old == now["flagged"] else f" instead of {old:,}"
    if now["precision"] is None:
        return f"{among} them, it flags none{change}."
    precision = percent(now["precision"])
    old_precision = precision if before["precision"] is None else percent(before["precision"])
    hits, false = (
        f"{now[key]:,} {noun}{'' if now[key] == 1 else 's'}"
        for key, noun in (("hits", "hit"), ("false", "false alarm"))
    )
    return (
        f"{among} them, it flags {now['flagged']:,}{change}: {hits} and {false}, a precision of "
        f"{precision}{'' if old_precision == precision else f' instead of {old_precision}'}."
    )


def _note(evidence: Evidence) -> str:
    """Say what the sentences rest on."""
    shifted, n = evidence.shifted, sum(evidence.shifted.n_samples)
    here = f"No test rows were given, so this was measured on the {n:,} rows that chose the "
    if shifted.status == "nominal":
        return f"Nothing here is certified. {sentence(shifted.reason)}"
    if shifted.status == "cross-fitted":
        return (
            f"{here}boundary, each scored by a model fitted without it. That is about the models "
            "of the folds: nothing is certified of the one that is deployed. Keep rows apart for "
            "a test."
        )
    if evidence.judged_on == JudgedOn.DECIDING:
        return (
            f"{here}boundary, which flatter it. Only the “at most” is certified, if the model has "
            "not seen these rows: it holds for every threshold, and so for a chosen one."
        )
    return (
        f"Measured on {n:,} test rows. Only the “at most” is certified, if they were used for "
        "nothing else; the other numbers are estimates. The boundary was fixed before the rows "
        "were looked at."
    )


def _caution(
    certificate: Certificate, diagnosis: Mapping[str, Any], goal: Mapping[str, Any] | None
) -> str | None:
    """Say beside a claim that holds what it does not amount to."""
    proof = next(f for f in diagnosis["findings"] if f["key"] == "proof")
    if not certificate.certified or proof["level"] != "bad":
        return None
    met = goal is not None and goal["state"] == State.MET
    return (
        f"{'That the goal is met' if met else 'What is certified'} does not make the model good: "
        "these rows do not show that it is better than guessing."
    )


def collect_claims(evidence: Evidence) -> list[dict[str, Any]]:
    """Return each claim of the report with its status and the reason for it."""
    shifted, names, boundary = evidence.shifted, evidence.names, evidence.boundary
    claims: list[tuple[str, str, str]] = []
    for certificate, model in ((shifted, "shifted model"), (evidence.old, "model as it was")):
        for i, verb, who in ((1, "misses", names.positives), (0, "flags", names.negatives)):
            told = (
                f"The {model} {verb} at most {at_most(certificate.error_bounds[i])} of {who} in "
                f"the long run ({sure(certificate.confidence)}; {certificate.wrong[i]:,} of "
                f"{certificate.n_samples[i]:,} seen)"
            )
            claims.append((told, certificate.status, f"{certificate.reason}."))

    status, reason = "nominal", "The boundary was chosen on these rows, so they flatter it."
    if evidence.judged_on == JudgedOn.TEST and shifted.status == "nominal":
        reason = sentence(shifted.reason)
    elif evidence.judged_on == JudgedOn.TEST:
        status, reason = "estimate", "Fair estimates: these rows were used for nothing else."
    elif evidence.origin == "training":
        reason = "The model was trained on these rows, and the boundary chosen on them."
    told = "The observed error rates, and the table of methods if it was made from the same rows"
    claims.append((told, status, reason))

    reason = {
        "certified": "They hold for all thresholds together, so one may be chosen by looking at "
        "them.",
        "cross-fitted": "They are about the models of the folds, for all thresholds together.",
        "nominal": sentence(shifted.reason),
    }[shifted.status]
    claims.append(("The bounds beside the slider, wherever it stands", shifted.status, reason))

    # The paper's claimed errors say nothing without its geometry, which stands among the details.
    if not boundary.geometry:
        flagged, missed = boundary.errors
        told = (
            f"The errors by which the boundary was placed: {error_text(missed)} of "
            f"{names.positives} missed, {error_text(flagged)} of {names.negatives} flagged"
        )
        reason = "It decided where the boundary goes; quote the bounds above."
        claims.append((told, "nominal", f"{claim_text(boundary)} {reason}"))
    return [{"claim": told, "status": status, "reason": why} for told, status, why in claims]


def diagnose(evidence: Evidence) -> dict[str, Any]:
    """Return measures of the scores, findings with advice, and whether the model is good enough."""
    auc = area_under_curve(evidence.judging)
    training = None if evidence.training is None else area_under_curve(evidence.training)
    best = least_balanced_error(evidence.judging)
    findings = [
        _separation(auc, evidence),
        _overlap(best),
        _place(best, evidence),
        _proof(evidence),
        _false_alarms(evidence),
        _optimism(auc, training, evidence),
        _row_count(evidence),
        _stability(evidence),
        _search_status(evidence),
    ]
    found = [finding for finding in findings if finding is not None]
    measures = {"auc": auc, "auc_training": training, "best_balanced_error": best}
    return {"measures": measures, "findings": found, **_answer(found)}


def _finding(key: str, level: Level, title: str, text: str, advice: str = "") -> Finding:
    return {"key": key, "level": level, "title": title, "text": text, "advice": advice}


def _separation(auc: float, evidence: Evidence) -> Finding:
    names = evidence.names
    pairs = (
        f"Draw one of the {names.positives} and one of the {names.negatives}: in "
        f"{round(100 * auc)} of 100 such pairs the model gives the first the higher score; a coin "
        "would in 50."
    )
    title, level, advice = "The scores tell the classes apart", "good", ""
    if auc < _POOR_AUC:
        title, level = "The scores hardly tell the classes apart", "bad"
        advice = "No boundary makes up for that. Train a better model before moving its boundary."
    elif auc < _GOOD_AUC:
        title, level = f"{title} in part", "caution"
        advice = (
            "Moving the boundary helps, and so would a better model: try more or other features."
        )
    return _finding("separation", level, title, pairs, advice)  # type: ignore[arg-type]


def _overlap(best: float) -> Finding:
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


def _place(best: float, evidence: Evidence) -> Finding | None:
    """Warn if a symmetric rule ended far from the best threshold."""
    boundary, here = evidence.boundary, sum(evidence.shifted.errors) / 2
    if not boundary.rule.alike or here - best <= _FAR:
        return None
    text = (
        f"At the boundary {percent(here)} of both classes are wrong on average, "
        f"{percent(here - best)} more than at the best threshold. With few rows that may be chance."
    )
    other = "smoothed" if boundary.curve.name == "logistic" else "logistic"
    advice = f"Else try another curve, such as “{other}”."
    if is_probability(evidence.judging) and not isinstance(boundary.curve, CountCurve):
        advice = (
            "Else choose the boundary on log-odds, ln(p/(1 − p)): distances between probabilities "
            "near 0 or 1 say little."
        )
    return _finding("place", "caution", "The boundary is far from the best threshold", text, advice)


def _proof(evidence: Evidence) -> Finding:
    """Say whether the model is shown to beat guessing, both bounds holding together."""
    names, status = evidence.names, evidence.shifted.status
    total = sum(evidence.shifted.at(evidence.confidence, joint=True).error_bounds)
    text = (
        f"With {sure(evidence.confidence)}, the shares of {names.positives} missed and of "
        f"{names.negatives} flagged add up to at most {at_most(total)} in the long run; those of "
        "a guess add up to 100%."
    )
    if status == "nominal":
        advice = "Score rows that the model has not seen; only those can show what it is worth."
        title = "Nothing is proved: the model has seen these rows"
        return _finding("proof", "bad", title, text, advice)
    if status == "cross-fitted" and total < 1:
        advice = "Keep rows apart for a test; only those can show what the deployed model is worth."
        title = "Shown to be better than guessing for the models of the folds"
        return _finding("proof", "caution", title, text, advice)
    if total < 1:
        return _finding("proof", "good", "Shown to be better than guessing", text)
    advice = f"Collect more rows, above all {names.positives}, or train a better model."
    return _finding("proof", "bad", "Not shown to be better than guessing", text, advice)


def _false_alarms(evidence: Evidence) -> Finding | None:
    """Warn if most alarms are false, which both error rates together do not show."""
    precision = count_alarms(evidence.shifted.errors, evidence.prevalence)["precision"]
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


def _optimism(auc: float, training: float | None, evidence: Evidence) -> Finding:
    """Say how much better the model looks on the rows that it was fitted on."""
    title = "Training scores"
    if evidence.origin == "training":
        advice = "Choose the boundary on scores from cross-validation or on rows kept aside."
        text = "The boundary was chosen on rows that the model was trained on."
        return _finding("optimism", "caution", f"{title} chose the boundary", text, advice)
    if training is None:
        text = (
            "The boundary was chosen on rows that the model had not seen, as it should be. How "
            "much better the model looks on its training rows was not measured."
        )
        return _finding("optimism", "unknown", f"{title}: not given", text)
    text = (
        f"On its training rows the model ranks {round(100 * training)} of 100 pairs rightly, on "
        f"fresh ones {round(100 * auc)}."
    )
    if training - auc <= _OPTIMISM[0]:
        return _finding("optimism", "good", f"{title} do not flatter the model", text)
    if training - auc <= _OPTIMISM[1]:
        advice = "Do not choose a boundary on training scores."
        return _finding("optimism", "caution", f"{title} flatter the model somewhat", text, advice)
    advice = "The model has memorised its rows: regularise it, and never trust its training scores."
    return _finding("optimism", "bad", f"{title} flatter the model", text, advice)


def _row_count(evidence: Evidence) -> Finding:
    """Say what the rows of the smaller class can show at best."""
    certificate, names = evidence.shifted, evidence.names
    i = int(np.argmin(certificate.n_samples))
    who, floor = (names.negatives, names.positives)[i], certificate.floors[i]
    text = (
        f"With {certificate.n_samples[i]:,} {who}, no error rate below {at_most(floor)} can be "
        "shown, even if every one is decided rightly."
    )
    if floor <= 0.05:
        return _finding("rows", "good", "There are enough rows", text)
    needed = f"{rows_needed(0.05, certificate.confidence):,} or more"
    advice = f"For a claim of at most 5%, collect {needed} and keep them for a test."
    level: Level = "caution" if floor <= 0.2 else "bad"
    return _finding("rows", level, f"There are few {who}", text, advice)


def _stability(evidence: Evidence) -> Finding | None:
    """Say whether other rows of the same kind would have moved the boundary the same way."""
    if evidence.interval is None:
        return None
    low, high = evidence.interval
    text = (
        "With other rows of the same kind, the threshold would mostly have fallen between "
        f"{number(low)} and {number(high)}."
    )
    own = evidence.old_threshold
    if low <= own <= high and evidence.boundary.threshold != own:
        advice = (
            "The model's own threshold lies inside: the shift may be chance. Collect more rows."
        )
        return _finding("stability", "caution", "The shift is uncertain", text, advice)
    return _finding("stability", "good", "The direction of the shift is stable", text)


def _search_status(evidence: Evidence) -> Finding | None:
    """Warn if the search fell back, or the scores point the wrong way."""
    status = evidence.boundary.status
    if status in QUIET:
        return None
    level: Level = "caution" if status.solved else "bad"
    return _finding("status", level, "The boundary needs a second look", status.value)


def _answer(findings: list[Finding]) -> dict[str, str]:
    levels = {finding["key"]: finding["level"] for finding in findings}
    if levels["separation"] == "bad" or levels.get("status") == "bad":
        answer = "No: its scores do not separate the classes, and no boundary makes up for that."
        return {"good_enough": "no", "answer": answer}
    if levels["proof"] == "bad":
        answer = "Not shown: these rows do not prove that it is better than guessing."
        return {"good_enough": "unproved", "answer": answer}
    if levels["separation"] == levels["overlap"] == "good" and "bad" not in levels.values():
        but = "" if "alarms" not in levels else " But most alarms are false."
        return {"good_enough": "yes", "answer": f"Yes: its scores separate the classes.{but}"}
    answer = "With care: it is shown to beat guessing, and it has the weak points below."
    return {"good_enough": "with care", "answer": answer}


def add_zone(
    facts: Mapping[str, Any],
    zone: Zone,
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    found_here: bool,
) -> dict[str, Any]:
    """Return the facts of a report with those of an unsure zone.

    Parameters
    ----------
    facts : mapping
        From :func:`~boundshift.report.collect_facts`.
    zone : Zone
        Two limits, found on scores of rows that the model has not seen.
    y_true, y_score : array-like of shape (n_samples,)
        Rows to count on, under the zone's labels.
    found_here : bool
        Whether the limits were found on these rows. If so, what they promise is the bound; if not,
        Clopper and Pearson's bound of the errors counted here is added.

    Examples
    --------
    >>> import boundshift
    >>> from boundshift.report import collect_facts
    >>> y, s = [0] * 900 + [1] * 100, [*range(900), *range(820, 920)]
    >>> facts = collect_facts(y, s, names={"positive": "sick", "unit": "patients"})
    >>> zone = boundshift.find_zone(y, s, errors=(0.02, 0.1))
    >>> told = add_zone(facts, zone, y, s, found_here=True)["zone"]
    >>> print(told["sentence"])
    Patients with a score up to 824 are called other patients, those above 889 sick. Between the two
    lie 13.2% of all patients, and a person should decide.
    >>> print(told["sides"][1]["sentence"])
    Of sick patients, 4 of 100 are called other patients here. In the long run it is at most 10.0%
    with 95% confidence. 66.0% of them are left to a person.
    """
    names = facts["names"]
    called = (names["negative"], names["positive"])
    is_positive = np.asarray(as_labels(y_true) == zone.labels[1], dtype=np.bool_)
    scores = as_scores(y_score)
    unsure = zone.is_unsure(scores)
    wrong = np.where(is_positive, scores <= zone.low, scores > zone.high)
    sides = []
    for i, who in enumerate((names["negatives"], names["positives"])):
        mine = is_positive if i else ~is_positive
        rows, errors = int(mine.sum()), int(wrong[mine].sum())
        bound = None if found_here else float(clopper_pearson(errors, rows, 1.0 - zone.confidence))
        side = {
            "who": who,
            "called": called[1 - i],
            "rows": rows,
            "wrong": errors,
            "unsure": float(unsure[mine].mean()),
            "promised": zone.errors[i],
            "is_promised": math.isfinite((zone.high, zone.low)[i]),
            "bound": bound,
        }
        sides.append(side | {"sentence": _say_side(side, zone, i)})
    share = facts["prevalence"]["share"]
    between = (1 - share) * sides[0]["unsure"] + share * sides[1]["unsure"]
    return dict(facts) | {
        "zone": {
            "low": zone.low if math.isfinite(zone.low) else None,
            "high": zone.high if math.isfinite(zone.high) else None,
            "status": zone.status,
            "confidence": zone.confidence,
            "unsure": between,
            "found_here": found_here,
            "found_on": list(zone.n_samples),
            "sentence": _say_limits(zone, called, between, names["unit"]),
            "sides": sides,
        }
    }


def _say_limits(zone: Zone, called: tuple[str, str], between: float, unit: str) -> str:
    """Say which scores decide, and how many rows they leave open."""
    low, high = math.isfinite(zone.low), math.isfinite(zone.high)
    if not (low or high):
        return f"Too few rows are there to promise anything: a person should decide on all {unit}."
    rows = f"{unit[:1].upper()}{unit[1:]} with a score"
    below = f"{rows} up to {number(zone.low)} are called {called[0]}"
    if zone.low == zone.high:
        return (
            f"{below}, all others {called[1]}. One threshold keeps both promises: nobody need be "
            "asked."
        )
    few = "Too few rows are there to call any"
    if low and high:
        told = f"{below}, those above {number(zone.high)} {called[1]}. Between the two lie"
    elif low:
        told = f"{below}. {few} {called[1]}. Above the limit lie"
    else:
        above = f"{rows} above {number(zone.high)} are called {called[1]}"
        told = f"{above}. {few} {called[0]}. Up to the limit lie"
    return f"{told} {percent(between)} of all {unit}, and a person should decide."


def _say_side(side: Mapping[str, Any], zone: Zone, i: int) -> str:
    """Say how many of a class are decided wrongly, and the bound on their share."""
    left = f"{percent(side['unsure'])} of them are left to a person."
    if not side["is_promised"]:
        needed = rows_needed(zone.errors[i], zone.confidence)
        return (
            f"Of {side['who']}, none is called {side['called']}: a promise of at most "
            f"{percent(zone.errors[i])} takes at least {needed:,} of them, and there are "
            f"{zone.n_samples[i]:,}. {left}"
        )
    most = at_most(zone.errors[i])
    promise = f"In the long run it is at most {most} with {sure(zone.confidence)}."
    if side["bound"] is not None:
        promise = (
            f"At most {most} was promised; these rows by themselves show at most "
            f"{at_most(side['bound'])} with {sure(zone.confidence)}."
        )
    return (
        f"Of {side['who']}, {side['wrong']:,} of {side['rows']:,} are called {side['called']} "
        f"here. {promise} {left}"
    )
