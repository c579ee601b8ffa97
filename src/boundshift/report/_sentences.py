"""All sentences of a report on two classes. Nothing here decides: it words judgements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any, Literal

import numpy as np

from boundshift._guarantees.certificate import Certificate
from boundshift._guarantees.zone import Zone
from boundshift._words import (
    METRIC_TITLES,
    Names,
    Sentence,
    at_least,
    at_most,
    claim,
    join_words,
    number,
    percent,
    sentence,
    sure,
)
from boundshift.report._evidence import Evidence
from boundshift.report._goal import Aim, Floor, Goal, Reached, State
from boundshift.report._judgement import (
    Advice,
    Alarms,
    Calibration,
    Diagnosis,
    Policy,
    Proof,
    Ranking,
    RowCount,
    Separation,
    Shift,
    Strength,
    Usefulness,
    Verdict,
)
from boundshift.report._panels import Lead
from boundshift.rules import Cost

Level = Literal["good", "caution", "bad"]

WHERE = {
    "test": "the test rows",
    "deciding": "the rows that chose the threshold",
    "seen": "these rows",
}
OWN = "the model's own threshold"
_FEW_FLAGGED = 20
_RANDOM = "flagging at random"
_POLICIES = {
    Policy.NOBODY: "flagging nobody",
    Policy.EVERYONE: "flagging everyone",
    Policy.AT_RANDOM: _RANDOM,
}


@dataclass(frozen=True)
class Finding:
    """One strong or weak point, and what to do about it."""

    key: str
    level: Level
    title: str
    text: str
    advice: str = ""


def say(parts: Sequence[Sentence], status: str, note: str) -> dict[str, Any]:
    """Return a statement with its parts, as a page shows it."""
    parts = list(parts)
    return {"sentence": join(parts), "parts": parts, "status": status, "note": note}


def join(parts: Sequence[Sentence]) -> str:
    """Return parts as one text."""
    return " ".join(part.text for part in parts)


def capitalise(text: str) -> str:
    """Return a text with a capital letter first."""
    return f"{text[:1].upper()}{text[1:]}"


def lower(title: str) -> str:
    """Return a title as it stands within a sentence."""
    return f"{title[:1].lower()}{title[1:]}"


def where_of(evidence: Evidence) -> str:
    """Return on which rows figures were counted."""
    return f"on {WHERE[evidence.judged_on]}"


# --- The goal -------------------------------------------------------------------------------------


def goal_facts(evidence: Evidence, diagnosis: Diagnosis) -> dict[str, Any] | None:
    """Return the goal with its sentences, None without one."""
    goal = diagnosis.goal
    if goal is None:
        return None
    aim = Aim(evidence)
    wishes = [floor_wish(floor, evidence.names) for floor in goal.floors]
    if goal.is_asked:
        wishes.append(f"then {_wish(aim, evidence)}" if goal.floors else _wish(aim, evidence))
    parts = [Sentence(f"Goal: {join_words(wishes)}.")]
    n_bounds = sum(item.shown is not None for item in goal.floors)
    for item in goal.floors:
        place = _floor_place(item, evidence)
        parts += say_floor(item, place, evidence.confidence, len(goal.floors), n_bounds)
    if goal.is_asked:
        parts += _say_aim(aim, goal.aim, diagnosis.usefulness, evidence, alone=not goal.floors)
    if goal.is_unmet:
        parts.append(Sentence(_on_deciding_rows(evidence.boundary.message, evidence)))
    return {
        "state": goal.state,
        "word": _goal_word(goal, aim, diagnosis.usefulness),
        "sentence": join(parts),
        "parts": parts,
        "floors": goal.floors,
        "aim": goal.aim,
    }


def _on_deciding_rows(message: str, evidence: Evidence) -> str:
    if evidence.judged_on == "deciding":
        return message
    return f"On the rows that chose the threshold: {lower(message)}"


def floor_wish(item: Floor, names: Names) -> str:
    """Return what a floor asks for."""
    share = f"{100 * item.asked:.6g}%"
    return {
        "recall": f"find at least {share} of {names.positives} (recall)",
        "specificity": f"leave at least {share} of {names.negatives} unflagged (specificity)",
        "precision": f"be right in at least {share} of the alarms (precision)",
        "npv": f"be right in at least {share} of {names.cases} that are not flagged (npv)",
        "flagged": f"flag {share} of {names.cases} (capacity)",
    }[item.name]


def _wish(aim: Aim, evidence: Evidence) -> str:
    if evidence.rows.cost is not None:
        return "the least cost of wrong decisions, by the cost of each row"
    if isinstance(aim.rule, Cost):
        miss = aim.rule.false_negative
        alarm = aim.rule.false_positive
        return f"the least cost, where a miss costs {miss:g} and a false alarm {alarm:g}"
    return f"the greatest {aim.title}" if aim.is_maximised else f"{aim.title} as low as possible"


def floor_word(item: Floor) -> str:
    """Return in a word how far a floor is reached."""
    if item.name == "flagged" and item.state != State.MET:
        if item.state == State.MISSED:
            return "Exceeded"
        if item.is_exceeded:
            return "Exceeded, which may be chance"
        return "Kept on these rows, not proved"
    return {State.MISSED: "Missed", State.REACHED: "Not proved", State.MET: "Met"}[item.state]


def _goal_word(goal: Goal, aim: Aim, usefulness: Usefulness) -> str:
    if goal.floors:
        return next(floor_word(item) for item in goal.floors if item.state == goal.state)
    reached = goal.aim
    if reached.before is None:
        return {
            Proof.SHOWN: "Better than without a model",
            Proof.FOLDS: "Better than without a model, for the models of the folds",
            Proof.NOT_SHOWN: "Not shown to be better than without a model",
            Proof.WORSE: "Worse than without a model",
            Proof.NOTHING: "Nothing is certified",
        }[usefulness.proof]
    if reached.now == reached.before:
        return f"As at {OWN}"
    chance = ", may be chance" if goal.state == State.UNSURE else ""
    return f"{_better_word(aim, reached)} than at {OWN}{chance}"


def _floor_place(item: Floor, evidence: Evidence) -> str:
    """Return on which rows a floor was counted, and how."""
    place = where_of(evidence)
    if item.is_averaged:
        return f"{place}, averaged over clusters"
    if item.budget is not None:
        counted = item.budget
        place = (
            f"{place}, {counted.flagged:,} of {counted.n_rows:,} where {counted.allowed:,} were "
            "asked for"
        )
    return place


def say_floor(
    item: Floor, place: str, confidence: float, n_floors: int, n_bounds: int
) -> list[Sentence]:
    """Return what is reached of one of several floors, and its bound, which may hold jointly."""
    word = floor_word(item)
    if n_floors > 1:
        word = f"{capitalise(item.name)} {lower(word)}"
    together = " in all floors together" if n_bounds > 1 else ""
    start = f"{word}: {percent(item.reached)} {place}"
    if item.is_guaranteed:
        bound = f"guaranteed with {sure(confidence)}{together} when the threshold was chosen."
    elif item.shown is None:
        return [Sentence(f"{start}; this share is not certified.")]
    else:
        limit = f"at least {at_least(item.shown)}"
        if item.name == "flagged":
            limit = f"at most {at_most(item.shown)}"
        bound = f"{claim(limit, confidence)}{together}."
    return [Sentence(f"{start};"), Sentence(bound, "certified")]


def _better_word(aim: Aim, reached: Reached) -> str:
    if reached.before is None or reached.now == reached.before:
        return "As before"
    is_better = aim.is_better(reached.now, reached.before)
    if aim.is_cost:
        return "Lower cost" if is_better else "Higher cost"
    return "Better" if is_better else "Worse"


def _say_aim(
    aim: Aim, reached: Reached, usefulness: Usefulness, evidence: Evidence, *, alone: bool
) -> list[Sentence]:
    """Return what is reached, its bound, and how far it is from the model's own threshold."""
    start = f"{_aim_start(aim, reached, alone=alone)} {where_of(evidence)}"
    if reached.before is not None:
        before = aim.text(reached.before)
        change = "as" if aim.text(reached.now) == before else f"instead of {before}"
        start = f"{start} {change} at {OWN}"
    elif usefulness.without_model is not None:
        start = f"{start}; {_baseline_text(usefulness)}"
    parts = [Sentence(f"{start}.")]
    if reached.shown is not None:
        given = ""
        if aim.rule.depends_on_prevalence:
            given = f", where {percent(aim.prevalence)} are {evidence.names.positives},"
        bound = claim(_bound_text(aim, reached.shown), evidence.confidence, given)
        parts = [Sentence(f"{start};"), Sentence(f"{bound}.", "certified")]
    if reached.before is None or aim.text(reached.now) == aim.text(reached.before):
        return parts
    if reached.difference is None:
        parts.append(Sentence("Rows of one cluster are alike, so the difference may be chance."))
    elif evidence.is_tested:
        low, high = (aim.text(end) for end in reached.difference)
        level = f"{100 * evidence.confidence:.6g}%, by resampling"
        chance = ", so it may be chance" if reached.state == State.UNSURE else ""
        parts.append(Sentence(f"The difference lies between {low} and {high} ({level}){chance}."))
    return parts


