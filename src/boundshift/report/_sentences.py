"""What a report says: the verdict, every claim, the diagnosis and the unsure zone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from boundshift._promises.certificate import Certificate
from boundshift._promises.planning import rows_needed
from boundshift._promises.zone import Zone
from boundshift._status import QUIET
from boundshift._view import area_under_curve, error_band, least_balanced_error
from boundshift._words import (
    Names,
    Sentence,
    at_least,
    at_most,
    claim,
    number,
    percent,
    sentence,
    sure,
)
from boundshift.curves._uniform import clopper_pearson
from boundshift.exceptions import InvalidInputError
from boundshift.report._evidence import Evidence
from boundshift.report._goal import Floor, Goal, State, judge_goal
from boundshift.rules import Cost, Floors

Level = Literal["good", "caution", "bad"]
Answer = Literal["use it", "improve it", "do not use it"]

# Areas under the curve from which separation is called good, and below which it is called poor.
_GOOD_AUC, _POOR_AUC = 0.85, 0.65
_FEW_FLAGGED = 20
_MANY_FLAGGED = 0.8
_NEXT = 100  # further rows of which a claim speaks
UNPROVED = "Do not use it yet: these rows do not show that it is better than chance."
MISSED = "Improve it: the goal is missed."
FAIR = "Fair estimates: these rows were used for nothing else."
_MOST_GROUPS, _FEWEST_ROWS = 10, 20  # of a calibration


@dataclass(frozen=True)
class Alarms:
    """Hits and false alarms out of `base` rows."""

    base: int
    positives: int
    flagged: int
    hits: int
    false: int
    precision: float | None
    share: float


@dataclass(frozen=True)
class Verdict:
    """What changes for both classes, in natural frequencies; only one part is certified."""

    sentence: str
    parts: list[Sentence]
    status: str
    note: str
    alarms: Alarms


@dataclass(frozen=True)
class Statement:
    """A claim of the report with its status and the reason for it."""

    claim: str
    status: str
    reason: str


@dataclass(frozen=True)
class Finding:
    """One strong or weak point, and what to do about it."""

    key: str
    level: Level
    title: str
    text: str
    advice: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """Strong and weak points, and the one answer to what to do next."""

    findings: list[Finding]
    answer: Answer
    next: str


def sentences(evidence: Evidence, better: str | None = None) -> dict[str, Any]:
    """Return goal, verdict, diagnosis, claims and zone; `better` names a better method."""
    goal = judge_goal(evidence)
    return {
        "goal": goal,
        "verdict": _verdict(evidence),
        "diagnosis": _diagnose(evidence, goal, better),
        "claims": list(_claims(evidence)),
        "zone": None if evidence.zone is None else _zone(evidence.zone, evidence),
    }


def _verdict(evidence: Evidence) -> Verdict:
    shifted, names, claimed = evidence.shifted, evidence.names, evidence.certificate
    old = tuple(k / n for k, n in zip(evidence.old_wrong, shifted.n_samples, strict=True))
    alarms, before = (count_alarms(each, evidence.prevalence) for each in (shifted.errors, old))
    shares = (claimed.errors[1], evidence.old_missed)
    base = _choose_base(shares)
    missed, missed_before = (round(base * share) for share in shares)
    told = f"Of {base:,} {names.positives} the shifted model is expected to miss {missed:,}"
    if claimed.status == "nominal":
        told = f"Of {base:,} {names.positives} here the shifted model misses {missed:,}"
    told += " as before" if missed == missed_before else f" instead of {missed_before:,}"
    parts = [Sentence(f"{told}.")]
    if claimed.certified:  # only the bound of a rate, not of a count, is claimed
        bound = claim(f"at most {at_most(claimed.error_bounds[1])}", evidence.confidence)
        bound = f"{bound}{_over_clusters(evidence)}."
        parts = [Sentence(f"{told},"), Sentence(bound, "certified")]
    parts.append(Sentence(_say_alarms(alarms, before, evidence)))
    told = " ".join(part.text for part in parts)
    return Verdict(told, parts, claimed.status, _note(evidence), alarms)


def _over_clusters(evidence: Evidence) -> str:
    return "" if evidence.clustered is None else ", averaged over clusters"


def _choose_base(shares: tuple[float, ...]) -> int:
    """Return the denominator of a count: 100, or more if a share would vanish."""
    smallest = min((abs(s) for s in shares if s), default=1.0)
    return next((base for base in (100, 1000, 10_000) if smallest * base >= 0.95), 100_000)


def count_alarms(errors: tuple[float, ...], prevalence: float) -> Alarms:
    """Return hits and false alarms out of a thousand rows, or of more where hits would vanish."""
    hits, false = prevalence * (1 - errors[1]), (1 - prevalence) * errors[0]
    base = max(1000, _choose_base((prevalence, hits)))
    share = hits + false
    flagged = round(base * share)
    right = min(flagged, round(base * hits))
    precision = hits / share if share > 0 else None
    return Alarms(base, round(base * prevalence), flagged, right, flagged - right, precision, share)


def _say_alarms(now: Alarms, before: Alarms, evidence: Evidence) -> str:
    names = evidence.names
    among = f"Of {now.base:,} {names.unit}, with {now.positives:,} {names.positives} among them,"
    old = round(now.base * before.share)
    change = "" if old == now.flagged else f" instead of {old:,}"
    right = evidence.shifted.n_samples[1] - evidence.old_wrong[1]
    flagged = right + evidence.old_wrong[0]
    counted = ""
    if change and flagged < _FEW_FLAGGED:  # a share of so few says little
        rows = f"{sum(evidence.shifted.n_samples):,} {'test rows' if evidence.tested else 'rows'}"
        hits = f", {right} rightly" if flagged else ""
        change, counted = "", f" Before, it flagged {flagged} of the {rows}{hits}."
    if now.precision is None:
        return f"{among} it flags none{change}.{counted}"
    precision, change_in_precision = percent(now.precision), ""
    if before.precision is not None and not counted and percent(before.precision) != precision:
        change_in_precision = f" instead of {percent(before.precision)}"
    hits, false = (
        f"{count:,} {noun}{'' if count == 1 else 's'}"
        for count, noun in ((now.hits, "hit"), (now.false, "false alarm"))
    )
    return (
        f"{among} it flags {now.flagged:,}{change}: {hits} and {false}, a precision of "
        f"{precision}{change_in_precision}.{counted}"
    )


def _note(evidence: Evidence) -> str:
    """Say which rows the verdict rests on."""
    status, n = evidence.certificate.status, sum(evidence.shifted.n_samples)
    here = f"No test rows were given: measured on the {n:,} rows that chose the threshold"
    if status == "nominal":
        return f"Nothing here is certified. {sentence(evidence.shifted.reason)}"
    if status == "cross-fitted":
        return (
            f"{here}, each scored by a model fitted without it. The deployed model is another one: "
            "nothing is certified of it. Keep rows apart for a test."
        )
    if not evidence.tested:
        return (
            f"{here}, so the estimates are optimistic. The “at most” allows for that choice. It is "
            "valid only if these rows were not used for training."
        )
    among = ""
    if evidence.clustered is not None:
        among = f" in {len(np.unique(np.asarray(evidence.details.cluster))):,} clusters"
    return (
        f"Measured on {n:,} test rows{among}. The “at most” is valid only if they were used "
        "neither for training nor for choosing the threshold. The other numbers are estimates."
    )


def _claims(evidence: Evidence) -> Iterator[Statement]:
    """Yield each claim of the report."""
    shifted, names, claimed = evidence.shifted, evidence.names, evidence.certificate
    for i, verb, who in ((1, "misses", names.positives), (0, "flags", names.negatives)):
        seen = f"{shifted.wrong[i]:,} of {shifted.n_samples[i]:,} seen"
        if evidence.clustered is not None:
            seen = f"{percent(claimed.errors[i])} seen"
        told = (
            f"The shifted model {verb} at most {at_most(claimed.error_bounds[i])} of {who} in the "
            f"long run{_over_clusters(evidence)} ({sure(shifted.confidence)}; {seen})"
        )
        if claimed.status == "nominal":
            told = f"The shifted model {verb} {percent(shifted.errors[i])} of {who} here ({seen})"
        yield Statement(told, claimed.status, sentence(claimed.reason))
    if shifted.certified and evidence.tested:
        flagged, missed = shifted.next_rows(_NEXT)
        told = (
            f"Of the next {_NEXT} {names.positives}, at most {missed} are missed, and of the next "
            f"{_NEXT} {names.negatives}, at most {flagged} are flagged, each with "
            f"{sure(shifted.confidence)}"
        )
        yield Statement(told, shifted.status, "It holds if they are of the same kind.")
    reason = {
        "certified": "Away from the shifted boundary they hold for all thresholds together.",
        "cross-fitted": "They are about the models of the folds, for all thresholds together.",
        "nominal": sentence(shifted.reason),
    }[shifted.status]
    yield Statement("The bounds beside the slider, wherever it stands", shifted.status, reason)
    status, reason = "nominal", "The threshold was chosen on these rows, so they are optimistic."
    if claimed.status == "nominal":
        reason = sentence(shifted.reason)
    elif evidence.tested:
        status, reason = "estimate", FAIR
    yield Statement("The observed error rates and the comparison of methods", status, reason)


def _diagnose(evidence: Evidence, goal: Goal | None, better: str | None) -> Diagnosis:
    """Collect strong and weak points; the worst one decides what to do next."""
    auc = area_under_curve(evidence.judging)
    best = least_balanced_error(evidence.judging)
    candidates = [
        _separation(auc, evidence.names),
        _overlap(best),
        _proof(evidence),
        _false_alarms(evidence),
        _optimism(evidence),
        _rows(evidence, goal),
        _stability(evidence),
        _calibration(evidence),
    ]
    findings = [finding for finding in candidates if finding is not None]
    status, statuses = evidence.boundary.status, evidence.boundary.statuses
    doubts = " ".join(each.value for each in statuses if each not in QUIET)
    if doubts:  # the search fell back, or the scores are reversed
        level: Level = "caution" if status.solved else "bad"
        findings.append(Finding("status", level, "The threshold needs a second look", doubts))
    by_key = {finding.key: finding for finding in findings}
    levels = {finding.key: finding.level for finding in findings}
    flagged = float(np.mean(evidence.rows.new))
    advised = [finding for finding in findings if finding.advice]
    answer: Answer = "improve it"
    first = min(advised, key=lambda f: f.level != "bad", default=None)
    if levels["separation"] == "bad":
        answer, first = "do not use it", by_key["separation"]
        told = "Do not use it: its scores do not separate the classes."
    elif levels.get("status") == "bad":
        answer, told = "do not use it", f"Do not use it. {status.value}"
    elif isinstance(evidence.boundary.rule, Cost) and flagged in (0.0, 1.0):
        answer, first = "do not use it", None
        whom = "everyone" if flagged else "nobody"
        told = f"Do not use it: at these costs flagging {whom} is cheapest, without any model."
    elif levels["proof"] == "bad":
        answer, first = "do not use it", by_key["proof"]
        told = UNPROVED
        if isinstance(evidence.boundary.rule, Floors) and flagged > _MANY_FLAGGED:
            told = f"{told} To keep the floor it flags {percent(flagged)} of them."
    elif goal is not None and goal.state == State.MISSED:
        first = None
        remedy = "Train a better model, choose the threshold on more rows, or ask for less."
        if [f.name for f in goal.floors if f.state == State.MISSED] == ["flagged"]:
            remedy = "Ask for a smaller share, or take the rows with the highest scores."
        told = f"{MISSED} {remedy}"
    elif goal is not None and goal.state == State.WORSE:
        told, first = "Use the model's own threshold: by the goal it does better.", None
    elif better is not None:
        told, first = f"Use {better} instead: by the goal it does better on these rows.", None
    elif levels["separation"] == levels["overlap"] == "good" and "bad" not in levels.values():
        answer, told = "use it", "Use it: its scores separate the classes."
        if first := by_key.get("alarms", first):
            told = f"{told} But most alarms are false." if first.key == "alarms" else told
    else:
        weak = first.title if first else "it has weak points"
        told = f"Use it with care, or improve it: {weak[0].lower()}{weak[1:]}."
    told = f"{told} {first.advice}" if first else told
    return Diagnosis(drop_good(findings, evidence.certificate), answer, told)


def drop_good(findings: list[Finding], certificate: Certificate) -> list[Finding]:
    """Leave out strong points where nothing is certified: rows that were seen flatter."""
    return [f for f in findings if certificate.status != "nominal" or f.level != "good"]


def grade(key: str, value: float, text: str, *grades: tuple[float, Level, str, str]) -> Finding:
    """Return the first of several findings whose limit the value does not exceed."""
    _, level, title, advice = next(grade for grade in grades if value <= grade[0])
    return Finding(key, level, title, text, advice)


def _separation(auc: float, names: Names) -> Finding:
    pairs = (
        f"Draw one of the {names.positives} and one of the {names.negatives}: in "
        f"{round(100 * auc)} of 100 such pairs the model gives the first the higher score. By "
        "chance it would in 50."
    )
    poor = "Train a better model first: no threshold makes up for that."
    return grade(
        "separation",
        -auc,
        pairs,
        (-_GOOD_AUC, "good", "The scores separate the classes", ""),
        (-_POOR_AUC, "caution", "The scores separate the classes in part",
         "A better model would help: try more or other features."),
        (0.0, "bad", "The scores hardly separate the classes", poor),
    )  # fmt: skip


def _overlap(best: float) -> Finding:
    text = f"No threshold does better than {percent(best)} errors, averaged over both classes."
    some = "Expect errors on both sides; the slider shows which can be traded for which."
    much = "Look for features that separate the classes, or for wrong labels where they overlap."
    return grade(
        "overlap",
        best,
        text,
        (0.1, "good", "The classes overlap little", ""),
        (0.3, "caution", "The classes overlap", some),
        (1.0, "bad", "The classes overlap almost completely", much),
    )


def _proof(evidence: Evidence) -> Finding:
    """Say whether the model is shown to beat chance, both bounds holding together."""
    names, total = evidence.names, evidence.sum_bound
    text = (
        f"With {sure(evidence.confidence)}, the shares of {names.positives} missed and of "
        f"{names.negatives} flagged add up to at most {at_most(total)} in the long run. By chance "
        "they add up to 100%."
    )
    return judge_proof(evidence.certificate, total, text, names.positives)


def judge_proof(certificate: Certificate, total: float, text: str, rare: str) -> Finding:
    """Say whether errors add up to less than by chance, which is a total of 1."""
    status = certificate.status
    level: Level = "good"
    title, advice = "Shown to be better than chance", ""
    if status == "nominal":
        level, title = "bad", "Nothing is shown: these rows certify nothing"
        text = sentence(certificate.reason)
        advice = (
            "Score independent rows that the model has not seen; only they show what it is worth."
        )
    elif total >= 1:
        level, title = "bad", "Not shown to be better than chance"
        advice = f"Collect more rows, above all {rare}, or train a better model."
    elif status == "cross-fitted":
        level, title = "caution", "Shown to be better than chance for the models of the folds"
        advice = "Keep rows apart for a test; only they show what the deployed model is worth."
    return Finding("proof", level, title, text, advice)


def _false_alarms(evidence: Evidence) -> Finding | None:
    """Warn if most alarms are false, which both error rates together do not show."""
    precision = count_alarms(evidence.shifted.errors, evidence.prevalence).precision
    if precision is None or precision >= 0.5:
        return None
    base = 100 if precision >= 0.0095 else 1000
    false = base - round(base * precision)
    text = f"Of {base:,} alarms about {false:,} are false: the class is rare."
    advice = "Ask whether a hit is worth that many false alarms; enter your costs at the slider."
    return Finding("alarms", "caution", "Most alarms are false", text, advice)


def _optimism(evidence: Evidence) -> Finding | None:
    if evidence.origin != "training":
        return None
    advice = "Choose the threshold on scores from cross-validation or on held-out rows."
    text = "The threshold was chosen on rows that the model was trained on."
    return Finding("optimism", "caution", "Training scores chose the threshold", text, advice)


def _rows(evidence: Evidence, goal: Goal | None) -> Finding:
    names, floors = evidence.names, [] if goal is None else goal.floors
    whose = {"specificity": names.negatives, "recall": names.positives}
    confidence = 1 - (1 - evidence.confidence) / max(len(floors), 1)
    clustered = evidence.clustered is not None
    unproved = [
        say_unproved(floor, whose.get(floor.name), confidence, clustered=clustered)
        for floor in floors
        if is_unproved(floor)
    ]
    return judge_rows(evidence.certificate, (names.negatives, names.positives), unproved)


def is_unproved(floor: Floor) -> bool:
    """Return whether the rate seen keeps a floor, and its bound does not."""
    # A cap is used up, so no number of rows proves it.
    return floor.state == State.REACHED and floor.shown is not None and floor.name != "flagged"


def say_unproved(
    floor: Floor, who: str | None, confidence: float, *, clustered: bool = False
) -> Finding:
    """Say how many rows would prove a floor; None is for a rate of more than one class."""
    text = (
        f"What is seen, {percent(floor.reached)}, keeps the goal of {100 * floor.asked:.6g}%; "
        f"its bound, {at_least(floor.shown or 0.0)}, does not."
    )
    advice = f"More {'clusters' if clustered else 'rows'} are needed to prove it."
    if who is not None and not clustered:
        with suppress(InvalidInputError):  # what is seen is too close to the goal
            error, seen = 1 - floor.asked, 1 - floor.reached
            needed = rows_needed(error, confidence, wrong_share=seen)
            advice = f"At this rate {needed:,} {who} in a test would prove it."
    title = f"There are too few {'clusters' if clustered else who or 'rows'} to prove the goal"
    return Finding("rows", "caution", title, f"{text} {advice}", advice)


def judge_rows(
    certificate: Certificate, names: Sequence[str], unproved: Sequence[Finding] = ()
) -> Finding:
    """Say whether rows are too few for the goal, else what the smallest class can show at best."""
    i = int(np.argmin(certificate.n_samples))
    who, least = names[i], certificate.floors[i]
    if not certificate.n_samples[i]:
        none = "Nothing can be shown of a class without rows."
        return Finding("rows", "bad", f"There are no {who}", none, f"Add {who}.")
    text = (
        f"With {certificate.n_samples[i]:,} {who}, no error rate below {at_most(least)} can be "
        "shown, even without a single error."
    )
    delta = (1 - certificate.confidence) / (len(names) if certificate.joint else 1)
    needed = f"{rows_needed(0.05, 1 - delta):,} or more {who}"
    advice = f"For a claim of at most 5%, collect {needed} and keep them for a test."
    few = f"There are few {who}"
    found = grade(
        "rows",
        least,
        text,
        (0.05, "good", "There are enough rows", ""),
        (0.2, "caution", few, advice),
        (1.0, "bad", few, advice),
    )
    return unproved[0] if unproved and found.level != "bad" else found


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
        advice = "Collect more rows."
        return Finding("stability", "caution", "The shift is uncertain", text, advice)
    return Finding("stability", "good", "The direction of the shift is stable", text)


def _calibration(evidence: Evidence) -> Finding | None:
    """Compare the model's own probabilities with outcomes, in groups of about equal size."""
    if evidence.details.probability is None:
        return None
    probability = np.asarray(evidence.details.probability)
    order = np.argsort(probability, kind="stable")
    said, true = probability[order], evidence.rows.is_positive[order]
    count = int(np.clip(len(said) // _FEWEST_ROWS, 1, _MOST_GROUPS))
    wanted = np.linspace(0, len(said), count + 1).round().astype(int)[1:-1]
    # Equal probabilities stay together.
    borders = np.unique(np.searchsorted(said, said[wanted], side="left"))
    groups = [group for group in np.split(np.arange(len(said)), borders) if len(group)]
    off = 0
    for group in groups:
        band = error_band(true[group].sum(), len(group), evidence.confidence)
        off += not band.low <= said[group].mean() <= band.high
    text = (
        f"On average the model's own probability is {percent(float(said.mean()))}, and "
        f"{percent(float(true.mean()))} are {evidence.names.positives}."
    )
    if off == 0:
        return Finding("calibration", "good", "Its probabilities come true", text)
    text = f"{text} In {off} of {len(groups)} groups of rows they do not come true."
    advice = "Read its probabilities as a ranking, or calibrate the model."
    return Finding("calibration", "caution", "Its probabilities are off", text, advice)


def _zone(zone: Zone, evidence: Evidence) -> dict[str, Any]:
    """Count rows on either side of a zone, and say who is decided and who is left to a person."""
    names, share = evidence.names, evidence.prevalence
    is_positive = evidence.rows.is_positive
    unsure = zone.is_unsure(evidence.scores)
    left = [float(unsure[is_positive == truth].mean()) for truth in (False, True)]
    between = (1 - share) * left[0] + share * left[1]
    sides = _promised_errors if zone.precision is None else _promised_values
    return {
        "low": zone.low,
        "high": zone.high,
        "unsure": between,
        "found_here": evidence.zone_found_here,
        "found_on": zone.n_samples,
        "nominal": zone.reason and sentence(zone.reason),
        "sentence": _say_limits(zone, (names.negative, names.positive), between, names.unit),
        "sides": [
            f"{told} A person must decide {percent(each)} of {who}."
            for told, each, who in zip(
                sides(zone, evidence), left, (names.negatives, names.positives), strict=True
            )
        ],
    }


def _promised_errors(zone: Zone, evidence: Evidence) -> Iterator[str]:
    """Say how many rows of each class are decided wrongly, and at most."""
    names, scores = evidence.names, evidence.scores
    called, over = (names.negative, names.positive), zone.n_clusters is not None
    wrong = np.where(evidence.rows.is_positive, scores <= zone.low, scores > zone.high)
    for i, who in enumerate((names.negatives, names.positives)):
        mine, other, most = evidence.rows.is_positive == bool(i), called[1 - i], zone.errors[i]
        if math.isinf((zone.high, zone.low)[i]):
            needed, had = rows_needed(most, zone.confidence), (zone.n_clusters or zone.n_samples)[i]
            yield (
                f"There are too few {who} to call anyone {other} safely ({had:,}"
                f"{' clusters' if over else ''}; at least {needed:,} are needed)."
            )
            continue
        rows, errors = int(mine.sum()), int(wrong[mine].sum())
        promise = claim(f"at most {at_most(most)}", zone.confidence)
        if over:
            promise = f"{promise}, averaged over clusters"
        elif not evidence.zone_found_here:
            bound = float(clopper_pearson(errors, rows, 1.0 - zone.confidence))
            promise = (
                f"the promise is at most {at_most(most)}, and these rows alone show at most "
                f"{at_most(bound)} with {sure(zone.confidence)}"
            )
        yield f"Of {who}, {errors:,} of {rows:,} are called {other} here; {promise}."


def _promised_values(zone: Zone, evidence: Evidence) -> Iterator[str]:
    """Say how many rows that are called negative or positive are so, and at least."""
    names, is_positive = evidence.names, evidence.rows.is_positive
    arms = (
        (evidence.scores <= zone.low, ~is_positive, names.negative, zone.npv),
        (evidence.scores > zone.high, is_positive, names.positive, zone.precision),
    )
    for decided, right, name, least in arms:
        asked, n = at_least(least or 0.0), int(decided.sum())
        if n == 0:
            yield f"Nobody is called {name}: too few rows show that {asked} of these would be."
            continue
        promise = claim(f"at least {asked}", zone.confidence)
        yield (
            f"Of {n:,} {names.unit} called {name} here, {int((decided & right).sum()):,} are; "
            f"{promise} for both limits together."
        )


def _say_limits(zone: Zone, called: tuple[str, str], between: float, unit: str) -> str:
    """Say which scores decide, and how many rows they leave open."""
    low, high = math.isfinite(zone.low), math.isfinite(zone.high)
    if not (low or high):
        return f"There are too few rows to decide safely. A person must decide all {unit}."
    rows = f"{unit[:1].upper()}{unit[1:]} with a score"
    below = f"{rows} up to {number(zone.low)} are called {called[0]}"
    if zone.low == zone.high:
        keeps = "No person is needed: one threshold keeps both promises."
        return f"{below}, all others {called[1]}. {keeps}"
    told = f"{below}, those above {number(zone.high)} {called[1]}"
    if not high:
        told = f"{below}, nobody {called[1]}"
    elif not low:
        told = f"{rows} above {number(zone.high)} are called {called[1]}, nobody {called[0]}"
    return f"{told}. A person must decide {percent(between)} of {unit}."
