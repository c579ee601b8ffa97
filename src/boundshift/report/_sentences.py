"""All sentences of a report on two classes. Nothing here decides: it words judgements.

First the three points at the top, then the goal, strong and weak points, and the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Literal

from boundshift._guarantees.certificate import Certificate
from boundshift._guarantees.zone import Zone
from boundshift._typing import BoolArray, Facts
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
from boundshift.report._goal import OF_CLASS, Aim, Floor, Goal, Reached, State
from boundshift.report._judgement import (
    Advice,
    Alarms,
    Calibration,
    ClassErrors,
    Diagnosis,
    Policy,
    Proof,
    Ranking,
    RowCount,
    Separation,
    Strength,
    Usefulness,
    Verdict,
)
from boundshift.report._panels import Lead
from boundshift.rules import Cost, GMean

WHERE = {
    "test": "the test rows",
    "deciding": "the rows that chose the threshold",
    "seen": "these rows",
}
_OWN = "the model's own threshold"
_POLICIES = {
    Policy.NOBODY: "flagging nobody",
    Policy.EVERYONE: "flagging everyone",
    Policy.AT_RANDOM: "flagging at random",
}
_BETTER_MODEL = "A better model would help: try other features, or look for wrong labels."
GIVEN_AWAY = (
    "Often a column gives the answer away that is known only afterwards, or the same cases occur "
    "in training and test."
)


def say(bullets: Sequence[Sequence[Sentence]], status: str, note: str) -> Facts:
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


def say_claimed(text: str, bound: float, confidence: float) -> list[Sentence]:
    """Return what is seen, and the bound that is certified."""
    limit = claim(f"at most {at_most(bound)}", confidence)
    return [Sentence(f"{text},"), Sentence(f"{limit}.", "certified")]


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


def _class_names(evidence: Evidence) -> tuple[str, str]:
    return evidence.names.negatives, evidence.names.positives


def _where(evidence: Evidence) -> str:
    return f"on {WHERE[evidence.judged_on]}"


def _on_deciding_rows(message: str, evidence: Evidence) -> str:
    """Return a message of the search, which concerns the rows that chose the threshold."""
    if evidence.judged_on == "deciding":
        return message
    return f"On the rows that chose the threshold: {lower(message)}"


def _resampled(evidence: Evidence) -> str:
    return f"({100 * evidence.confidence:.6g}%, by resampling)"


# --- What is missed and flagged -------------------------------------------------------------------


def verdict_facts(verdict: Verdict, evidence: Evidence) -> Facts:
    """Return what changes for both classes, in natural frequencies."""
    errors = [
        *_say_errors(1, ("misses", "missed"), verdict.missed, evidence),
        *_say_errors(0, ("flags", "flagged"), verdict.flagged, evidence),
    ]
    alarms = Sentence(_alarms_text(verdict.alarms, verdict.alarms_before, evidence))
    return {
        "flagged": verdict.alarms.flagged,
        "precision": verdict.alarms.precision,
        **say([errors, [alarms]], evidence.certificate.status, _note(evidence)),
    }


def _say_errors(
    place: int, verbs: tuple[str, str], errors: ClassErrors, evidence: Evidence
) -> list[Sentence]:
    """Return how many rows of a class are decided wrongly, its bound, and how many were before."""
    name = _class_names(evidence)[place]
    if evidence.is_clustered:
        n_clusters = (evidence.certificate.n_clusters or (0, 0))[place]
        text = (
            f"Averaged over {n_clusters:,} clusters of {name}, the new threshold {verbs[0]} "
            f"{percent(errors.share)} (counted by row: {percent(errors.wrong / errors.n)})"
        )
        before = "" if errors.before is None else percent(errors.before)
    else:
        base = _choose_base([errors.share, errors.before or 0.0])
        text = f"Out of {base:,} {name}, the new threshold {verbs[0]} {_about(errors, base)}"
        before = "" if errors.before is None else f"{round(base * errors.before):,}"
    parts = [Sentence(f"{text}.")]
    if errors.bound is not None:
        parts = say_claimed(text, errors.bound, evidence.confidence)
    if before:
        parts.append(Sentence(f"{capitalise(_OWN)} {verbs[1]} {before}."))
    return parts


def _about(errors: ClassErrors, base: int) -> str:
    return f"about {round(base * errors.share):,}" if errors.share else "none"


def _choose_base(shares: Sequence[float]) -> int:
    """Return the denominator of a count: 100, or more if a share would vanish."""
    smallest = min((abs(share) for share in shares if share), default=1.0)
    return next((base for base in (100, 1000, 10_000) if smallest * base >= 0.95), 100_000)


def _alarms_text(now: Alarms, before: Alarms | None, evidence: Evidence) -> str:
    """Return how many alarms are right, out of a thousand rows, or of more if hits would vanish."""
    names = evidence.names
    base = max(1000, _choose_base([evidence.prevalence, now.hits]))
    alarms = round(base * now.flagged)
    right = min(alarms, round(base * now.hits))
    text = (
        f"Out of {base:,} {names.cases}, among them {round(base * evidence.prevalence):,} "
        f"{names.positives}, the new threshold flags {f'{alarms:,}' if now.flagged else 'none'}"
    )
    if evidence.is_clustered:
        text = f"Counted by row, {lower(text)}"
    if now.precision is not None:
        text += (
            f": {right:,} rightly and {alarms - right:,} wrongly, so {percent(now.precision)} of "
            "the alarms are right (precision)"
        )
    if before is None:
        return f"{text}."
    if before.precision is None:
        return f"{text}. {capitalise(_OWN)} flagged none."
    return (
        f"{text}. {capitalise(_OWN)} flagged {round(base * before.flagged):,}, of which "
        f"{percent(before.precision)} were right."
    )


def _note(evidence: Evidence) -> str:
    """Return which rows the verdict rests on."""
    n = f"{sum(evidence.by_row.n_samples):,}"
    if not evidence.certificate.certified:
        return f"Nothing here is certified. {sentence(evidence.by_row.reason)}"
    if evidence.is_tested:
        among = f" in {evidence.n_clusters:,} clusters" if evidence.is_clustered else ""
        return (
            f"Measured on {n} test rows{among}. The “at most” is valid only if they were used "
            "neither for training nor for choosing the threshold. The other numbers are estimates."
        )
    return (
        f"Measured on the {n} rows that chose the threshold. The “at most” allows for that choice, "
        "if they were not used for training. The other numbers are optimistic."
    )


# --- The goal -------------------------------------------------------------------------------------


def goal_facts(evidence: Evidence, goal: Goal | None) -> Facts | None:
    """Return the goal with its sentences, None without one."""
    if goal is None:
        return None
    aim = Aim(evidence)
    wishes = [_floor_wish(item, evidence.names) for item in goal.floors]
    if goal.is_asked:
        wishes.append(f"then {_wish(aim, evidence)}" if goal.floors else _wish(aim, evidence))
    parts = [Sentence(f"Goal: {join_words(wishes)}.")]
    n_bounds = sum(item.shown is not None for item in goal.floors)
    together = " in all floors together" if n_bounds > 1 else ""
    for item in goal.floors:
        place = _floor_place(item, evidence)
        is_named = len(goal.floors) > 1
        parts += say_floor(item, place, evidence.confidence, together, is_named=is_named)
    if goal.is_asked:
        parts += _say_aim(aim, goal.aim, evidence)
    if goal.is_unmet:
        parts.append(Sentence(_on_deciding_rows(evidence.boundary.message, evidence)))
    word = {
        State.BETTER: f"Better than at {_OWN}",
        State.WORSE: f"Worse than at {_OWN}",
        State.UNSURE: f"Not shown to differ from {_OWN}",
    }.get(goal.state, "")
    if goal.floors:
        word = next(floor_word(item) for item in goal.floors if item.state == goal.state)
    return {
        "state": goal.state,
        "word": word,
        "sentence": join(parts),
        "parts": parts,
        "floors": goal.floors,
        "aim": goal.aim,
    }


def _floor_wish(item: Floor, names: Names) -> str:
    share = f"{100 * item.asked:.6g}%"
    capacity = f"{100 * item.asked:.4g}%"
    return {
        "recall": f"find at least {share} of {names.positives} (recall)",
        "specificity": f"leave at least {share} of {names.negatives} unflagged (specificity)",
        "precision": f"be right in at least {share} of the alarms (precision)",
        "npv": f"be right in at least {share} of {names.cases} that are not flagged (NPV)",
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
    reached = "Not proved on these rows"
    return {State.MISSED: "Missed", State.REACHED: reached, State.MET: "Met"}[item.state]


def _floor_place(item: Floor, evidence: Evidence) -> str:
    """Return on which rows a floor was counted, and how."""
    place = _where(evidence)
    if evidence.is_clustered and item.name in OF_CLASS:
        return f"{place}, averaged over clusters"
    if item.budget is None:
        return place
    flagged, allowed, n_rows = item.budget
    return f"{place}, {flagged:,} of {n_rows:,} where {allowed:,} were asked for"


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
    before = None if reached.before is None else aim.text(reached.before)
    start = f"{capitalise(aim.title)}: {now} {_where(evidence)}"
    if aim.is_cost:
        start = f"1,000 decisions cost {now} {_where(evidence)}"
    if before is not None:
        start = f"{start} {'the same as' if now == before else f'instead of {before}'} at {_OWN}"
    parts = [Sentence(f"{start}.")]
    if reached.shown is not None:
        given = ""
        if aim.rule.depends_on_prevalence:
            given = f", where {percent(aim.prevalence)} are {evidence.names.positives},"
        bound = claim(_bound_text(aim, reached.shown), evidence.confidence, given)
        parts = [Sentence(f"{start};"), Sentence(f"{bound}.", "certified")]
    if before is None or now == before:
        return parts
    if reached.difference is None:
        parts.append(Sentence("Rows of one cluster are alike, so the difference may be chance."))
    elif evidence.is_tested:
        low, high = (aim.text(end) for end in reached.difference)
        chance = ", so it may be chance" if reached.state == State.UNSURE else ""
        parts.append(
            Sentence(
                f"The difference lies between {low} and {high} {_resampled(evidence)}{chance}."
            )
        )
    return parts


def _bound_text(aim: Aim, shown: float) -> str:
    """Return a bound, rounded so that it still bounds: to four digits or three decimals."""
    step = 0.001
    if aim.is_cost and shown > 0:
        step = 10.0 ** (floor(log10(shown)) - 3)
    if aim.is_maximised:
        return f"at least {aim.text(floor(shown / step + 1e-9) * step)}"
    return f"at most {aim.text(ceil(shown / step - 1e-9) * step)}"


# --- What to do next ------------------------------------------------------------------------------

Level = Literal["good", "caution", "bad"]

_DO_NOT_USE = (
    Advice.TEST,
    Advice.NO_METHOD,
    Advice.REVERSE,
    Advice.CHANCE,
    Advice.NO_MODEL,
    Advice.NOT_SHOWN,
)


def level_of(advice: Advice) -> Level:
    """Return the colour of an advice."""
    if advice == Advice.USE:
        return "good"
    return "bad" if advice in _DO_NOT_USE else "caution"


def _advice_text(diagnosis: Diagnosis, evidence: Evidence) -> str:
    """Return what to do next, with its reason."""
    match diagnosis.advice:
        case Advice.TEST:
            remedy = "" if evidence.doubt is None else evidence.doubt.remedy
            return test_text(evidence.certificate.reason, remedy)
        case Advice.NO_METHOD:
            failed = next(status for status in diagnosis.doubts if not status.solved)
            message = _on_deciding_rows(failed.message, evidence)
            return f"Do not use it: no threshold was found. {message}"
        case Advice.REVERSE:
            return (
                "Do not use it as it is: its scores are reversed. "
                f"{_pairs_text(diagnosis.separation, evidence)} Check that the positive class is "
                "the right one, and that labels mean the same in all files. If they do, negate "
                "the scores."
            )
        case Advice.CHANCE:
            return _chance_text(diagnosis.separation, evidence)
        case Advice.NO_MODEL | Advice.NOT_SHOWN:
            return _useless_text(diagnosis, evidence)
        case Advice.CHECK:
            return check_text(_perfect_text(diagnosis.separation))
        case Advice.MISSED:
            return _missed_floors_text(diagnosis.goal)
        case Advice.OWN_THRESHOLD:
            return (
                f"Use {_OWN}: by the goal it does better{_values_text(diagnosis.goal, evidence)}."
            )
        case Advice.OTHER_METHOD:
            better = diagnosis.better_method
            return f"Use {better} instead: by the goal it does better on these rows."
    return _use_text(diagnosis, evidence)


def _values_text(goal: Goal | None, evidence: Evidence) -> str:
    """Return the value of the goal at both thresholds, the model's own one first."""
    if goal is None or goal.aim.before is None:
        return ""
    aim = Aim(evidence)
    now = aim.text(goal.aim.now)
    return f" ({aim.title} {aim.text(goal.aim.before)}, and {now} at the new threshold)"