def _aim_start(aim: Aim, reached: Reached, *, alone: bool) -> str:
    now = aim.text(reached.now)
    if alone and reached.before is not None:
        word = _better_word(aim, reached)
        return f"{word}: 1,000 decisions cost {now}" if aim.is_cost else f"{word}: {now}"
    if alone and aim.is_cost:
        return f"1,000 decisions cost {now}"
    return f"{capitalise(aim.title)}: {now}"


def _bound_text(aim: Aim, shown: float) -> str:
    """Return a bound, rounded so that it still bounds: to four digits or three decimals."""
    step = 0.001
    if aim.is_cost and shown > 0:
        step = 10.0 ** (floor(log10(shown)) - 3)
    if aim.is_maximised:
        return f"at least {aim.text(floor(shown / step + 1e-9) * step)}"
    return f"at most {aim.text(ceil(shown / step - 1e-9) * step)}"


def _baseline_text(usefulness: Usefulness) -> str:
    """Return what is reached without a model."""
    aim = usefulness.aim
    value = aim.text(usefulness.without_model or 0.0)
    name = _POLICIES[usefulness.policy]
    if aim.is_cost:
        return f"{name} would cost {value}"
    if usefulness.policy == Policy.AT_RANDOM:
        return f"chance alone would reach {value}"
    return f"{name} would reach {value}"


