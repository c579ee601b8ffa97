"""Strong and weak points of a report on two classes, and what to do next, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

from boundshift._guarantees.certificate import Certificate
from boundshift._typing import Facts
from boundshift._words import (
    METRIC_MEANINGS,
    METRIC_TITLES,
    at_least,
    at_most,
    join_words,
    number,
    percent,
    sentence,
    sure,
)
from boundshift.report._evidence import Evidence
from boundshift.report._goal import Aim, Floor, Goal, State
from boundshift.report._judgement import (
    Advice,
    Calibration,
    Diagnosis,
    Proof,
    Ranking,
    RowCount,
    Separation,
    Shift,
    Strength,
    Usefulness,
)
from boundshift.report._sentences import (
    OWN,
    POLICIES,
    baseline_text,
    capitalise,
    class_names,
    lower,
    on_deciding_rows,
    where_of,
)
from boundshift.rules import GMean

Level = Literal["good", "caution", "bad"]

_BETTER_MODEL = "A better model would help: try other features, or look for wrong labels."


@dataclass(frozen=True)
class Finding:
    """One strong or weak point, and what to do about it."""

    key: str
    level: Level
    title: str
    text: str
    advice: str = ""


LEVELS: dict[Advice, Level] = {
    Advice.TEST: "bad",
    Advice.NO_METHOD: "bad",
    Advice.REVERSE: "bad",
    Advice.CHANCE: "bad",
    Advice.NO_MODEL: "bad",
    Advice.NOT_SHOWN: "bad",
    Advice.ADD_ROWS: "caution",
    Advice.CHECK: "caution",
    Advice.MISSED: "caution",
    Advice.OWN_THRESHOLD: "caution",
    Advice.OTHER_METHOD: "caution",
    Advice.WEAK: "caution",
    Advice.CARE: "caution",
    Advice.USE: "good",
}


def diagnosis_facts(diagnosis: Diagnosis, evidence: Evidence) -> Facts:
    """Return strong and weak points, and what to do next."""
    findings = [
        _separation_finding(diagnosis, evidence),
        _proof_finding(diagnosis, evidence),
        _row_finding(diagnosis, evidence),
        _shift_finding(diagnosis.shift),
        _calibration_finding(diagnosis.calibration, evidence),
        _doubt_finding(diagnosis, evidence),
    ]
    level = LEVELS[diagnosis.advice]
    shown = keep_findings(findings, evidence.certificate)
    if level == "bad":  # where a threshold falls that is not to be used is no strong point
        shown = [item for item in shown if (item.key, item.level) != ("stability", "good")]
    return {
        "findings": shown,
        "advice": diagnosis.advice,
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
            message = on_deciding_rows(failed.message, evidence)
            return f"Do not use it: no threshold was found. {message}"
        case Advice.REVERSE:
            return _reversed_text(diagnosis.separation, evidence)
        case Advice.CHANCE:
            return _chance_text(diagnosis.separation, evidence)
        case Advice.NO_MODEL | Advice.NOT_SHOWN:
            return _useless_text(diagnosis, evidence)
        case Advice.CHECK:
            return (
                "Check these results before you use it: they are too good to be taken on trust. "
                f"{_perfect_text(diagnosis.separation)}"
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
    policy = POLICIES[usefulness.policy]
    is_same = usefulness.value == usefulness.without_model
    if is_same and Aim(evidence).is_cost:
        return f"Do not use it: at these costs {policy} is cheapest, without any model."
    if diagnosis.advice == Advice.NO_MODEL:
        gain = _gain_text(usefulness, evidence)
        return f"Do not use it: {policy} does better, without any model. {gain}"
    text = f"Do not use it yet: these rows do not show that it is better than {policy}."
    if usefulness.without_model is not None:
        text = f"{text} {_gain_text(usefulness, evidence)}"
    goal = diagnosis.goal
    if goal is not None and goal.floors and goal.state in (State.MET, State.REACHED):
        text = f"{text} That the goal is reached shows little: {policy} reaches it, too."
    return f"{text} {_more_rows_text(evidence)}"


def _gain_text(usefulness: Usefulness, evidence: Evidence) -> str:
    """Return what is reached by the goal, and what would be without a model."""
    aim = Aim(evidence)
    value = aim.text(usefulness.value)
    where = where_of(evidence)
    if evidence.is_clustered:
        where = f"{where}, counted by row"
    start = f"{capitalise(aim.title)} is {value} {where}"
    if isinstance(aim.rule, GMean):
        start = f"{aim.title} ({METRIC_MEANINGS['g_mean']}) is {value} {where}"
    elif aim.is_cost:
        start = f"1,000 decisions cost {value} {where}"
    if usefulness.without_model is None:
        return f"{start}; no decision without a model keeps the goal."
    return f"{start}; {baseline_text(usefulness, aim)}."


def _perfect_text(separation: Separation) -> str:
    errors = "the best threshold decides every row rightly"
    if separation.least_error > 0:
        share = percent(separation.least_error)
        errors = f"at the best threshold only {share} of either class are decided wrongly"
    return (
        f"{capitalise(errors)}. Often a column gives the answer away that is known only "
        "afterwards, or the same cases occur in training and test."
    )


def _use_text(diagnosis: Diagnosis, evidence: Evidence) -> str:
    """Return the advice to use a decision, with the reason, and where it stands with the goal."""
    goal = _goal_text(diagnosis.goal)
    reason = f"it is shown to be better than no model.{goal}"
    if diagnosis.usefulness.proof == Proof.FOLDS:
        reason = f"the models of the folds are shown to be better than no model.{goal}"
    if diagnosis.advice == Advice.USE:
        return f"Use it: {reason}"
    if diagnosis.advice == Advice.WEAK:
        weak = lower(_pairs_text(diagnosis.separation, evidence))
        return (
            f"Use it only if so weak a model is worth its errors: {weak} {capitalise(reason)} "
            f"{_BETTER_MODEL}"
        )
    text = f"Use it with care: {join_words(_cautions(diagnosis, evidence))}."
    better = "" if diagnosis.separation.strength == Strength.STRONG else f" {_BETTER_MODEL}"
    return f"{text} {capitalise(reason)}{better}"


def _cautions(diagnosis: Diagnosis, evidence: Evidence) -> list[str]:
    """Return the reasons for which care is advised."""
    cautions = []
    if diagnosis.separation.strength == Strength.FAIR:
        cautions.append("the scores separate the classes only in part")
    if diagnosis.usefulness.proof == Proof.FOLDS:
        cautions.append("the deployed model itself was not tested")
    if not diagnosis.rows.is_enough:
        cautions.append(f"there are few {class_names(evidence)[diagnosis.rows.place]}")
    if diagnosis.doubts:
        cautions.append("the threshold needs a second look, as said below")
    return cautions


def _goal_text(goal: Goal | None) -> str:
    """Return where a decision stands with its goal, as a sentence that follows another."""
    if goal is None:
        return ""
    if goal.state == State.REACHED and any(item.is_exceeded for item in goal.floors):
        return " It flags more than was asked for, which may be chance."
    return {
        State.MET: " The goal is met.",
        State.REACHED: " The goal is reached on these rows, but not proved.",
        State.BETTER: f" By the goal it does better than {OWN}.",
        State.UNSURE: f" By the goal it is not shown to differ from {OWN}.",
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
    policy = POLICIES[usefulness.policy]
    if not usefulness.is_better_than_chance:
        policy = "chance"
    level, title = {
        Proof.SHOWN: ("good", "Shown to be better than no model"),
        Proof.FOLDS: ("caution", "Shown to be better than no model for the models of the folds"),
        Proof.NOT_SHOWN: ("bad", f"Not shown to be better than {policy}"),
        Proof.WORSE: ("bad", f"Worse than {POLICIES[usefulness.policy]}"),
    }[usefulness.proof]
    return Finding("proof", level, title, text)  # type: ignore[arg-type]


def _gain_interval_text(usefulness: Usefulness, evidence: Evidence) -> str:
    aim = Aim(evidence)
    low, high = usefulness.gain or (math.nan, math.nan)
    text = _gain_text(usefulness, evidence)
    if low == high:  # as without a single error, where resampling shows no spread
        return text
    level = f"{100 * evidence.confidence:.6g}%, by resampling"
    return f"{text} The gain lies between {aim.text(low)} and {aim.text(high)} ({level})."


def _row_finding(diagnosis: Diagnosis, evidence: Evidence) -> Finding | None:
    names = class_names(evidence)
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
        f"bound, {at_least(item.shown or 0.0)}, does not."
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
    text = on_deciding_rows(text, evidence)
    return Finding("status", level, "The threshold needs a second look", text)
