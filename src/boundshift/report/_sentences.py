"""All sentences of a report on two classes. Nothing here decides: it words judgements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from math import ceil, floor, log10

import numpy as np

from boundshift._guarantees.zone import Zone
from boundshift._typing import Facts
from boundshift._words import (
    METRIC_MEANINGS,
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
    Alarms,
    ClassErrors,
    Diagnosis,
    Policy,
    Usefulness,
    Verdict,
)
from boundshift.report._panels import Lead
from boundshift.rules import Cost

WHERE = {
    "test": "the test rows",
    "deciding": "the rows that chose the threshold",
    "seen": "these rows",
}
OWN = "the model's own threshold"
_VERBS = ("flags", "misses")  # what is wrong with rows of each class
POLICIES = {
    Policy.NOBODY: "flagging nobody",
    Policy.EVERYONE: "flagging everyone",
    Policy.AT_RANDOM: "flagging at random",
}


def say(
    bullets: Sequence[Sequence[Sentence]],
    status: str,
    note: str,
) -> Facts:
    """Return a verdict as bullets of parts, as a page shows it."""
    sentences = [join(parts) for parts in bullets]
    return {
        "sentence": " ".join(sentences),
        "sentences": sentences,
        "bullets": bullets,
        "status": status,
        "note": note,
    }


def join(parts: Sequence[Sentence]) -> str:
    """Return parts as one text."""
    return " ".join(part.text for part in parts)


def explain_metrics(metrics: Iterable[str], names: Names) -> list[tuple[str, str]]:
    """Return the title and the meaning of what the page counts."""
    rates = [
        ("Recall", f"the share of {names.positives} that are flagged"),
        ("Specificity", f"the share of {names.negatives} that are not flagged"),
        ("Precision", "the share of alarms that are right"),
    ]
    others = [
        (capitalise(METRIC_TITLES[name]), meaning)
        for name, meaning in METRIC_MEANINGS.items()
        if name in metrics
    ]
    return rates + others


def capitalise(text: str) -> str:
    """Return a text with a capital letter first."""
    return f"{text[:1].upper()}{text[1:]}"


def lower(title: str) -> str:
    """Return a title as it stands within a sentence."""
    return f"{title[:1].lower()}{title[1:]}"


def class_names(evidence: Evidence) -> tuple[str, str]:
    """Return what the rows of each class are called, of the negative class first."""
    return evidence.names.negatives, evidence.names.positives


def where_of(evidence: Evidence) -> str:
    """Return on which rows figures were counted."""
    return f"on {WHERE[evidence.judged_on]}"


# --- The goal -------------------------------------------------------------------------------------


def goal_facts(evidence: Evidence, diagnosis: Diagnosis) -> Facts | None:
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
    together = " in all floors together" if n_bounds > 1 else ""
    for item in goal.floors:
        place = _floor_place(item, evidence)
        is_named = len(goal.floors) > 1
        parts += say_floor(item, place, evidence.confidence, together, is_named=is_named)
    if goal.state == State.REACHED and evidence.boundary.guaranteed:
        parts.append(Sentence("The rows that chose the threshold guarantee it."))
    if goal.is_asked:
        parts += _say_aim(aim, goal.aim, evidence)
    if goal.is_unmet:
        parts.append(Sentence(on_deciding_rows(evidence.boundary.message, evidence)))
    return {
        "state": goal.state,
        "word": _goal_word(goal),
        "sentence": join(parts),
        "parts": parts,
        "floors": goal.floors,
        "aim": goal.aim,
    }


def on_deciding_rows(message: str, evidence: Evidence) -> str:
    """Return a message of the search, which speaks of the rows that chose the threshold."""
    if evidence.judged_on == "deciding":
        return message
    return f"On the rows that chose the threshold: {lower(message)}"


def floor_wish(item: Floor, names: Names) -> str:
    """Return what a floor asks for."""
    share = f"{100 * item.asked:.6g}%"
    capacity = f"{100 * item.asked:.4g}%"
    return {
        "recall": f"find at least {share} of {names.positives} (recall)",
        "specificity": f"leave at least {share} of {names.negatives} unflagged (specificity)",
        "precision": f"be right in at least {share} of the alarms (precision)",
        "npv": f"be right in at least {share} of {names.cases} that are not flagged (npv)",
        "flagged": f"flag {capacity} of {names.cases} (capacity)",
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


def _goal_word(goal: Goal) -> str:
    """Return in a few words how far the goal is reached; none if nothing is to compare with."""
    if goal.floors:
        return next(floor_word(item) for item in goal.floors if item.state == goal.state)
    return {
        State.BETTER: f"Better than at {OWN}",
        State.WORSE: f"Worse than at {OWN}",
        State.UNSURE: f"Not shown to differ from {OWN}",
    }.get(goal.state, "")


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
    item: Floor, place: str, confidence: float, together: str = "", *, is_named: bool = True
) -> list[Sentence]:
    """Return what is reached of a floor, and its bound, which may hold together with others."""
    word = floor_word(item)
    if is_named:
        word = f"{capitalise(item.name)} {lower(word)}"
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


def _say_aim(aim: Aim, reached: Reached, evidence: Evidence) -> list[Sentence]:
    """Return what is reached, its bound, and how far it is from the model's own threshold."""
    now = aim.text(reached.now)
    start = f"1,000 decisions cost {now}" if aim.is_cost else f"{capitalise(aim.title)}: {now}"
    start = f"{start} {where_of(evidence)}"
    if reached.before is not None:
        before = aim.text(reached.before)
        change = "as" if aim.text(reached.now) == before else f"instead of {before}"
        start = f"{start} {change} at {OWN}"
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