# --- The verdict ----------------------------------------------------------------------------------


def verdict_facts(verdict: Verdict, evidence: Evidence) -> dict[str, Any]:
    """Return what changes for both classes, in natural frequencies."""
    parts = [*_say_missed(verdict, evidence), *_say_alarms(verdict, evidence)]
    if verdict.next_rows is not None:
        alarmed, missed = verdict.next_rows
        names = evidence.names
        text = (
            f"Of the next {verdict.n_next} {names.positives}, at most {missed} will be missed, and "
            f"of the next {verdict.n_next} {names.negatives}, at most {alarmed} will be flagged, "
            f"each with {sure(evidence.confidence)}."
        )
        parts.append(Sentence(text, "certified"))
    numbers = {"flagged": verdict.alarms.flagged, "precision": verdict.alarms.precision}
    return numbers | say(parts, evidence.certificate.status, _note(evidence))


def _say_missed(verdict: Verdict, evidence: Evidence) -> list[Sentence]:
    start = _missed_text(verdict, evidence)
    if verdict.missed_bound is None:
        parts = [Sentence(f"{start}.")]
    else:  # only the bound of a rate, not of a count, is claimed
        bound = claim(f"at most {at_most(verdict.missed_bound)}", evidence.confidence)
        parts = [Sentence(f"{start},"), Sentence(f"{bound}.", "certified")]
    if verdict.is_averaged:
        missed, n = verdict.missed_rows
        text = f"Counted by row, it misses {missed:,} of {n:,}, which is {percent(missed / n)}."
        parts.append(Sentence(text))
    return parts


def _missed_text(verdict: Verdict, evidence: Evidence) -> str:
    names = evidence.names
    before = verdict.missed_before
    if verdict.is_averaged and evidence.certificate.n_clusters is not None:
        clusters = f"{evidence.certificate.n_clusters[1]:,} clusters of {names.positives}"
        text = (
            f"Averaged over {clusters}, each counting once, the new threshold misses "
            f"{percent(verdict.missed)}"
        )
        return text if before is None else f"{text} ({OWN}: {percent(before)})"
    shares = [verdict.missed] if before is None else [verdict.missed, before]
    base = _choose_base(shares)
    missed = round(base * verdict.missed)
    count = f"about {missed:,}" if verdict.missed else "none"
    text = f"Out of {base:,} {names.positives}, the new threshold misses {count}"
    if evidence.certificate.status == "nominal":
        count = count.removeprefix("about ")
        text = f"Here, out of {base:,} {names.positives}, the new threshold misses {count}"
    if before is None:
        return text
    old = round(base * before)
    return f"{text}, as {OWN} does" if old == missed else f"{text} ({OWN}: {old:,})"


def _choose_base(shares: Sequence[float]) -> int:
    """Return the denominator of a count: 100, or more if a share would vanish."""
    smallest = min((abs(share) for share in shares if share), default=1.0)
    return next((base for base in (100, 1000, 10_000) if smallest * base >= 0.95), 100_000)


def _say_alarms(verdict: Verdict, evidence: Evidence) -> list[Sentence]:
    """Return hits and false alarms out of a thousand rows, or of more where hits would vanish."""
    names = evidence.names
    share = evidence.prevalence
    now = verdict.alarms
    base = max(1000, _choose_base([share, now.hits]))
    alarms = round(base * now.flagged)
    right = min(alarms, round(base * now.hits))
    flagged = f"{alarms:,}" if now.flagged else "none"
    start = f"Out of {base:,} {names.cases}, {round(base * share):,} of them {names.positives},"
    if evidence.is_clustered:
        start = f"Counted by row, {lower(start)}"
    text = f"{start} it flags {flagged}"
    if now.precision is not None:
        text += (
            f": {right:,} rightly and {alarms - right:,} wrongly, a precision of "
            f"{percent(now.precision)}"
        )
    before = _alarms_before(verdict.alarms_before, now, base, evidence)
    return [Sentence(f"{text}.{before}")]