def test_text(reason: str, remedy: str) -> str:
    """Return the advice on rows that certify nothing."""
    text = f"Test it before you use it: nothing is certified here. {sentence(reason)}"
    return f"{text} {remedy}".rstrip()


def check_text(reason: str) -> str:
    """Return the advice on results that are too good."""
    return f"Check these results before you use it: they are too good to be trusted. {reason}"


def missed_text(remedy: str, reason: str = "the goal is missed") -> str:
    """Return the advice on a goal that is missed."""
    return f"Improve it, because {reason}. Train a better model, {remedy}, or ask for less."


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


def _chance_text(found: Separation, evidence: Evidence) -> str:
    pairs = _pairs_text(found, evidence)
    if found.is_near_chance:
        return f"Do not use it: its scores are no better than chance. {pairs} {_BETTER_MODEL}"
    return (
        "Do not use it yet: these rows do not show that its scores are better than chance. "
        f"{pairs} {_more_rows_text(evidence)}"
    )


def _more_rows_text(evidence: Evidence) -> str:
    negative, positive = evidence.by_row.n_samples
    return collect_text(_class_names(evidence)[positive <= negative])


def collect_text(rarest: str) -> str:
    """Return what to do if rows do not show enough."""
    return f"Collect more rows, above all {rarest}, or train a better model."