def _bound_text(aim: Aim, shown: float) -> str:
    """Return a bound, rounded so that it still bounds: to four digits or three decimals."""
    step = 0.001
    if aim.is_cost and shown > 0:
        step = 10.0 ** (floor(log10(shown)) - 3)
    if aim.is_maximised:
        return f"at least {aim.text(floor(shown / step + 1e-9) * step)}"
    return f"at most {aim.text(ceil(shown / step - 1e-9) * step)}"


def baseline_text(usefulness: Usefulness, aim: Aim) -> str:
    """Return what is reached without a model."""
    value = aim.text(usefulness.without_model or 0.0)
    name = POLICIES[usefulness.policy]
    if aim.is_cost:
        return f"{name} would cost {value}"
    if usefulness.policy == Policy.AT_RANDOM:
        name = "chance alone"
        if aim.is_capacity:
            name = "flagging as many at random"
        elif aim.floors is not None:
            name = "chance alone, with the goal kept,"
    return f"{name} would reach {value}"


# --- The verdict ----------------------------------------------------------------------------------


def verdict_facts(verdict: Verdict, evidence: Evidence) -> Facts:
    """Return what changes for both classes, in natural frequencies."""
    errors = [
        *_say_errors(1, verdict.missed, evidence),
        *_say_errors(0, verdict.flagged, evidence),
    ]
    alarms = _say_alarms(verdict, evidence)
    return {
        "flagged": verdict.alarms.flagged,
        "precision": verdict.alarms.precision,
        **say([errors, alarms], evidence.certificate.status, _note(evidence)),
    }


def _say_errors(place: int, errors: ClassErrors, evidence: Evidence) -> list[Sentence]:
    """Return how many rows of a class are decided wrongly, and its bound, if one is certified."""
    text = (_averaged_text if evidence.is_clustered else _counted_text)(place, errors, evidence)
    parts = [Sentence(f"{text}.")]
    if errors.bound is not None:  # only the bound of a rate, not of a count, is claimed
        bound = claim(f"at most {at_most(errors.bound)}", evidence.confidence)
        parts = [Sentence(f"{text},"), Sentence(f"{bound}.", "certified")]
    if evidence.is_clustered:
        share = percent(errors.wrong / errors.n)
        parts.append(Sentence(f"Counted by row, it {_VERBS[place]} {share}."))
    return parts


def _averaged_text(place: int, errors: ClassErrors, evidence: Evidence) -> str:
    n_clusters = (evidence.certificate.n_clusters or (0, 0))[place]
    text = (
        f"Averaged over {n_clusters:,} clusters of {class_names(evidence)[place]}, each counting "
        f"once, the new threshold {_VERBS[place]} {percent(errors.share)}"
    )
    return text if errors.before is None else f"{text} ({OWN}: {percent(errors.before)})"