def _alarms_before(old: Alarms | None, now: Alarms, base: int, evidence: Evidence) -> str:
    own = evidence.own_decisions
    if old is None or own is None:
        return ""
    is_same = round(base * old.flagged) == round(base * now.flagged)
    if is_same and _precision_text(old) == _precision_text(now):
        return f" {capitalise(OWN)} flags as many."
    if own.sum() < _FEW_FLAGGED:  # the precision of few alarms shows little, so they are counted
        if not own.any():
            return f" {capitalise(OWN)} flags none."
        kind = "test rows" if evidence.is_tested else "rows"
        right = (own & evidence.rows.is_positive).sum()
        return f" {capitalise(OWN)} flags {own.sum()} of the {len(own):,} {kind}, {right} rightly."
    return (
        f" {capitalise(OWN)} flags {round(base * old.flagged):,}, with a precision of "
        f"{_precision_text(old)}."
    )


def _precision_text(alarms: Alarms) -> str:
    return "" if alarms.precision is None else percent(alarms.precision)


def _note(evidence: Evidence) -> str:
    """Return which rows the verdict rests on."""
    status = evidence.certificate.status
    n = f"{sum(evidence.by_row.n_samples):,}"
    if status == "nominal":
        return f"Nothing here is certified. {sentence(evidence.by_row.reason)}"
    if evidence.is_tested:
        among = f" in {evidence.n_clusters:,} clusters" if evidence.is_clustered else ""
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


# --- The diagnosis --------------------------------------------------------------------------------

_ANSWERS: dict[Advice, tuple[str, Level]] = {
    Advice.TEST: ("test it", "bad"),
    Advice.NO_METHOD: ("do not use it", "bad"),
    Advice.REVERSE: ("do not use it", "bad"),
    Advice.CHANCE: ("do not use it", "bad"),
    Advice.NO_MODEL: ("do not use it", "bad"),
    Advice.NOT_SHOWN: ("do not use it", "bad"),
    Advice.CHECK: ("check it", "caution"),
    Advice.MISSED: ("improve it", "caution"),
    Advice.OWN_THRESHOLD: ("improve it", "caution"),
    Advice.OTHER_METHOD: ("improve it", "caution"),
    Advice.WEAK: ("use it with care", "caution"),
    Advice.CARE: ("use it with care", "caution"),
    Advice.USE: ("use it", "good"),
}


def diagnosis_facts(diagnosis: Diagnosis, evidence: Evidence) -> dict[str, Any]:
    """Return strong and weak points, and what to do next."""
    findings = [
        _separation_finding(diagnosis, evidence),
        _proof_finding(diagnosis, evidence),
        _alarm_finding(diagnosis.alarms),
        _row_finding(diagnosis, evidence),
        _shift_finding(diagnosis.shift),
        _calibration_finding(diagnosis.calibration, evidence),
        _doubt_finding(diagnosis, evidence),
    ]
    answer, level = _ANSWERS[diagnosis.advice]
    shown = keep_findings(findings, evidence.certificate)
    return {
        "findings": shown,
        "advice": diagnosis.advice,
        "answer": answer,
        "level": level,
        "next": _advice_text(diagnosis, evidence),
    }


def keep_findings(findings: Sequence[Finding | None], certificate: Certificate) -> list[Finding]:
    """Leave out strong points where nothing is certified: rows that were seen flatter."""
    is_open = certificate.status == "nominal"
    known = [finding for finding in findings if finding is not None]
    return [finding for finding in known if not (is_open and finding.level == "good")]


def _advice_text(diagnosis: Diagnosis, evidence: Evidence) -> str:
    """Return what to do next, with its reason."""
    match diagnosis.advice:
        case Advice.TEST:
            return _test_text(evidence)
        case Advice.NO_METHOD:
            failed = next(status for status in diagnosis.doubts if not status.solved)
            return f"Do not use it. {failed.value}"
        case Advice.REVERSE:
            return _reversed_text(diagnosis.separation, evidence)
        case Advice.CHANCE:
            return _chance_text(diagnosis.separation, evidence)
        case Advice.NO_MODEL | Advice.NOT_SHOWN:
            return _useless_text(diagnosis, evidence)
        case Advice.CHECK:
            return (
                "Check these results before you use it: they are too good to be taken on trust. "
                f"{_perfect_text(diagnosis.separation)}{_few_rows_text(diagnosis, evidence)}"
            )
        case Advice.MISSED:
            return _missed_floors_text(diagnosis.goal)
        case Advice.OWN_THRESHOLD:
            return f"Use {OWN}: by the goal it does better."
        case Advice.OTHER_METHOD:
            better = diagnosis.better_method
            return f"Use {better} instead: by the goal it does better on these rows."
    return _use_text(diagnosis, evidence)


def missed_text(remedy: str, reason: str = "the goal is missed") -> str:
    """Return the advice on a goal that is missed."""
    return f"Improve it: {reason}. Train a better model, {remedy}, or ask for less."


