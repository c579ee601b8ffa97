"""What a report says: the verdict, every claim, the diagnosis and the unsure zone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from boundshift._promises.certificate import Certificate
from boundshift._promises.planning import rows_needed
from boundshift._promises.zone import Zone
from boundshift._status import QUIET
from boundshift._view import area_under_curve, error_band, least_balanced_error
from boundshift._words import Sentence, at_least, at_most, claim, number, percent, sentence, sure
from boundshift.exceptions import InvalidInputError
from boundshift.report._evidence import Evidence
from boundshift.report._goal import Floor, Goal, State, join, judge_goal
from boundshift.rules import Cost

Level = Literal["good", "caution", "bad"]
Answer = Literal["use it", "improve it", "do not use it"]

# Separation is good up to this least mean of both error rates, bad below this area under the curve.
_LITTLE_OVERLAP, _POOR_AUC = 0.1, 0.65
_FEW_FLAGGED = 20
_NEXT = 100  # further rows of each class of which the verdict speaks
UNPROVED = "Do not use it yet: these rows do not show that it is better than chance."
_MOST_GROUPS, _FEWEST_ROWS = 10, 20  # of a calibration


@dataclass(frozen=True)
class Finding:
    """One strong or weak point, and what to do about it."""

    key: str
    level: Level
    title: str
    text: str
    advice: str = ""


def sentences(evidence: Evidence, better: str | None = None) -> dict[str, Any]:
    """Return goal, verdict, diagnosis and zone; `better` names a better method."""
    goal = judge_goal(evidence)
    return {
        "goal": goal,
        "verdict": _verdict(evidence),
        "diagnosis": _diagnose(evidence, goal, better),
        "zone": None if evidence.zone is None else _zone(evidence.zone, evidence),
    }


def _verdict(evidence: Evidence) -> dict[str, Any]:
    """Say what changes for both classes, in natural frequencies; only limits are certified."""
    names, claimed, shifted = evidence.names, evidence.certificate, evidence.shifted
    shares = (claimed.errors[1], evidence.old_missed)
    base = _choose_base(shares)
    missed, before = (round(base * share) for share in shares)
    verb = "the shifted model is expected to miss"
    if claimed.status == "nominal":
        verb = "here the shifted model misses"
    change = " as before" if missed == before else f" instead of {before:,}"
    told = f"Of {base:,} {names.positives} {verb} {missed:,}{change}"
    parts = [Sentence(f"{told}.")]
    if claimed.certified:  # only the bound of a rate, not of a count, is claimed
        bound = claim(f"at most {at_most(claimed.error_bounds[1])}", evidence.confidence)
        bound += ", averaged over clusters." if evidence.clustered else "."
        parts = [Sentence(f"{told},"), Sentence(bound, "certified")]
    parts.append(Sentence(_say_alarms(evidence)))
    if shifted.certified and evidence.tested:
        alarmed, missed = shifted.next_rows(_NEXT)
        told = (
            f"Of the next {_NEXT} {names.positives} at most {missed} are missed, and of the next "
            f"{_NEXT} {names.negatives} at most {alarmed} are flagged, each with "
            f"{sure(evidence.confidence)}."
        )
        parts.append(Sentence(told, "certified"))
    flagged, precision = _alarms(shifted.errors, evidence.prevalence)
    alarms = {"flagged": flagged, "precision": precision}
    return alarms | say(parts, claimed.status, _note(evidence))


def say(parts: list[Sentence], status: str, note: str) -> dict[str, Any]:
    return {"sentence": join(parts), "parts": parts, "status": status, "note": note}


def _choose_base(shares: tuple[float, ...]) -> int:
    """Return the denominator of a count: 100, or more if a share would vanish."""
    smallest = min((abs(s) for s in shares if s), default=1.0)
    return next((base for base in (100, 1000, 10_000) if smallest * base >= 0.95), 100_000)


def _alarms(errors: tuple[float, ...], prevalence: float) -> tuple[float, float | None]:
    """Return the share flagged, and the precision where any row is."""
    hits, false = prevalence * (1 - errors[1]), (1 - prevalence) * errors[0]
    return hits + false, hits / (hits + false) if hits + false > 0 else None


def _say_alarms(evidence: Evidence) -> str:
    """Say hits and false alarms out of a thousand rows, or of more where hits would vanish."""
    names, share, errors = evidence.names, evidence.prevalence, evidence.shifted.errors
    (flagged, precision), (before, once) = (
        _alarms(each, share) for each in (errors, evidence.old_errors)
    )
    hits = share * (1 - errors[1])
    base = max(1000, _choose_base((share, hits)))
    alarms, old = round(base * flagged), round(base * before)
    right = min(alarms, round(base * hits))
    change = "" if old == alarms else f" instead of {old:,}"
    told = (
        f"Of {base:,} {names.unit}, with {round(base * share):,} {names.positives} among them, it "
        f"flags {f'{alarms:,}' if flagged else 'none'}{change}"
    )
    if precision is None:
        return f"{told}."
    counted = (
        f"{count:,} {noun}{'' if count == 1 else 's'}"
        for count, noun in ((right, "hit"), (alarms - right, "false alarm"))
    )
    told = f"{told}: {' and '.join(counted)}, a precision of {percent(precision)}"
    if once is None or percent(once) == percent(precision):
        return f"{told}."
    rows, kind = evidence.rows, "test rows" if evidence.tested else "rows"
    if rows.old.sum() >= _FEW_FLAGGED:
        return f"{told} instead of {percent(once)}."
    # The precision of few alarms says little, so they are counted.
    return (
        f"{told}. Before, it flagged {rows.old.sum()} of the {len(rows.old):,} {kind}, "
        f"{(rows.old & rows.is_positive).sum()} rightly."
    )


def _note(evidence: Evidence) -> str:
    """Say which rows the verdict rests on."""
    status, n = evidence.certificate.status, f"{sum(evidence.shifted.n_samples):,}"
    if status == "nominal":
        return f"Nothing here is certified. {sentence(evidence.shifted.reason)}"
    if evidence.tested:
        ids = np.asarray(evidence.details.cluster)
        among = f" in {len(np.unique(ids)):,} clusters" if evidence.clustered else ""
        return (
            f"Measured on {n} test rows{among}. The “at most” is valid only if they were used "
            "neither for training nor for choosing the threshold. The other numbers are estimates."
        )
    worth = (
        "The “at most” allows for that choice, if they were not used for training. The other "
        "numbers are optimistic."
    )
    if status == "cross-fitted":
        worth = (
            "Each was scored by a model fitted without it. The deployed model is another one, of "
            "which nothing is certified. Keep rows apart for a test."
        )
    return f"Measured on the {n} rows that chose the threshold. {worth}"


def _diagnose(evidence: Evidence, goal: Goal | None, better: str | None) -> dict[str, Any]:
    """Collect strong and weak points; the worst one decides what to do next."""
    names, certificate, status = evidence.names, evidence.certificate, evidence.boundary.status
    separation, alarms = _separation(evidence), _false_alarms(evidence)
    proof = judge_proof(certificate, evidence.sum_bound, names.positives)
    floors = [] if goal is None else goal.floors
    whose = {"specificity": names.negatives, "recall": names.positives}
    who = (names.negatives, names.positives)
    rows = judge_rows(certificate, who, floors, {} if evidence.clustered else whose)
    candidates = [separation, proof, alarms, rows, _stability(evidence), _calibration(evidence)]
    findings = [finding for finding in candidates if finding is not None]
    doubts = " ".join(each.value for each in evidence.boundary.statuses if each not in QUIET)
    if doubts:  # the search fell back, or the scores are reversed
        level: Level = "caution" if status.solved else "bad"
        findings.append(Finding("status", level, "The threshold needs a second look", doubts))
    levels = [finding.level for finding in findings]
    flagged = float(np.mean(evidence.rows.new))
    first = min((f for f in findings if f.advice), key=lambda f: f.level != "bad", default=None)
    answer: Answer = "do not use it"
    if separation.level == "bad":
        told, first = "Do not use it: its scores do not separate the classes.", separation
    elif doubts and not status.solved:
        told = f"Do not use it. {status.value}"
    elif isinstance(evidence.boundary.rule, Cost) and flagged in (0.0, 1.0):
        whom, first = "everyone" if flagged else "nobody", None
        told = f"Do not use it: at these costs flagging {whom} is cheapest, without any model."
    elif proof.level == "bad":
        told, first = UNPROVED, proof
    elif goal is not None and goal.state == State.MISSED:
        answer, first = "improve it", None
        told = say_missed("choose the threshold on more rows")
    elif goal is not None and goal.state == State.WORSE:
        answer, first = "improve it", None
        told = "Use the model's own threshold: by the goal it does better."
    elif better is not None:
        answer, first = "improve it", None
        told = f"Use {better} instead: by the goal it does better on these rows."
    elif separation.level == "good" and "bad" not in levels:
        answer, told, first = "use it", "Use it: its scores separate the classes.", alarms or first
        told += " But most alarms are false." if alarms else ""
    else:
        weak = first.title if first else "it has weak points"
        answer, told = "improve it", f"Use it with care, or improve it: {lower(weak)}."
    told = f"{told} {first.advice}" if first else told
    return advise(findings, certificate, answer, told)


def lower(title: str) -> str:
    return f"{title[0].lower()}{title[1:]}"


def say_missed(remedy: str) -> str:
    return f"Improve it: the goal is missed. Train a better model, {remedy}, or ask for less."


def advise(
    findings: Sequence[Finding | None], certificate: Certificate, answer: Answer, told: str
) -> dict[str, Any]:
    """Return a diagnosis, without strong points where nothing is certified: seen rows flatter."""
    good = certificate.status != "nominal"
    kept = [f for f in findings if f is not None and (good or f.level != "good")]
    return {"findings": kept, "answer": answer, "next": told}


def grade(key: str, value: float, text: str, *grades: tuple[float, Level, str, str]) -> Finding:
    """Return the first of several findings whose limit the value does not exceed."""
    _, level, title, advice = next(grade for grade in grades if value <= grade[0])
    return Finding(key, level, title, text, advice)


def _separation(evidence: Evidence) -> Finding:
    auc, names = area_under_curve(evidence.judging), evidence.names
    least = least_balanced_error(evidence.judging)
    pairs = (
        f"Draw one of the {names.positives} and one of the {names.negatives}: in "
        f"{round(100 * auc)} of 100 such pairs the model gives the first the higher score. By "
        f"chance it would in 50. No threshold does better than {percent(least)} errors, averaged "
        "over both classes."
    )
    some = "A better model would help: try other features, or look for wrong labels."
    poor = "Train a better model first: no threshold makes up for that."
    return grade(
        "separation",
        least if auc >= _POOR_AUC else 1.0,
        pairs,
        (_LITTLE_OVERLAP, "good", "The scores separate the classes", ""),
        (0.5, "caution", "The scores separate the classes in part", some),
        (1.0, "bad", "The scores hardly separate the classes", poor),
    )


def judge_proof(certificate: Certificate, total: float, rare: str) -> Finding:
    """Say whether the errors of all classes add up to less than by chance."""
    level: Level = "good"
    title, advice, chance = "Shown to be better than chance", "", len(certificate.labels) - 1
    text = (
        f"With {sure(certificate.confidence)}, the shares of each class decided wrongly add up to "
        f"at most {at_most(total)} in the long run. By chance they add up to {chance}00%."
    )
    if certificate.status == "nominal":
        level, title = "bad", "Nothing is shown: these rows certify nothing"
        text = sentence(certificate.reason)
        advice = "Score rows that the model has not seen; only they show what it is worth."
    elif total >= chance:
        level, title = "bad", "Not shown to be better than chance"
        advice = f"Collect more rows, above all {rare}, or train a better model."
    elif certificate.status == "cross-fitted":
        level, title = "caution", "Shown to be better than chance for the models of the folds"
        advice = "Keep rows apart for a test; only they show what the deployed model is worth."
    return Finding("proof", level, title, text, advice)


def _false_alarms(evidence: Evidence) -> Finding | None:
    """Warn if most alarms are false, which both error rates together do not show."""
    _, precision = _alarms(evidence.shifted.errors, evidence.prevalence)
    if precision is None or precision >= 0.5:
        return None
    base = 100 if precision >= 0.0095 else 1000
    text = f"Of {base:,} alarms about {base - round(base * precision):,} are false."
    advice = "Ask whether a hit is worth that many false alarms; enter your costs at the slider."
    return Finding("alarms", "caution", "Most alarms are false", text, advice)


def judge_rows(
    certificate: Certificate, names: Sequence[str], floors: Sequence[Floor], whose: dict[str, str]
) -> Finding:
    """Say whether rows are too few for the goal, else what the smallest class can show at best.

    `whose` names the rows of each floor on one class.
    """
    i, n = int(np.argmin(certificate.n_samples)), min(certificate.n_samples)
    if not n:
        none = "Nothing can be shown of a class without rows."
        return Finding("rows", "bad", f"There are no {names[i]}", none, f"Add {names[i]}.")
    text = (
        f"With {n:,} {names[i]}, no error rate below {at_most(certificate.floors[i])} can be "
        "shown, even without a single error."
    )
    parts = len(names) if certificate.joint else max(len(floors), 1)
    confidence = 1 - (1 - certificate.confidence) / parts
    needed = rows_needed(0.05, confidence if certificate.joint else certificate.confidence)
    advice = (
        f"For a claim of at most 5%, collect {needed:,} or more {names[i]} and keep them for a "
        "test."
    )
    few = f"There are few {names[i]}"
    found = grade(
        "rows",
        certificate.floors[i],
        text,
        (0.05, "good", "There are enough rows", ""),
        (0.2, "caution", few, advice),
        (1.0, "bad", few, advice),
    )
    # A cap is used up, so no number of rows proves it.
    unproved = [f for f in floors if f.state == State.REACHED and f.shown and f.name != "flagged"]
    if not unproved or found.level == "bad":
        return found
    floor, units = unproved[0], "rows" if certificate.n_clusters is None else "clusters"
    advice = f"More {units} are needed to prove it."
    if floor.name in whose:
        with suppress(InvalidInputError):  # what is seen is too close to the goal
            needed = rows_needed(1 - floor.asked, confidence, wrong_share=1 - floor.reached)
            advice = f"At this rate {needed:,} {whose[floor.name]} in a test would prove it."
    text = (
        f"What is seen, {percent(floor.reached)}, keeps the goal of {100 * floor.asked:.6g}%; "
        f"its bound, {at_least(floor.shown or 0.0)}, does not. {advice}"
    )
    title = f"There are too few {whose.get(floor.name, units)} to prove the goal"
    return Finding("rows", "caution", title, text, advice)


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
        text = f"{text} The model's own threshold lies inside, so the shift may be chance."
        title = "The shift is uncertain"
        return Finding("stability", "caution", title, text, "Collect more rows.")
    return Finding("stability", "good", "The direction of the shift is stable", text)


def _calibration(evidence: Evidence) -> Finding | None:
    """Compare the model's own probabilities with outcomes, in groups of about equal size."""
    if evidence.details.probability is None:
        return None
    said, true = np.asarray(evidence.details.probability), evidence.rows.is_positive
    count = int(np.clip(len(said) // _FEWEST_ROWS, 1, _MOST_GROUPS))
    off = 0
    for group in np.array_split(np.argsort(said, kind="stable"), count):
        band = error_band(true[group].sum(), len(group), evidence.confidence)
        off += not band.low <= said[group].mean() <= band.high
    text = (
        f"On average the model's own probability is {percent(float(said.mean()))}, and "
        f"{percent(float(true.mean()))} are {evidence.names.positives}."
    )
    if off == 0:
        return Finding("calibration", "good", "Its probabilities come true", text)
    text = f"{text} In {off} of {count} groups of rows they do not come true."
    advice = "Read its probabilities as a ranking, or calibrate the model."
    return Finding("calibration", "caution", "Its probabilities are off", text, advice)


def _zone(zone: Zone, evidence: Evidence) -> dict[str, Any]:
    """Count rows on either side of a zone, and say who is decided and who is left to a person."""
    names, unit, scores = evidence.names, evidence.names.unit, evidence.scores
    unsure, wrong = zone.is_unsure(scores), (scores > zone.high, scores <= zone.low)
    called = ((names.negatives, names.positive), (names.positives, names.negative))
    left, sides = [], []
    for i, (who, other) in enumerate(called):
        mine = evidence.rows.is_positive == bool(i)
        left.append(float(unsure[mine].mean()))
        sides.append(
            f"Of {who}, {wrong[i][mine].sum():,} of {mine.sum():,} are called {other} here; a "
            f"person must decide {percent(left[i])}."
        )
    between = (1 - evidence.prevalence) * left[0] + evidence.prevalence * left[1]
    limits = []
    if math.isfinite(zone.low):
        limits.append(f"up to {number(zone.low)} are called {names.negative}")
    if math.isfinite(zone.high):
        limits.append(f"above {number(zone.high)} are called {names.positive}")
    told = f"{unit[:1].upper()}{unit[1:]} with a score {' and '.join(limits)}. "
    told = told if limits else "There are too few rows to decide safely. "
    person = f"A person must decide {percent(between)} of {unit}."
    if zone.low == zone.high:
        person = "No person is needed: one threshold keeps both promises."
    return {
        "low": zone.low,
        "high": zone.high,
        "unsure": between,
        "found_on": zone.n_samples,
        "sentence": f"{told}{person}",
        "sides": sides,
        "promise": zone.message,
    }