def _useless_text(diagnosis: Diagnosis, evidence: Evidence) -> str:
    usefulness = diagnosis.usefulness
    policy = _POLICIES[usefulness.policy]
    baseline = usefulness.baseline
    if baseline is not None and usefulness.value == baseline.value and Aim(evidence).is_cost:
        return f"Do not use it: at these costs {policy} is cheapest, without any model."
    gain = "" if baseline is None else f" {_gain_text(usefulness, evidence)}"
    if diagnosis.advice == Advice.NO_MODEL:
        return f"Do not use it: {policy} does better, without any model.{gain}"
    text = f"Do not use it yet: these rows do not show that it is better than {policy}.{gain}"
    goal = diagnosis.goal
    if goal is not None and goal.floors and goal.state in (State.MET, State.REACHED):
        text = f"{text} That the goal is reached shows little: {policy} reaches it, too."
    return f"{text} {_more_rows_text(evidence)}"


def _gain_text(usefulness: Usefulness, evidence: Evidence) -> str:
    """Return what is reached by the goal, and what would be without a model."""
    aim = Aim(evidence)
    value = aim.text(usefulness.value)
    where = _where(evidence)
    if evidence.is_clustered:
        where = f"{where}, counted by row"
    start = f"{capitalise(aim.title)} is {value} {where}"
    if isinstance(aim.rule, GMean):
        start = f"{aim.title} ({METRIC_MEANINGS['g_mean']}) is {value} {where}"
    elif aim.is_cost:
        start = f"1,000 decisions cost {value} {where}"
    baseline = usefulness.baseline
    if baseline is None:
        return f"{start}; no decision without a model keeps the goal."
    name = _POLICIES[baseline.policy]
    without_model = aim.text(baseline.value)
    if aim.is_cost:
        return f"{start}; {name} would cost {without_model}."
    if baseline.policy == Policy.AT_RANDOM:
        name = "chance alone"
        if aim.is_capacity:
            name = "flagging as many at random"
        elif aim.asked:
            name = "chance alone, with the goal kept,"
    return f"{start}; {name} would reach {without_model}."