def _missed_floors_text(goal: Goal | None) -> str:
    floors = [] if goal is None else goal.floors
    missed = [
        f"{METRIC_TITLES[item.name]} is {percent(item.reached)} where {100 * item.asked:.6g}% "
        "were asked for"
        for item in floors
        if item.state == State.MISSED
    ]
    reason = f"the goal is missed: {join_words(missed)}"
    return missed_text("choose the threshold on more rows", reason)


def test_text(reason: str, remedy: str) -> str:
    """Return the advice on rows that certify nothing."""
    return f"Test it before you use it: nothing is certified here. {sentence(reason)} {remedy}"


def _test_text(evidence: Evidence) -> str:
    if evidence.doubt is not None:
        return test_text(evidence.doubt.reason, evidence.doubt.remedy)
    remedy = "Score rows that the model has not seen; only they show what it is worth."
    return test_text("The model was trained on these rows", remedy)


def _reversed_text(found: Separation, evidence: Evidence) -> str:
    return (
        f"Do not use it as it is: its scores are reversed. {_pairs_text(found, evidence)} Check "
        "that the positive class is the right one, and that labels mean the same in all files. If "
        "they do, negate the scores."
    )


def _chance_text(found: Separation, evidence: Evidence) -> str:
    pairs = _pairs_text(found, evidence)
    if found.is_near_chance:
        return (
            f"Do not use it: its scores are no better than chance. {pairs} Train a better model: "
            "try other features, or look for wrong labels."
        )
    return (
        "Do not use it yet: these rows do not show that its scores are better than chance. "
        f"{pairs} {_more_rows_text(evidence)}"
    )


def _more_rows_text(evidence: Evidence) -> str:
    names = evidence.names
    negative, positive = evidence.by_row.n_samples
    rare = names.positives if positive <= negative else names.negatives
    return f"Collect more rows, above all {rare}, or train a better model."


def _useless_text(diagnosis: Diagnosis, evidence: Evidence) -> str:
    usefulness = diagnosis.usefulness
    policy = _POLICIES[usefulness.policy]
    is_same = usefulness.value == usefulness.without_model
    if diagnosis.is_decided_alike is not None and is_same and usefulness.aim.is_cost:
        return f"Do not use it: at these costs {policy} is cheapest, without any model."
    if diagnosis.advice == Advice.NO_MODEL:
        return f"Do not use it: {policy} does better, without any model. {_gain_text(usefulness)}"
    text = f"Do not use it yet: these rows do not show that it is better than {policy}."
    if usefulness.without_model is not None:
        text = f"{text} {_gain_text(usefulness)}"
    goal = diagnosis.goal
    if goal is not None and goal.floors and goal.state in (State.MET, State.REACHED):
        text = f"{text} That the goal is reached shows little: {policy} reaches it, too."
    return f"{text} {_more_rows_text(evidence)}"


def _gain_text(usefulness: Usefulness) -> str:
    """Return what is reached by the goal, and what would be without a model."""
    aim = usefulness.aim
    value = aim.text(usefulness.value)
    start = f"{capitalise(aim.title)} is {value} on these rows"
    if aim.is_cost:
        start = f"1,000 decisions cost {value} on these rows"
    if usefulness.without_model is None:
        return f"{start}; no decision without a model keeps the goal."
    return f"{start}; {_baseline_text(usefulness)}."


def _perfect_text(separation: Separation) -> str:
    errors = "the best threshold decides every row rightly"
    if separation.least_error > 0:
        share = percent(separation.least_error)
        errors = f"at the best threshold only {share} of either class are decided wrongly"
    return (
        f"{capitalise(errors)}. Often a column gives the answer away that is known only "
        "afterwards, or the same cases occur in training and test."
    )


def _few_rows_text(diagnosis: Diagnosis, evidence: Evidence) -> str:
    if diagnosis.rows.is_enough:
        return ""
    names = (evidence.names.negatives, evidence.names.positives)
    return f" With {diagnosis.rows.n:,} {names[diagnosis.rows.place]} it may also be luck."


def _use_text(diagnosis: Diagnosis, evidence: Evidence) -> str:
    usefulness = diagnosis.usefulness
    shown = "it is shown to be better than no model"
    if usefulness.proof == Proof.FOLDS:
        shown = "the models of the folds are shown to be better than no model"
    reason = f"{shown}. {_gain_text(usefulness)}"
    cautions = "".join(f" {caution}" for caution in _cautions(diagnosis, evidence))
    if diagnosis.advice == Advice.USE:
        return f"Use it: {reason}{cautions}"
    better = "A better model would help: try other features, or look for wrong labels."
    if diagnosis.advice == Advice.WEAK:
        weak = f"it is weak: {lower(_pairs_text(diagnosis.separation, evidence))}"
        return (
            f"Use it only if so weak a model is worth its errors: {reason} But {weak} {better}"
            f"{cautions}"
        )
    improve = f" {better}" if diagnosis.separation.strength != Strength.STRONG else ""
    return f"Use it with care, or improve it: {reason}{improve}{cautions}"


