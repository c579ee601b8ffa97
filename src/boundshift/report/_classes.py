"""A report on more than two classes: recall and precision of each, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from boundshift import __version__
from boundshift._guarantees.certificate import Certificate, CertificateStatus
from boundshift._status import QUIET
from boundshift._typing import FloatArray, IndexArray
from boundshift._validation import as_labels
from boundshift._words import (
    Sentence,
    at_most,
    claim,
    join_words,
    name_label,
    percent,
    sentence,
)
from boundshift.exceptions import InvalidInputError
from boundshift.models._decision import certify_rows
from boundshift.models._scoring import find_winner
from boundshift.report._evidence import Doubt
from boundshift.report._goal import Floor, Goal, Reached, State, cost_text, judge_floor, worst_of
from boundshift.report._judgement import count_rows
from boundshift.report._sentences import (
    WHERE,
    Finding,
    Level,
    floor_word,
    join,
    keep_findings,
    lower,
    missed_text,
    nothing_finding,
    proof_text,
    row_finding,
    say,
    say_floor,
    test_text,
)
from boundshift.rules import ClassFloors, CostMatrix

_OWN = "the model's own decisions"
_UNPROVED = "Do not use it yet: these rows do not show that it is better than chance."
_VALID = (
    "The bounds hold for all classes together. They are valid only if these rows were used neither "
    "for training nor for choosing the biases."
)
_HIGH, _LOW = 0.2, 0.5  # shares missed of the weakest class
_PERFECT = 0.005  # share missed of the weakest class


@dataclass(frozen=True, eq=False)
class ClassEvidence:
    """What test rows show of many classes; a matrix counts rows by true and by called class."""

    certificate: Certificate
    rule: Any
    matrix: IndexArray
    own_matrix: IndexArray  # by the model's own decisions
    names: list[str]  # of the rows of each class
    cases: str
    confidence: float
    doubt: Doubt | None
    state: State  # compared with the model's own decisions
    measure: str  # by what they are compared
    measured: tuple[str, str]  # the model's own decisions, and ours

    @property
    def where(self) -> str:
        """On which rows figures were counted."""
        return f"on {WHERE['test' if self.doubt is None else 'seen']}"

    @cached_property
    def weakest(self) -> int:
        """Place of the class of which the largest share is missed."""
        return int(np.nanargmax(self.certificate.errors))

    @property
    def absent(self) -> list[str]:
        """Names of the classes without rows."""
        sizes = self.certificate.n_samples
        return [name for name, n in zip(self.names, sizes, strict=True) if not n]

    @property
    def floors(self) -> Mapping[Any, float]:
        """Recall asked for of each class."""
        return self.rule.recall if isinstance(self.rule, ClassFloors) else {}


def class_facts(
    classifier: Any,
    X: Any,
    y: ArrayLike,
    *,
    case_name: str | None,
    title: str | None,
    target: str | None,
    confidence: float,
    doubt: Doubt | None,
    others: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what a report states of a classifier of more than two classes.

    `others` are arguments for two classes, which must be None.
    """
    n_classes = len(classifier.classes_)
    passed = [name for name, value in others.items() if value is not None]
    if passed:
        raise InvalidInputError(
            f"must be left out in a report on {n_classes} classes, got one. It is "
            "for two classes: fit one class against the rest to use it.",
            argument=passed[0],
        )
    evidence = gather_classes(
        classifier, X, y, confidence, doubt, cases=case_name or "rows", target=target
    )
    goal = _judge_goal(evidence)
    statuses = {pair.status: pair.message for pair in classifier.boundaries_.values()}
    messages = [message for status, message in statuses.items() if status not in QUIET]
    return {
        "kind": "classes",
        "version": __version__,
        "names": {
            "cases": evidence.cases,
            "title": title or f"Telling {n_classes} classes apart",
        },
        "confidence": confidence,
        "n": evidence.matrix.sum(),
        "status": evidence.certificate.status,
        "classes": _class_rows(evidence),
        "matrix": evidence.matrix.tolist(),
        "comparison": [
            _summarise(_OWN, evidence.own_matrix),
            _summarise("shifted", evidence.matrix),
        ],
        "goal": None if goal is None else _goal_facts(goal, evidence),
        "verdict": _verdict_facts(evidence),
        "diagnosis": _diagnosis_facts(goal, messages, evidence),
    }