def _perfect_text(separation: Separation) -> str:
    errors = "At the best threshold no row is decided wrongly."
    if separation.least_error > 0:
        share = percent(separation.least_error)
        errors = f"At the best threshold only {share} of either class are decided wrongly."
    return f"{errors} {GIVEN_AWAY}"


def _use_text(diagnosis: Diagnosis, evidence: Evidence) -> str:
    """Return the advice to use a decision, with the reason, and where it stands with the goal."""
    reason = f"it is shown to be better than no model.{_goal_text(diagnosis.goal)}"
    if diagnosis.advice == Advice.USE:
        return f"Use it: {reason}"
    if diagnosis.advice == Advice.WEAK:
        weak = lower(_pairs_text(diagnosis.separation, evidence))
        return (
            f"Use it only if so weak a model is worth its errors: {weak} {capitalise(reason)} "
            f"{_BETTER_MODEL}"
        )
    cautions = []
    if diagnosis.separation.strength == Strength.FAIR:
        cautions.append("the scores separate the classes only in part")
    if not diagnosis.rows.is_enough:
        cautions.append(f"there are few {_class_names(evidence)[diagnosis.rows.place]}")
    if diagnosis.doubts:
        cautions.append("the threshold needs a second look, as said below")
    better = "" if diagnosis.separation.strength == Strength.STRONG else f" {_BETTER_MODEL}"
    return f"Use it with care: {join_words(cautions)}. {capitalise(reason)}{better}"