def _cautions(diagnosis: Diagnosis, evidence: Evidence) -> list[str]:
    """Return what should be known before the decision is used."""
    cautions = []
    goal = diagnosis.goal
    if diagnosis.usefulness.proof == Proof.FOLDS:
        cautions.append("Keep rows apart for a test of the deployed model.")
    if goal is not None and goal.state == State.REACHED:
        if any(item.is_exceeded for item in goal.floors):
            cautions.append("It flags more than was asked for, which may be chance.")
        else:
            cautions.append("The goal is reached on these rows, but not proved.")
    if goal is not None and goal.state == State.UNSURE:
        cautions.append(f"By the goal it is not shown to differ from {OWN}.")
    if diagnosis.doubts:
        cautions.append(" ".join(_on_deciding_rows(s.message, evidence) for s in diagnosis.doubts))
    if not diagnosis.rows.is_enough:
        names = (evidence.names.negatives, evidence.names.positives)
        cautions.append(f"There are few {names[diagnosis.rows.place]}.")
    if _are_mostly_false(diagnosis.alarms):
        cautions.append("Most alarms are false.")
    if diagnosis.shift is not None and diagnosis.shift.is_uncertain:
        cautions.append("The shift of the threshold may be chance.")
    return cautions


def _pairs_text(found: Separation, evidence: Evidence) -> str:
    """Return the area under the curve in words, with its interval."""
    return (
        f"It ranks {_pair_count(found)} of 100 pairs of one row of each class rightly "
        f"{_auc_interval_text(found, evidence)}; chance ranks 50."
    )


def _auc_interval_text(found: Separation, evidence: Evidence) -> str:
    low = floor(100 * found.low)
    high = ceil(100 * found.high)
    return f"({100 * evidence.confidence:.6g}% interval: {low} to {high})"


def _pair_count(found: Separation) -> str:
    """Return how many of 100 pairs are ranked rightly; only perfect scores rank all or none."""
    count = round(100 * found.auc)
    if count == 100 and found.auc < 1:
        return "more than 99"
    if count == 0 and found.auc > 0:
        return "fewer than 1"
    return str(count)


def _separation_finding(diagnosis: Diagnosis, evidence: Evidence) -> Finding:
    found = diagnosis.separation
    names = evidence.names
    # Rows that were seen, or may be alike in a way that is not known, have no such interval.
    interval = ""
    if evidence.certificate.status != "nominal":
        interval = f" {_auc_interval_text(found, evidence)}"
    text = (
        f"Draw one of the {names.positives} and one of the {names.negatives}: in "
        f"{_pair_count(found)} of 100 such pairs the model gives the first the higher score"
        f"{interval}. By chance it would in 50. No threshold does better than "
        f"{percent(found.least_error)} errors, averaged over both classes."
    )
    level, title = _separation_title(found, diagnosis.usefulness)
    if found.strength == Strength.PERFECT and found.ranking == Ranking.SEPARATES:
        text = f"{text} {_perfect_text(found)}"
    return Finding("separation", level, title, text)


def _separation_title(found: Separation, usefulness: Usefulness) -> tuple[Level, str]:
    if found.ranking == Ranking.REVERSED:
        return "bad", "The scores are reversed"
    if found.ranking == Ranking.CHANCE:
        if usefulness.proof in (Proof.SHOWN, Proof.FOLDS):
            return "caution", "The scores as a whole are not shown to rank better than chance"
        if found.is_near_chance:
            return "bad", "The scores are no better than chance"
        return "bad", "The scores are not shown to be better than chance"
    return {
        Strength.PERFECT: ("caution", "The scores separate the classes almost perfectly"),
        Strength.STRONG: ("good", "The scores separate the classes"),
        Strength.FAIR: ("caution", "The scores separate the classes in part"),
        Strength.WEAK: ("caution", "The scores separate the classes weakly"),
    }[found.strength]  # type: ignore[return-value]


def proof_text(total: float, n_classes: int, confidence: float) -> str:
    """Return the bound of the sum of error rates, beside what chance reaches."""
    return (
        f"With {sure(confidence)}, the shares of each class decided wrongly add up to at most "
        f"{at_most(total)} in the long run. By chance they add up to {n_classes - 1}00%."
    )


def nothing_finding(reason: str) -> Finding:
    """Return that rows certify nothing."""
    return Finding("proof", "bad", "Nothing is shown: these rows certify nothing", sentence(reason))