def gather_classes(
    classifier: Any,
    X: Any,
    y: ArrayLike,
    confidence: float,
    doubt: Doubt | None,
    *,
    cases: str,
    target: str | None,
) -> ClassEvidence:
    """Count decisions on rows of many classes, and bound the share missed of each."""
    labels = classifier.classes_.tolist()
    k = len(labels)
    true = np.searchsorted(classifier.classes_, as_labels(y, "y"))
    scores = classifier._response.read(classifier.estimator_, X, classifier.classes_)
    own = find_winner(scores)
    new = find_winner(scores + classifier.biases_)
    certificate = certify_rows(true, new != true, tuple(labels), confidence=confidence, joint=True)
    if doubt is not None:
        certificate = replace(certificate, status=CertificateStatus.NOMINAL, reason=doubt.reason)
    rule = classifier.rule_
    matrix, own_matrix = (
        np.bincount(k * true + made, minlength=k * k).reshape(k, k) for made in (new, own)
    )
    state, losses = _compare(rule, labels, true, own, new, confidence)
    has_all = bool((matrix.sum(axis=1) > 0).all())
    if doubt is not None or not has_all:
        state = State.UNSURE
    is_cost = isinstance(rule, CostMatrix)
    before, now = (cost_text(loss) if is_cost else percent(1 - loss) for loss in losses)
    return ClassEvidence(
        certificate=certificate,
        rule=rule,
        matrix=matrix,
        own_matrix=own_matrix,
        names=[name_label(label, cases, target) for label in labels],
        cases=cases,
        confidence=confidence,
        doubt=doubt,
        state=state,
        measure="the cost of 1,000 decisions" if is_cost else "mean recall",
        measured=(before, now),
    )


def _compare(
    rule: Any,
    labels: list[Any],
    true: IndexArray,
    own: IndexArray,
    new: IndexArray,
    confidence: float,
) -> tuple[State, tuple[float, float]]:
    """Compare two decisions by the cost, or by the mean share missed; return both losses."""
    k = len(labels)
    n = np.bincount(true, minlength=k)
    costs = 1.0 - np.eye(k)
    weights: FloatArray = (n > 0) / np.count_nonzero(n)
    if isinstance(rule, CostMatrix):
        costs = 1000 * rule.losses(labels)
        weights = np.asarray(rule.total(np.eye(k), labels, n.tolist()))
    share = weights[true] / n[true]
    before = float(share @ costs[true, own])
    now = float(share @ costs[true, new])
    gain = costs[true, own] - costs[true, new]
    error = gain - (np.bincount(true, gain, k) / np.maximum(n, 1))[true]
    reach = norm.ppf((1 + confidence) / 2) * np.sqrt(np.sum((share * error) ** 2))
    if abs(before - now) <= reach:
        return State.UNSURE, (before, now)
    return (State.BETTER if now < before else State.WORSE), (before, now)


def _class_rows(evidence: ClassEvidence) -> list[dict[str, Any]]:
    certificate = evidence.certificate
    with np.errstate(invalid="ignore"):  # without rows a share is NaN, which is written as None
        recall, before = (
            np.diag(counts) / counts.sum(axis=1)
            for counts in (evidence.matrix, evidence.own_matrix)
        )
        precision = np.diag(evidence.matrix) / evidence.matrix.sum(axis=0)
    return [
        {
            "label": label,
            "n": certificate.n_samples[k],
            "recall": recall[k],
            "recall_before": before[k],
            "most_missed": certificate.error_bounds[k],
            "precision": precision[k],
        }
        for k, label in enumerate(certificate.labels)
    ]


def _summarise(method: str, matrix: IndexArray) -> dict[str, Any]:
    """Return metrics of all classes that have rows."""
    n = matrix.sum(axis=1)
    right = np.diag(matrix)
    has_rows = n > 0
    recall = right[has_rows] / n[has_rows]
    f1 = 2 * right[has_rows] / (n + matrix.sum(axis=0))[has_rows]
    return {
        "method": method,
        "mean recall": recall.mean(),
        "least recall": recall.min(),
        "macro F1": f1.mean(),
        "accuracy": right.sum() / n.sum(),
    }


def _judge_goal(evidence: ClassEvidence) -> Goal | None:
    """Return whether floors are met, or how costs compare; None where neither was asked for."""
    aim = Reached(0.0, None, None, evidence.state, None, None)
    if isinstance(evidence.rule, CostMatrix):
        return Goal(evidence.state, [], aim, is_asked=True)
    if not evidence.floors:
        return None
    certificate = evidence.certificate
    floors = []
    for label, asked in evidence.floors.items():
        k = certificate.labels.index(label)
        if certificate.n_samples[k]:
            shown = 1 - certificate.error_bounds[k] if certificate.certified else None
            floors.append(judge_floor(f"class {label}", asked, 1 - certificate.errors[k], shown))
    state = worst_of(floors) or State.REACHED
    if len(floors) < len(evidence.floors) and state == State.MET:
        state = State.REACHED
    return Goal(state, floors, aim, is_asked=False)