def _counted_text(place: int, errors: ClassErrors, evidence: Evidence) -> str:
    shares = [errors.share] if errors.before is None else [errors.share, errors.before]
    base = _choose_base(shares)
    wrong = round(base * errors.share)
    text = f"Out of {base:,} {class_names(evidence)[place]}, the new threshold {_VERBS[place]}"
    if evidence.certificate.status == "nominal":
        text = f"Here, {lower(text)} {wrong:,}"
    else:
        text = f"{text} about {wrong:,}" if errors.share else f"{text} none"
    if errors.before is None:
        return text
    old = round(base * errors.before)
    return f"{text}, as {OWN} does" if old == wrong else f"{text} ({OWN}: {old:,})"


def _choose_base(shares: Sequence[float]) -> int:
    """Return the denominator of a count: 100, or more if a share would vanish."""
    smallest = min((abs(share) for share in shares if share), default=1.0)
    return next((base for base in (100, 1000, 10_000) if smallest * base >= 0.95), 100_000)


def _say_alarms(verdict: Verdict, evidence: Evidence) -> list[Sentence]:
    """Return how many alarms are right, out of a thousand rows, or of more if hits would vanish."""
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
            f": {right:,} rightly and {alarms - right:,} wrongly, so {percent(now.precision)} of "
            "its alarms are right (precision)"
        )
    before = _alarms_before(verdict.alarms_before, base)
    return [Sentence(f"{text}.{before}")]


def _alarms_before(old: Alarms | None, base: int) -> str:
    if old is None:
        return ""
    if old.precision is None:
        return f" {capitalise(OWN)} flags none."
    return (
        f" {capitalise(OWN)} flags {round(base * old.flagged):,}, and {percent(old.precision)} of "
        "its alarms are right."
    )


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


# --- The comparison with other methods ------------------------------------------------------------


def lead_text(lead: Lead | None, evidence: Evidence) -> str | None:
    """Return how far ours is from the best of the other methods."""
    if lead is None:
        return None
    has_floors = Aim(evidence).floors is not None
    parts = ["Counted by row."] if evidence.is_clustered else []
    if not lead.is_common_goal:
        parts.append("The others may have had another goal.")
    if has_floors:
        ours = "does" if lead.ours_keeps else "does not"
        parts.append(
            f"{lead.n_keeping} of {lead.n_others} reach this one on these rows; the new threshold "
            f"{ours}."
        )
    if lead.best is not None and lead.ours is not None and lead.theirs is not None:
        parts += _compare_with_best(lead.best, lead.ours, lead.theirs, lead, evidence)
    return " ".join(parts)


def _compare_with_best(
    best: str, ours: float, theirs: float, lead: Lead, evidence: Evidence
) -> list[str]:
    aim = Aim(evidence)
    names = evidence.names
    place = "level with"
    if ours != theirs:
        place = "ahead of" if aim.is_better(ours, theirs) else "behind"
    text = f"By {aim.title}, the new threshold is {place} {best}: {aim.text(ours)} against "
    parts = [f"{text}{aim.text(theirs)}."]
    if lead.is_same:
        return [*parts, "Both decide alike."]
    negative, positive = evidence.sample.n_samples
    found = f"{_difference_text(lead.more_found, positive)} {names.positives}"
    flagged = f"{_difference_text(lead.more_flagged, negative)} {names.negatives}"
    parts.append(f"It finds {found} and flags {flagged}.")
    if lead.interval is None:
        parts.append("Rows of one cluster are alike, so the difference may be chance.")
    elif lead.interval[0] <= 0 <= lead.interval[1]:
        level = f"{100 * evidence.confidence:.6g}%, by resampling"
        parts.append(f"On the same cases the difference may be chance ({level}).")
    elif aim.floors is not None and ours != theirs and not aim.is_better(ours, theirs):
        parts.append("But none of these guarantees the goal.")
    return parts


def _difference_text(more: int, total: int) -> str:
    return f"{abs(more):,} {'fewer' if more < 0 else 'more'} of {total:,}"


# --- The unsure zone ------------------------------------------------------------------------------


def zone_facts(zone: Zone, evidence: Evidence) -> Facts:
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