def _proof_finding(diagnosis: Diagnosis, evidence: Evidence) -> Finding:
    """Return whether the decision is shown to be better than without a model."""
    usefulness = diagnosis.usefulness
    if usefulness.proof == Proof.NOTHING:
        return nothing_finding(evidence.certificate.reason)
    text = proof_text(usefulness.sum_of_bounds, 2, evidence.confidence)
    if usefulness.gain is not None:
        text = f"{text} {_gain_interval_text(usefulness, evidence)}"
    policy = _POLICIES[usefulness.policy]
    if not usefulness.is_better_than_chance:
        policy = "chance"
    level, title = {
        Proof.SHOWN: ("good", "Shown to be better than no model"),
        Proof.FOLDS: ("caution", "Shown to be better than no model for the models of the folds"),
        Proof.NOT_SHOWN: ("bad", f"Not shown to be better than {policy}"),
        Proof.WORSE: ("bad", f"Worse than {_POLICIES[usefulness.policy]}"),
    }[usefulness.proof]
    return Finding("proof", level, title, text)  # type: ignore[arg-type]


def _gain_interval_text(usefulness: Usefulness, evidence: Evidence) -> str:
    aim = usefulness.aim
    low, high = usefulness.gain or (math.nan, math.nan)
    text = _gain_text(usefulness)
    level = f"{100 * evidence.confidence:.6g}%, by resampling"
    return f"{text} The gain lies between {aim.text(low)} and {aim.text(high)} ({level})."


def _are_mostly_false(alarms: Alarms) -> bool:
    return alarms.precision is not None and alarms.precision < 0.5


def _alarm_finding(alarms: Alarms) -> Finding | None:
    """Return that most alarms are false, which both error rates together do not show."""
    precision = alarms.precision
    if precision is None or not _are_mostly_false(alarms):
        return None
    base = 100 if precision >= 0.0095 else 1000
    text = f"Of {base:,} alarms about {base - round(base * precision):,} are false."
    advice = "Ask whether a hit is worth that many false alarms; enter your costs at the slider."
    return Finding("alarms", "caution", "Most alarms are false", text, advice)


def _row_finding(diagnosis: Diagnosis, evidence: Evidence) -> Finding | None:
    names = (evidence.names.negatives, evidence.names.positives)
    of_class = {"specificity": names[0], "recall": names[1]}
    name = names[diagnosis.rows.place]
    if evidence.is_clustered:
        name = f"clusters of {name}"
        return row_finding(diagnosis.rows, name, {}, "clusters", diagnosis.asks_for_rows)
    return row_finding(diagnosis.rows, name, of_class, "rows", diagnosis.asks_for_rows)


def row_finding(
    rows: RowCount, name: str, of_class: dict[str, str], unit: str, asks_for_rows: bool
) -> Finding | None:
    """Return whether rows are too few for the goal, else what the smallest class can show.

    `of_class` names the rows of each floor on one class. That there are enough rows is not said
    where something else asks for more.
    """
    text = (
        f"With {rows.n:,} {name}, no error rate below {at_most(rows.least_bound)} can be shown, "
        "even without a single error."
    )
    if rows.is_very_few or (not rows.is_enough and rows.unproved is None):
        level: Level = "bad" if rows.is_very_few else "caution"
        advice = (
            f"For a claim of at most 5%, collect {rows.needed:,} or more {name} and keep them for "
            "a test."
        )
        if rows.chose_threshold:
            text = f"{text[:-1]}: part of the confidence pays for the choice of the threshold."
            advice = (
                f"For a claim of at most 5%, keep {rows.needed:,} or more {name} for a test of "
                "their own."
            )
        return Finding("rows", level, f"There are few {name}", text, advice)
    if rows.unproved is not None:
        return _unproved_finding(rows, rows.unproved, of_class, unit)
    if asks_for_rows:
        return None
    title = f"There are enough {name} to show an error rate of 5%"
    return Finding("rows", "good", title, text)


def _unproved_finding(rows: RowCount, item: Floor, of_class: dict[str, str], unit: str) -> Finding:
    advice = f"More {unit} are needed to prove it."
    name = of_class.get(item.name, unit)
    if rows.needed_for_floor is not None:
        advice = f"At this rate {rows.needed_for_floor:,} {name} in a test would prove it."
    text = (
        f"What is seen, {percent(item.reached)}, keeps the goal of {100 * item.asked:.6g}%; its "
        f"bound, {at_least(item.shown or 0.0)}, does not. {advice}"
    )
    return Finding("rows", "caution", f"There are too few {name} to prove the goal", text, advice)


def _shift_finding(shift: Shift | None) -> Finding | None:
    """Return whether other rows of the same kind would have moved the threshold the same way."""
    if shift is None:
        return None
    text = (
        "With other rows of the same kind, the threshold would mostly have fallen between "
        f"{number(shift.low)} and {number(shift.high)}."
    )
    if shift.is_uncertain:
        text = f"{text} {capitalise(OWN)} lies inside, so the shift may be chance."
        advice = "Choose the threshold on more rows."
        return Finding("stability", "caution", "The shift is uncertain", text, advice)
    if shift.own_threshold is None:
        return Finding("stability", "good", "Where the threshold falls is known", text)
    return Finding("stability", "good", "The direction of the shift is stable", text)