def _goal_facts(goal: Goal, evidence: ClassEvidence) -> dict[str, Any]:
    if isinstance(evidence.rule, CostMatrix):
        wish = "the least cost, by the cost of each mistake"
        words = {State.BETTER: "Lower cost", State.WORSE: "Higher cost"}
        word = words.get(evidence.state, "Not shown to be lower")
        before, now = evidence.measured
        text = f"1,000 decisions cost {now} {evidence.where} instead of {before} by {_OWN}."
        parts = [Sentence(f"{word}: {text}")]
    else:
        wish, parts = _say_floors(goal.floors, evidence)
        of_state = (floor for floor in goal.floors if floor.state == goal.state)
        word = next(map(floor_word, of_state), "Not proved")
    parts = [Sentence(f"Goal: {wish}."), *parts]
    return {
        "state": goal.state,
        "word": word,
        "sentence": join(parts),
        "parts": parts,
        "floors": goal.floors,
    }


def _say_floors(floors: list[Floor], evidence: ClassEvidence) -> tuple[str, list[Sentence]]:
    certificate = evidence.certificate
    judged = {floor.name: floor for floor in floors}
    wishes = []
    parts = []
    for label, asked in evidence.floors.items():
        k = certificate.labels.index(label)
        wishes.append(f"at least {100 * asked:.6g}% of {evidence.names[k]}")
        floor = judged.get(f"class {label}")
        if floor is None:
            parts.append(Sentence(f"There are no rows of class {label}."))
        else:  # the bounds of all classes hold together
            parts += say_floor(floor, evidence.where, evidence.confidence, 2, 2)
    return f"find {join_words(wishes)}", parts


def _verdict_facts(evidence: ClassEvidence) -> dict[str, Any]:
    """Return how many rows are found, and missed of the weakest class; a bound is certified."""
    certificate = evidence.certificate
    k = evidence.weakest
    before, now = (
        _summarise("", matrix)["mean recall"] for matrix in (evidence.own_matrix, evidence.matrix)
    )
    change = "as" if before == now else f"instead of {percent(before)}"
    n_seen = np.count_nonzero(certificate.n_samples)
    among = f" of the {n_seen} classes with rows" if evidence.absent else ""
    parts = [Sentence(f"Mean recall{among} is {percent(now)} {change} by {_OWN}.")]
    old, missed = (
        round(100 - 100 * matrix[k, k] / certificate.n_samples[k])
        for matrix in (evidence.own_matrix, evidence.matrix)
    )
    change = "as before" if missed == old else f"instead of {old}"
    text = (
        f"The weakest class is {certificate.labels[k]}: out of 100 {evidence.cases}, {missed} are "
        f"missed {change}"
    )
    if not certificate.certified:
        parts.append(Sentence(f"{text}."))
        note = f"Nothing here is certified. {sentence(certificate.reason)}"
        return say(parts, certificate.status, note)
    bound = claim(f"at most {at_most(certificate.error_bounds[k])}", certificate.confidence)
    parts += [Sentence(f"{text},"), Sentence(f"{bound}.", "certified")]
    note = f"Measured on {evidence.matrix.sum():,} test rows. {_VALID} The rest are estimates."
    return say(parts, certificate.status, note)


# --- The diagnosis --------------------------------------------------------------------------------


def _diagnosis_facts(
    goal: Goal | None, messages: list[str], evidence: ClassEvidence
) -> dict[str, Any]:
    """Return strong and weak points; the worst one decides what to do next."""
    certificate = evidence.certificate
    labels = [f"class {label}" for label in certificate.labels]
    of_class = dict(zip(labels, evidence.names, strict=True))
    proof = _proof_finding(evidence)
    recall = _recall_finding(evidence)
    change = _change_finding(evidence)
    precision = _precision_finding(evidence)
    rows = _row_finding(goal, of_class, proof, evidence)
    doubts = [
        Finding("status", "caution", "The biases need a second look", text) for text in messages
    ]
    answer, level, text = _advise(goal, proof, recall, precision, rows, evidence)
    findings = [proof, recall, change, precision, rows, *doubts]
    return {
        "findings": keep_findings(findings, certificate),
        "answer": answer,
        "level": level,
        "next": text,
    }


def _row_finding(
    goal: Goal | None, of_class: dict[str, str], proof: Finding, evidence: ClassEvidence
) -> Finding | None:
    if evidence.absent:
        name = evidence.absent[0]
        text = "Nothing can be shown of a class without rows."
        return Finding("rows", "bad", f"There are no {name}", text, f"Add {name}.")
    floors = [] if goal is None else goal.floors
    rows = count_rows(evidence.certificate, floors, tuple(of_class))
    asks_for_rows = proof.level == "bad" or rows.unproved is not None
    return row_finding(rows, evidence.names[rows.place], of_class, "rows", asks_for_rows)