def _goal_text(goal: Goal | None) -> str:
    """Return where a decision stands with its goal, as a sentence that follows another."""
    if goal is None:
        return ""
    if goal.state == State.REACHED and any(item.is_exceeded for item in goal.floors):
        return " It flags more than was asked for, which may be chance."
    return {
        State.MET: " The goal is met.",
        State.REACHED: " The goal is reached on these rows, which do not prove it.",
        State.BETTER: f" By the goal it does better than {_OWN}.",
        State.UNSURE: f" By the goal it is not shown to differ from {_OWN}.",
    }.get(goal.state, "")


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


# --- Strong and weak points -----------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """One strong or weak point, and what to do about it."""

    key: str
    level: Level
    title: str
    text: str
    advice: str = ""


def diagnosis_facts(diagnosis: Diagnosis, evidence: Evidence) -> Facts:
    """Return strong and weak points, and what to do next."""
    findings = [
        _separation_finding(diagnosis, evidence),
        _proof_finding(diagnosis.usefulness, evidence),
        _few_rows_finding(diagnosis.rows, evidence),
        _shift_finding(evidence) if diagnosis.is_shift_uncertain else None,
        _calibration_finding(diagnosis.calibration, evidence),
        _doubt_finding(diagnosis, evidence),
    ]
    return {
        "findings": keep_findings(findings, evidence.certificate),
        "advice": diagnosis.advice,
        "level": level_of(diagnosis.advice),
        "next": _advice_text(diagnosis, evidence),
    }


def keep_findings(findings: Sequence[Finding | None], certificate: Certificate) -> list[Finding]:
    """Leave out strong points where nothing is certified: rows that were seen flatter."""
    known = [finding for finding in findings if finding is not None]
    return [finding for finding in known if certificate.certified or finding.level != "good"]


