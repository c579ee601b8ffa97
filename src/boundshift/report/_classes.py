"""A report on more than two classes: recall and precision of each, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from boundshift import __version__
from boundshift._guarantees.certificate import Certificate, CertificateStatus
from boundshift._status import QUIET
from boundshift._typing import Facts, FloatArray, IndexArray, Rows
from boundshift._validation import as_labels
from boundshift._words import (
    Naming,
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
from boundshift.report._findings import (
    LEVELS,
    Finding,
    Level,
    keep_findings,
    missed_text,
    nothing_finding,
    proof_text,
    row_finding,
    test_text,
)
from boundshift.report._goal import Floor, Goal, Reached, State, cost_text, judge_floor, worst_of
from boundshift.report._judgement import Advice, count_rows
from boundshift.report._sentences import WHERE, floor_word, join, lower, say, say_floor
from boundshift.rules import ClassFloors, CostMatrix, Rule

if TYPE_CHECKING:
    from boundshift._classifier import BoundShiftClassifier

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
    rule: Rule
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

    @cached_property
    def least_precise(self) -> int:
        """Place of the class whose name is right least often, among those that are called."""
        called = self.matrix.sum(axis=0)
        right = np.diag(self.matrix)
        return int(np.argmin(np.where(called > 0, right / np.maximum(called, 1), 1.0)))

    @property
    def absent(self) -> list[str]:
        """Names of the classes without rows."""
        sizes = self.certificate.n_samples
        return [name for name, n in zip(self.names, sizes, strict=True) if not n]

    @property
    def floors(self) -> Mapping[object, float]:
        """Recall asked for of each class."""
        return self.rule.recall if isinstance(self.rule, ClassFloors) else {}


def class_facts(
    classifier: BoundShiftClassifier,
    X: Rows,
    y: ArrayLike,
    *,
    names: Naming,
    confidence: float,
    doubt: Doubt | None,
    others: Mapping[str, object],
) -> Facts:
    """Return what a report states of a classifier of more than two classes.

    `others` are arguments for two classes, which must be None.
    """
    n_classes = len(classifier.classes_)
    cases = names.get("case_name") or "rows"
    of_two = {name: names.get(name) for name in ("positive_name", "negative_name")}
    passed = [name for name, value in {**of_two, **others}.items() if value is not None]
    if passed:
        raise InvalidInputError(
            f"must be left out in a report on {n_classes} classes, got one. It is "
            "for two classes: fit one class against the rest to use it.",
            argument=passed[0],
        )
    evidence = gather_classes(
        classifier, X, y, confidence, doubt, cases=cases, target=names.get("target")
    )
    goal = _judge_goal(evidence)
    statuses = {pair.status: pair.message for pair in classifier.boundaries_.values()}
    messages = [message for status, message in statuses.items() if status not in QUIET]
    return {
        "kind": "classes",
        "version": __version__,
        "names": {
            "cases": evidence.cases,
            "title": names.get("title") or f"Telling {n_classes} classes apart",
        },
        "confidence": confidence,
        "n": evidence.matrix.sum(),
        "status": evidence.certificate.status,
        "classes": _class_rows(evidence),
        "matrix": evidence.matrix.tolist(),
        "comparison": {
            "rows": [
                _summarise(_OWN, evidence.own_matrix),
                _summarise("the new decisions", evidence.matrix),
            ],
            "lead": None,
        },
        "words": [
            ("Mean recall", "the recall of each class, averaged"),
            ("Macro F1", "the harmonic mean of recall and precision of each class, averaged"),
        ],
        "goal": None if goal is None else _goal_facts(goal, evidence),
        "verdict": _verdict_facts(evidence),
        "diagnosis": _diagnosis_facts(goal, messages, evidence),
    }


def gather_classes(
    classifier: BoundShiftClassifier,
    X: Rows,
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
    rule: Rule,
    labels: list[object],
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


def _class_rows(evidence: ClassEvidence) -> list[Facts]:
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


def _summarise(method: str, matrix: IndexArray) -> Facts:
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


def _goal_facts(goal: Goal, evidence: ClassEvidence) -> Facts:
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
            parts += say_floor(
                floor, evidence.where, evidence.confidence, " for all classes together"
            )
    return f"find {join_words(wishes)}", parts


def _verdict_facts(evidence: ClassEvidence) -> Facts:
    """Return what is missed, and how many decisions are right; a bound is certified."""
    certificate = evidence.certificate
    bullets = [_say_missed(evidence), [Sentence(_precision_text(evidence))]]
    note = f"Measured on {evidence.matrix.sum():,} test rows. {_VALID} The rest are estimates."
    if not certificate.certified:
        note = f"Nothing here is certified. {sentence(certificate.reason)}"
    return say(bullets, certificate.status, note)


def _say_missed(evidence: ClassEvidence) -> list[Sentence]:
    """Return the share missed of the weakest class, and the mean of all classes."""
    certificate = evidence.certificate
    k = evidence.weakest
    matrices = (evidence.matrix, evidence.own_matrix)
    missed = [round(100 - 100 * matrix[k, k] / certificate.n_samples[k]) for matrix in matrices]
    text = (
        f"The class that is missed most is {certificate.labels[k]}: out of 100 "
        f"{evidence.names[k]}, about {missed[0]} are missed ({_OWN}: {missed[1]})"
    )
    parts = [Sentence(f"{text}.")]
    if certificate.certified:
        bound = claim(f"at most {at_most(certificate.error_bounds[k])}", certificate.confidence)
        parts = [Sentence(f"{text},"), Sentence(f"{bound}.", "certified")]
    means = [percent(1 - _summarise("", matrix)["mean recall"]) for matrix in matrices]
    n_seen = np.count_nonzero(certificate.n_samples)
    classes = f"the {n_seen} classes with rows" if evidence.absent else f"the {n_seen} classes"
    mean = f"Averaged over {classes}, {means[0]} are missed ({_OWN}: {means[1]})."
    return [*parts, Sentence(mean)]


def _precision_text(evidence: ClassEvidence) -> str:
    """Return how many decisions for the least precise class are right, and how many of all."""
    k = evidence.least_precise
    labels = evidence.certificate.labels
    right, own_right = (
        f"{round(100 * matrix[k, k] / matrix[:, k].sum())}" if matrix[:, k].any() else "none called"
        for matrix in (evidence.matrix, evidence.own_matrix)
    )
    shares = [
        percent(np.trace(matrix) / matrix.sum())
        for matrix in (evidence.matrix, evidence.own_matrix)
    ]
    return (
        f"Out of 100 {evidence.cases} called {labels[k]}, about {right} are rightly called so "
        f"({_OWN}: {own_right}); no other class has fewer. Of all decisions, {shares[0]} are right "
        f"({_OWN}: {shares[1]})."
    )


# --- The diagnosis --------------------------------------------------------------------------------


def _diagnosis_facts(goal: Goal | None, messages: list[str], evidence: ClassEvidence) -> Facts:
    """Return strong and weak points; the worst one decides what to do next."""
    certificate = evidence.certificate
    labels = [f"class {label}" for label in certificate.labels]
    of_class = dict(zip(labels, evidence.names, strict=True))
    proof = _proof_finding(evidence)
    recall = _recall_finding(evidence)
    change = _change_finding(evidence)
    rows = _row_finding(goal, of_class, proof, evidence)
    doubts = [
        Finding("status", "caution", "The biases need a second look", text) for text in messages
    ]
    advice, text = _advise(goal, proof, recall, rows, evidence)
    findings = [proof, recall, change, rows, *doubts]
    return {
        "findings": keep_findings(findings, certificate),
        "advice": advice,
        "level": LEVELS[advice],
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
        return Finding("recall", "caution", title, text, advice)
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


def _advise(
    goal: Goal | None,
    proof: Finding,
    recall: Finding,
    rows: Finding | None,
    evidence: ClassEvidence,
) -> tuple[Advice, str]:
    """Return the first advice that applies, and its text."""
    state = evidence.state if goal is None else goal.state
    doubt = evidence.doubt or Doubt("", "")
    least_missed = evidence.certificate.errors[evidence.weakest]
    weak = f"{lower(recall.title)}. {recall.advice}"
    absent = f"Add {join_words(evidence.absent)} first: no recall is known without them."
    own = f"Use {_OWN}: by {evidence.measure} they are better on these rows."
    check = "Check these results before you use it: they are too good to be taken on trust."
    cases = (
        (evidence.doubt is not None, Advice.TEST, test_text(doubt.reason, doubt.remedy)),
        (proof.level == "bad", Advice.NOT_SHOWN, f"{_UNPROVED} {proof.advice}"),
        (bool(evidence.absent), Advice.ADD_ROWS, absent),
        (state == State.MISSED, Advice.MISSED, missed_text("fit it on more rows")),
        (state == State.WORSE, Advice.OWN_THRESHOLD, own),
        (least_missed <= _PERFECT, Advice.CHECK, f"{check} {recall.advice}"),
        (recall.level == "bad", Advice.WEAK, f"Improve it: {weak}"),
        (recall.level != "good", Advice.CARE, f"Use it with care: {weak}"),
        (True, Advice.USE, _use_text(state, rows)),
    )
    return next((advice, text) for applies, advice, text in cases if applies)


def _use_text(state: State, rows: Finding | None) -> str:
    text = "Use it: most rows of every class are found."
    if state != State.REACHED:
        return text
    advice = f" {rows.advice}" if rows is not None and rows.advice else ""
    return f"{text} But the goal is not proved.{advice}"