def _proof_finding(evidence: ClassEvidence) -> Finding:
    """Return whether the errors of all classes add up to less than by chance."""
    certificate = evidence.certificate
    if certificate.status == "nominal":
        return nothing_finding(certificate.reason)
    total = sum(certificate.error_bounds)
    n_classes = len(certificate.labels)
    text = proof_text(total, n_classes, certificate.confidence)
    if total < n_classes - 1:
        return Finding("proof", "good", "Shown to be better than chance", text)
    rarest = evidence.names[int(np.argmin(certificate.n_samples))]
    advice = f"Collect more rows, above all {rarest}, or train a better model."
    return Finding("proof", "bad", "Not shown to be better than chance", text, advice)


def _recall_finding(evidence: ClassEvidence) -> Finding:
    """Return how many rows of the weakest class are missed, and what most of them are called."""
    certificate = evidence.certificate
    k = evidence.weakest
    labels = certificate.labels
    missed = certificate.wrong[k]
    others = evidence.matrix[k].copy()
    others[k] = -1
    j = int(np.argmax(others))
    text = f"Of {evidence.matrix[k].sum():,} {evidence.names[k]}, {missed:,} are missed"
    text += f"; {others[j]:,} of these are called class {labels[j]}." if missed else "."
    advice = (
        f"Look for features that tell class {labels[k]} from class {labels[j]}, or for wrong "
        "labels of their rows."
    )
    share = certificate.errors[k]
    every = "every class with rows" if evidence.absent else "every class"
    if share <= _PERFECT:
        title = f"The recall of {every} is almost perfect"
        advice = (
            "Often a column gives the answer away that is known only afterwards, or the same "
            "cases occur in training and test."
        )
        return Finding("recall", "caution", title, f"{text} {advice}", advice)
    if share <= _HIGH:
        return Finding("recall", "good", f"The recall of {every} is high", text)
    if share <= _LOW:
        title = f"The recall of class {labels[k]} is low"
        return Finding("recall", "caution", title, text, advice)
    return Finding("recall", "bad", f"Most rows of class {labels[k]} are missed", text, advice)


def _change_finding(evidence: ClassEvidence) -> Finding:
    """Return whether the decisions are better than the model's own."""
    level: Level = "caution"
    word = "Not shown to be better"
    if evidence.state == State.BETTER:
        level = "good"
        word = "Better"
    elif evidence.state == State.WORSE:
        level = "bad"
        word = "Worse"
    before, now = evidence.measured
    text = f"By {evidence.measure}: {now} instead of {before}."
    return Finding("change", level, f"{word} than {_OWN}", text)


def _precision_finding(evidence: ClassEvidence) -> Finding | None:
    """Return that most rows that are called a class are of another one."""
    called = evidence.matrix.sum(axis=0)
    right = np.diag(evidence.matrix)
    k = int(np.argmin(np.where(called > 0, right / np.maximum(called, 1), 1.0)))
    if 2 * right[k] >= called[k]:
        return None
    name = f"{evidence.cases} called class {evidence.certificate.labels[k]}"
    text = f"Of {called[k]:,} {name}, {right[k]:,} belong to it."
    return Finding("precision", "caution", f"Most {name} belong to another", text)


def _advise(
    goal: Goal | None,
    proof: Finding,
    recall: Finding,
    precision: Finding | None,
    rows: Finding | None,
    evidence: ClassEvidence,
) -> tuple[str, Level, str]:
    """Return the answer, its level, and what to do next."""
    state = evidence.state if goal is None else goal.state
    if evidence.doubt is not None:
        return "test it", "bad", test_text(evidence.doubt.reason, evidence.doubt.remedy)
    if proof.level == "bad":
        return "do not use it", "bad", f"{_UNPROVED} {proof.advice}"
    if evidence.absent:
        text = f"Add {join_words(evidence.absent)} first: no recall is known without them."
        return "improve it", "caution", text
    if state == State.MISSED:
        return "improve it", "caution", missed_text("fit it on more rows")
    if state == State.WORSE:
        text = f"Use {_OWN}: by {evidence.measure} they are better on these rows."
        return "improve it", "caution", text
    is_perfect = evidence.certificate.errors[evidence.weakest] <= _PERFECT
    if is_perfect:
        text = "Check these results before you use it: they are too good to be taken on trust."
        return "check it", "caution", f"{text} {recall.advice}"
    if recall.level != "good":
        start = "Improve it" if recall.level == "bad" else "Use it with care, or improve it"
        answer = "improve it" if recall.level == "bad" else "use it with care"
        return answer, "caution", f"{start}: {lower(recall.title)}. {recall.advice}"
    text = "Use it: most rows of every class are found."
    if state == State.REACHED:
        advice = "" if rows is None else f" {rows.advice}"
        text += f" But the goal is not proved.{advice}"
    elif precision is not None:
        text += f" But {lower(precision.title)}."
    return "use it", "good", text