def _separation_finding(diagnosis: Diagnosis, evidence: Evidence) -> Finding:
    found = diagnosis.separation
    names = evidence.names
    # Rows that were seen, or may be alike in a way that is not known, have no such interval.
    interval = ""
    if evidence.certificate.certified:
        interval = f" {_auc_interval_text(found, evidence)}"
    text = (
        f"Take one of the {names.positives} and one of the {names.negatives}: in "
        f"{_pair_count(found)} of 100 such pairs the model gives the first the higher score"
        f"{interval}. By chance it would in 50. No threshold does better than "
        f"{percent(found.least_error)} errors, averaged over both classes."
    )
    level, title = _separation_title(found, diagnosis.usefulness)
    return Finding("separation", level, title, text)


def _separation_title(found: Separation, usefulness: Usefulness) -> tuple[Level, str]:
    if found.ranking == Ranking.REVERSED:
        return "bad", "The scores are reversed"
    if found.ranking == Ranking.CHANCE:
        if usefulness.proof == Proof.SHOWN:
            return "caution", "The scores as a whole are not shown to rank better than chance"
        if found.is_near_chance:
            return "bad", "The scores are no better than chance"
        return "bad", "The scores are not shown to be better than chance"
    titles: dict[Strength, tuple[Level, str]] = {
        Strength.PERFECT: ("caution", "The scores separate the classes almost perfectly"),
        Strength.STRONG: ("good", "The scores separate the classes"),
        Strength.FAIR: ("caution", "The scores separate the classes in part"),
        Strength.WEAK: ("caution", "The scores separate the classes weakly"),
    }
    return titles[found.strength]


def proof_text(total: float, n_classes: int, confidence: float) -> str:
    """Return the bound of the sum of error rates, beside what chance reaches."""
    return (
        f"With {sure(confidence)}, the shares of each class decided wrongly add up to at most "
        f"{at_most(total)} in the long run. By chance they add up to {n_classes - 1}00%."
    )


def _proof_finding(usefulness: Usefulness, evidence: Evidence) -> Finding | None:
    """Return whether the decision is shown to be better than without a model."""
    if usefulness.proof == Proof.NOTHING:
        return None
    text = proof_text(usefulness.sum_of_bounds, 2, evidence.confidence)
    if usefulness.gain is not None:
        text = f"{text} {_gain_text(usefulness, evidence)}"
        low, high = usefulness.gain
        if low < high:  # without a single error, resampling shows no spread
            of = Aim(evidence).text
            text = f"{text} The gain lies between {of(low)} and {of(high)} {_resampled(evidence)}."
    policy = _POLICIES[usefulness.policy]
    titles: dict[Proof, tuple[Level, str]] = {
        Proof.SHOWN: ("good", "Shown to be better than no model"),
        Proof.NOT_SHOWN: ("bad", f"Not shown to be better than {policy}"),
        Proof.WORSE: ("bad", f"Worse than {policy}"),
    }
    level, title = titles[usefulness.proof]
    return Finding("proof", level, title, text)


def _few_rows_finding(rows: RowCount, evidence: Evidence) -> Finding | None:
    negatives, positives = _class_names(evidence)
    name = positives if rows.place else negatives
    if evidence.is_clustered:
        return row_finding(rows, f"clusters of {name}", {}, "clusters")
    return row_finding(rows, name, {"specificity": negatives, "recall": positives}, "rows")


def row_finding(
    rows: RowCount, name: str, names_of_floors: Mapping[str, str], unit: str
) -> Finding | None:
    """Return whether rows are too few for the goal, or else for an error rate of 5%.

    `names_of_floors` has the rows of each floor that concerns one class.
    """
    floor_missed = rows.unproved
    if rows.is_very_few or (not rows.is_enough and floor_missed is None):
        text = (
            f"With {rows.n:,} {name}, no error rate below {at_most(rows.least_bound)} can be "
            "shown, even without a single error."
        )
        advice = (
            f"To show an error rate of at most 5%, collect {rows.needed:,} or more {name} and "
            "keep them for a test."
        )
        level: Level = "bad" if rows.is_very_few else "caution"
        return Finding("rows", level, f"There are few {name}", text, advice)
    if floor_missed is None:
        return None
    name = names_of_floors.get(floor_missed.name, unit)
    advice = f"More {unit} are needed to prove it."
    if rows.needed_for_floor is not None:
        advice = f"At this rate {rows.needed_for_floor:,} {name} in a test would prove it."
    text = (
        f"What is seen, {percent(floor_missed.reached)}, keeps the goal of "
        f"{100 * floor_missed.asked:.6g}%; its bound, {at_least(floor_missed.shown or 0.0)}, does "
        "not."
    )
    return Finding("rows", "caution", f"There are too few {name} to prove the goal", text, advice)