def _calibration_finding(found: Calibration | None, evidence: Evidence) -> Finding | None:
    """Return whether the model's own probabilities come true."""
    if found is None:
        return None
    text = (
        f"On average the model's own probability is {percent(found.mean)}, and "
        f"{percent(found.share)} are {evidence.names.positives}."
    )
    if found.n_off == 0:
        return Finding("calibration", "good", "Its probabilities come true", text)
    text = f"{text} In {found.n_off} of {found.n_groups} groups of rows they do not come true."
    advice = "Read its probabilities as a ranking, or calibrate the model."
    return Finding("calibration", "caution", "Its probabilities are off", text, advice)


def _doubt_finding(diagnosis: Diagnosis, evidence: Evidence) -> Finding | None:
    """Return what was doubtful when the threshold was chosen."""
    if not diagnosis.doubts:
        return None
    text = " ".join(status.message for status in diagnosis.doubts)
    is_solved = all(status.solved for status in diagnosis.doubts)
    level: Level = "caution" if is_solved else "bad"
    text = _on_deciding_rows(text, evidence)
    return Finding("status", level, "The threshold needs a second look", text)


# --- The comparison with other methods ------------------------------------------------------------


def lead_text(lead: Lead | None, evidence: Evidence) -> str | None:
    """Return how far ours is from the best of the other methods."""
    if lead is None:
        return None
    aim = Aim(evidence)
    names = evidence.names
    text = "Counted by row. " if evidence.is_clustered else ""
    if not lead.is_common_goal:
        text += "The others may have had another goal. "
    if aim.floors is not None:
        text += (
            f"{lead.n_keeping} of {lead.n_others} reach this one on these rows; ours "
            f"{'does' if lead.ours_keeps else 'does not'}. "
        )
    if lead.best is None or lead.ours is None or lead.theirs is None:
        return text.strip()
    place = "level with"
    if lead.ours != lead.theirs:
        place = "ahead of" if aim.is_better(lead.ours, lead.theirs) else "behind"
    found = f"{_difference_text(lead.more_found, lead.n_positive)} {names.positives}"
    flagged = f"{_difference_text(lead.more_flagged, lead.n_negative)} {names.negatives}"
    text += (
        f"By {aim.title}, ours is {place} {lead.best}: {aim.text(lead.ours)} against "
        f"{aim.text(lead.theirs)}. Ours finds {found} and flags {flagged}."
    )
    if lead.interval is None:
        return f"{text} Rows of one cluster are alike, so the difference may be chance."
    if lead.interval[0] <= 0 <= lead.interval[1]:
        chance = f"may be chance ({100 * evidence.confidence:.6g}%, by resampling)"
        return f"{text} On the same cases the difference {chance}."
    if aim.floors is not None and place == "behind":
        return f"{text} But none of these guarantees the goal."
    return text


def _difference_text(more: int, total: int) -> str:
    return f"{abs(more):,} {'fewer' if more < 0 else 'more'} of {total:,}"


# --- The unsure zone ------------------------------------------------------------------------------


def zone_facts(zone: Zone, evidence: Evidence) -> dict[str, Any]:
    """Return who is decided on either side of a zone, and who is left to a person."""
    names = evidence.names
    scores = evidence.scores
    is_unsure = zone.is_unsure(scores)
    is_positive = evidence.rows.is_positive
    left = (float(is_unsure[~is_positive].mean()), float(is_unsure[is_positive].mean()))
    sides = [
        _zone_side(names.negatives, names.positive, scores[~is_positive] > zone.high, left[0]),
        _zone_side(names.positives, names.negative, scores[is_positive] <= zone.low, left[1]),
    ]
    between = (1 - evidence.prevalence) * left[0] + evidence.prevalence * left[1]
    limits = []
    if math.isfinite(zone.low):
        limits.append(f"up to {number(zone.low)} are called {names.negative}")
    if math.isfinite(zone.high):
        limits.append(f"above {number(zone.high)} are called {names.positive}")
    text = "There are too few rows to decide safely. "
    if limits:
        text = f"{capitalise(names.cases)} with a score {' and '.join(limits)}. "
    person = f"A person must decide {percent(between)} of {names.cases}."
    if zone.low == zone.high:
        person = "No person is needed: one threshold keeps both guarantees."
    return {
        "low": zone.low,
        "high": zone.high,
        "unsure": between,
        "found_on": zone.n_samples,
        "sentence": f"{text}{person}",
        "sides": sides,
        "promise": zone.message,
    }


def _zone_side(who: str, other: str, is_wrong: np.ndarray, left: float) -> str:
    return (
        f"Of {who}, {is_wrong.sum():,} of {len(is_wrong):,} are called {other} here; a person must "
        f"decide {percent(left)}."
    )