def _shift_finding(evidence: Evidence) -> Finding:
    """Return that other rows of the same kind might not have moved the threshold the same way."""
    low, high = evidence.interval or (math.nan, math.nan)
    text = (
        "With other rows of the same kind, the threshold would mostly have fallen between "
        f"{number(low)} and {number(high)}. {capitalise(_OWN)} lies inside, so the shift may be "
        "chance."
    )
    advice = "Choose the threshold on more rows."
    return Finding("stability", "caution", "The shift is uncertain", text, advice)


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


# --- The comparison with other methods, and the unsure zone ---------------------------------------


def lead_text(lead: Lead | None, evidence: Evidence) -> str | None:
    """Return how far ours is from the best of the other methods."""
    if lead is None:
        return None
    aim = Aim(evidence)
    parts = ["Counted by row."] if evidence.is_clustered else []
    if aim.asked:
        reaches = "reaches" if lead.ours_keeps else "misses"
        parts.append(
            f"The new threshold {reaches} the goal on these rows; {lead.n_keeping} of "
            f"{lead.n_others} other methods reach it."
        )
    if lead.best is not None:
        parts += _compare_with_best(lead, aim, evidence)
    return " ".join(parts)


def _compare_with_best(lead: Lead, aim: Aim, evidence: Evidence) -> list[str]:
    place = "level with"
    if lead.ours != lead.theirs:
        place = "ahead of" if aim.is_better(lead.ours, lead.theirs) else "behind"
    parts = [
        f"By {aim.title}, the new threshold is {place} {lead.best}: {aim.text(lead.ours)} against "
        f"{aim.text(lead.theirs)}."
    ]
    if lead.is_same:
        return [*parts, "Both decide alike."]
    counts = zip((lead.more_flagged, lead.more_found), evidence.sample.n_samples, strict=True)
    flagged, found = (
        f"{abs(more):,} {'fewer' if more < 0 else 'more'} of {n:,} {name}"
        for (more, n), name in zip(counts, _class_names(evidence), strict=True)
    )
    parts.append(f"It finds {found} and flags {flagged}.")
    if lead.interval is None:
        parts.append("Rows of one cluster are alike, so the difference may be chance.")
    elif lead.interval[0] <= 0 <= lead.interval[1]:
        parts.append(f"On the same cases the difference may be chance {_resampled(evidence)}.")
    elif aim.asked and place == "behind":
        parts.append("But none of these guarantees the goal.")
    return parts


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
    # No probability lies below 0, so such a limit decides nothing.
    decides_none = evidence.sample.are_probabilities() and -math.inf < zone.low < 0
    if math.isfinite(zone.low) and not decides_none:
        limits.append(f"up to {number(zone.low)} are called {names.negative}")
    if math.isfinite(zone.high):
        limits.append(f"above {number(zone.high)} are called {names.positive}")
    text = "There are too few rows to decide safely. "
    if limits:
        text = f"{capitalise(names.cases)} with a score {' and '.join(limits)}. "
    if decides_none:
        text += f"None is called {names.negative}: too many {names.positives} score lowest. "
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
        "is_shown": zone.precision is None and zone.status in ("zone", "empty"),
        "errors": list(map(at_most, zone.error_bounds)),
        "promise": zone.message,
    }


def _zone_side(who: str, other: str, is_wrong: BoolArray, left: float) -> str:
    return (
        f"Of {who}, {is_wrong.sum():,} of {len(is_wrong):,} are called {other} here; a person must "
        f"decide {percent(left)}."
    )
