"""A report on more than two classes: recall and precision of each, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from boundshift import __version__
from boundshift._guarantees.certificate import Certificate, CertificateStatus
from boundshift._status import QUIET
from boundshift._typing import Facts, FloatArray, IndexArray, Rows
from boundshift._validation import as_labels
from boundshift._words import Naming, Sentence, join_words, name_label, percent, sentence
from boundshift.exceptions import InvalidInputError
from boundshift.models._decision import certify_rows
from boundshift.models._scoring import find_winner
from boundshift.report._evidence import Doubt
from boundshift.report._goal import Floor, State, cost_text, judge_floor, worst_of
from boundshift.report._judgement import Advice, count_rows
from boundshift.report._sentences import (
    GIVEN_AWAY,
    WHERE,
    Finding,
    Level,
    check_text,
    collect_text,
    floor_word,
    join,
    keep_findings,
    level_of,
    lower,
    missed_text,
    proof_text,
    row_finding,
    say,
    say_claimed,
    say_floor,
    test_text,
)
from boundshift.rules import ClassFloors, CostMatrix, Rule

if TYPE_CHECKING:
    from boundshift._classifier import BoundShiftClassifier

_OWN = "the model's own decisions"
_VALID = (
    "The bounds hold for all classes together. They are valid only if these rows were used neither "
    "for training nor for choosing the biases."
)
# Shares missed of the weakest class.
_PERFECT = 0.005
_HIGH = 0.2
_LOW = 0.5


@dataclass(frozen=True, eq=False)
class ClassEvidence:
    """What test rows show of many classes; a matrix counts rows by true and by called class."""

    certificate: Certificate
    rule: Rule
    matrix: IndexArray
    own_matrix: IndexArray  # by the model's own decisions
    names: list[str]  # of the rows of each class
    cases: str
    doubt: Doubt | None
    state: State  # compared with the model's own decisions
    losses: tuple[float, float]  # of the model's own decisions, and of ours

    @property
    def where(self) -> str:
        """On which rows figures were counted."""
        return f"on {WHERE['test' if self.doubt is None else 'seen']}"

    @property
    def is_cost(self) -> bool:
        """Whether decisions are compared by their costs."""
        return isinstance(self.rule, CostMatrix)

    @property
    def measure(self) -> str:
        """By what decisions are compared."""
        return "the cost of 1,000 decisions" if self.is_cost else "mean recall"

    @property
    def measured(self) -> tuple[str, str]:
        """The cost, or the mean recall, of the model's own decisions, and of ours."""
        before, now = (
            cost_text(loss) if self.is_cost else percent(1 - loss) for loss in self.losses
        )
        return before, now

    @property
    def weakest(self) -> int:
        """Place of the class of which the largest share is missed."""
        return int(np.nanargmax(self.certificate.errors))

    @property
    def least_missed(self) -> float:
        """Share missed of the weakest class."""
        return self.certificate.errors[self.weakest]

    @property
    def absent(self) -> list[str]:
        """Names of the classes without rows."""
        sizes = self.certificate.n_samples
        return [name for name, n in zip(self.names, sizes, strict=True) if not n]

    @property
    def every_class(self) -> str:
        """What the classes are called of which something is known."""
        return "every class with rows" if self.absent else "every class"

    @property
    def asked(self) -> Mapping[object, float]:
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
    of_two = {name: names.get(name) for name in ("positive_name", "negative_name")}
    passed = [name for name, value in {**of_two, **others}.items() if value is not None]
    if passed:
        raise InvalidInputError(
            f"must be left out in a report on {n_classes} classes, got one. It is "
            "for two classes: fit one class against the rest to use it.",
            argument=passed[0],
        )
    evidence = gather_classes(classifier, X, y, confidence, doubt, names)
    floors = _judge_floors(evidence)
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
                {"method": _OWN, **_summarise(evidence.own_matrix)},
                {"method": "the new decisions", **_summarise(evidence.matrix)},
            ],
            "lead": None,
        },
        "words": [
            ("Mean recall", "the recall of each class, averaged"),
            ("Macro F1", "the harmonic mean of recall and precision of each class, averaged"),
        ],
        "goal": _goal_facts(floors, evidence),
        "verdict": _verdict_facts(evidence),
        "diagnosis": _diagnosis_facts(floors, messages, evidence),
    }


def gather_classes(
    classifier: BoundShiftClassifier,
    X: Rows,
    y: ArrayLike,
    confidence: float,
    doubt: Doubt | None,
    names: Naming,
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
    matrix, own_matrix = (
        np.bincount(k * true + made, minlength=k * k).reshape(k, k) for made in (new, own)
    )
    rule = classifier.rule_
    state, losses = _compare(rule, labels, true, own, new, confidence)
    if doubt is not None or not (matrix.sum(axis=1) > 0).all():
        state = State.UNSURE
    cases = names.get("case_name") or "rows"
    called = [name_label(label, cases, names.get("target")) for label in labels]
    return ClassEvidence(certificate, rule, matrix, own_matrix, called, cases, doubt, state, losses)


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


def _summarise(matrix: IndexArray) -> dict[str, float]:
    """Return metrics of all classes that have rows."""
    n = matrix.sum(axis=1)
    right = np.diag(matrix)
    has_rows = n > 0
    recall = right[has_rows] / n[has_rows]
    f1 = 2 * right[has_rows] / (n + matrix.sum(axis=0))[has_rows]
    return {
        "mean recall": float(recall.mean()),
        "least recall": float(recall.min()),
        "macro F1": float(f1.mean()),
        "accuracy": float(right.sum() / n.sum()),
    }


# --- The goal -------------------------------------------------------------------------------------


def _judge_floors(evidence: ClassEvidence) -> list[Floor]:
    """Return how far each floor is reached, of the classes that have rows."""
    certificate = evidence.certificate
    floors = []
    for label, asked in evidence.asked.items():
        k = certificate.labels.index(label)
        if certificate.n_samples[k]:
            shown = 1 - certificate.error_bounds[k] if certificate.certified else None
            floors.append(judge_floor(f"class {label}", asked, 1 - certificate.errors[k], shown))
    return floors


def _goal_state(floors: list[Floor], evidence: ClassEvidence) -> State:
    """Return whether floors are met; without floors, how decisions compare."""
    if not evidence.asked:
        return evidence.state
    state = worst_of(floors) or State.REACHED
    is_open = len(floors) < len(evidence.asked)
    return State.REACHED if is_open and state == State.MET else state


def _goal_facts(floors: list[Floor], evidence: ClassEvidence) -> Facts | None:
    """Return the goal with its sentences; None where neither floors nor costs were given."""
    state = _goal_state(floors, evidence)
    if evidence.is_cost:
        wish = "the least cost, by the cost of each mistake"
        words = {State.BETTER: "Lower cost", State.WORSE: "Higher cost"}
        word = words.get(state, "Not shown to be lower")
        before, now = evidence.measured
        text = f"1,000 decisions cost {now} {evidence.where} instead of {before} by {_OWN}."
        parts = [Sentence(f"{word}: {text}")]
    elif evidence.asked:
        labels = evidence.certificate.labels
        names = {label: evidence.names[labels.index(label)] for label in evidence.asked}
        wishes = [
            f"at least {100 * asked:.6g}% of {names[label]}"
            for label, asked in evidence.asked.items()
        ]
        wish = f"find {join_words(wishes)}"
        word = next((floor_word(item) for item in floors if item.state == state), "Not proved")
        together = " for all classes together"
        absent = [name for name in names.values() if name in evidence.absent]
        parts = [Sentence(f"There are no {name}.") for name in absent]
        for item in floors:
            parts += say_floor(item, evidence.where, evidence.certificate.confidence, together)
    else:
        return None
    parts = [Sentence(f"Goal: {wish}."), *parts]
    return {
        "state": state,
        "word": word,
        "sentence": join(parts),
        "parts": parts,
        "floors": floors,
    }


# --- The verdict ----------------------------------------------------------------------------------


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
    now, before = (round(100 - 100 * m[k, k] / certificate.n_samples[k]) for m in matrices)
    text = (
        f"Class {certificate.labels[k]} is missed most: out of 100 {evidence.names[k]}, the new "
        f"decisions miss about {now}"
    )
    parts = [Sentence(f"{text}.")]
    if certificate.certified:
        parts = say_claimed(text, certificate.error_bounds[k], certificate.confidence)
    n_seen = len(evidence.names) - len(evidence.absent)
    classes = f"the {n_seen} classes{' with rows' if evidence.absent else ''}"
    mean, own_mean = (percent(1 - _summarise(matrix)["mean recall"]) for matrix in matrices)
    return [
        *parts,
        Sentence(f"The model's own decisions missed {before}."),
        Sentence(f"Averaged over {classes}, {mean} are missed ({_OWN}: {own_mean})."),
    ]


def _precision_text(evidence: ClassEvidence) -> str:
    """Return how many decisions for the least precise class are right, and how many of all."""
    matrices = (evidence.matrix, evidence.own_matrix)
    called = evidence.matrix.sum(axis=0)
    shares = np.where(called > 0, np.diag(evidence.matrix) / np.maximum(called, 1), 1.0)
    k = int(np.argmin(shares))
    label = evidence.certificate.labels[k]
    right, own_right = (
        f"{round(100 * matrix[k, k] / matrix[:, k].sum())}" if matrix[:, k].any() else "none called"
        for matrix in matrices
    )
    accuracy, own_accuracy = (percent(np.trace(matrix) / matrix.sum()) for matrix in matrices)
    return (
        f"Out of 100 {evidence.cases} called {label}, about {right} are rightly called so "
        f"({_OWN}: {own_right}); no other class has fewer. Of all decisions, {accuracy} are right "
        f"({_OWN}: {own_accuracy})."
    )


# --- The diagnosis --------------------------------------------------------------------------------


def _diagnosis_facts(floors: list[Floor], messages: list[str], evidence: ClassEvidence) -> Facts:
    """Return strong and weak points, and what to do next."""
    recall = _recall_finding(evidence)
    rows = _row_finding(floors, evidence)
    is_shown = sum(evidence.certificate.error_bounds) < len(evidence.names) - 1
    doubts = [
        Finding("status", "caution", "The biases need a second look", text) for text in messages
    ]
    findings = [
        _proof_finding(evidence, is_shown=is_shown),
        recall,
        _change_finding(evidence),
        rows,
        *doubts,
    ]
    state = _goal_state(floors, evidence)
    advice, text = _advise(state, recall, rows, evidence, is_shown=is_shown)
    return {
        "findings": keep_findings(findings, evidence.certificate),
        "advice": advice,
        "level": level_of(advice),
        "next": text,
    }


def _row_finding(floors: list[Floor], evidence: ClassEvidence) -> Finding | None:
    if evidence.absent:
        name = evidence.absent[0]
        text = "Nothing can be shown of a class without rows."
        return Finding("rows", "bad", f"There are no {name}", text, f"Add {name}.")
    labels = [f"class {label}" for label in evidence.certificate.labels]
    rows = count_rows(evidence.certificate, floors, labels)
    of_class = dict(zip(labels, evidence.names, strict=True))
    return row_finding(rows, evidence.names[rows.place], of_class, "rows")


def _rarest(evidence: ClassEvidence) -> str:
    return evidence.names[int(np.argmin(evidence.certificate.n_samples))]


def _proof_finding(evidence: ClassEvidence, *, is_shown: bool) -> Finding | None:
    """Return whether the errors of all classes add up to less than by chance."""
    certificate = evidence.certificate
    if not certificate.certified:
        return None
    total = sum(certificate.error_bounds)
    text = proof_text(total, len(certificate.labels), certificate.confidence)
    if is_shown:
        return Finding("proof", "good", "Shown to be better than chance", text)
    advice = collect_text(_rarest(evidence))
    return Finding("proof", "bad", "Not shown to be better than chance", text, advice)


def _recall_finding(evidence: ClassEvidence) -> Finding:
    """Return how many rows of the weakest class are missed, and what most of them are called."""
    k = evidence.weakest
    labels = evidence.certificate.labels
    missed = evidence.certificate.wrong[k]
    others = evidence.matrix[k].copy()
    others[k] = -1
    j = int(np.argmax(others))
    text = f"Of {evidence.matrix[k].sum():,} {evidence.names[k]}, {missed:,} are missed"
    text += f"; {others[j]:,} of these are called class {labels[j]}." if missed else "."
    share = evidence.least_missed
    if share <= _PERFECT:
        title = f"The recall of {evidence.every_class} is almost perfect"
        return Finding("recall", "caution", title, text, GIVEN_AWAY)
    if share <= _HIGH:
        return Finding("recall", "good", f"The recall of {evidence.every_class} is high", text)
    advice = (
        f"Look for features that tell class {labels[k]} from class {labels[j]}, or for wrong "
        "labels of their rows."
    )
    level: Level = "caution" if share <= _LOW else "bad"
    title = f"Most rows of class {labels[k]} are missed"
    if level == "caution":
        title = f"The recall of class {labels[k]} is low"
    return Finding("recall", level, title, text, advice)


def _change_finding(evidence: ClassEvidence) -> Finding:
    """Return whether the decisions are better than the model's own."""
    before, now = evidence.measured
    levels: dict[State, tuple[Level, str]] = {
        State.BETTER: ("good", "Better"),
        State.WORSE: ("bad", "Worse"),
        State.UNSURE: ("caution", "Not shown to be better"),
    }
    level, word = levels[evidence.state]
    text = f"By {evidence.measure}: {now} instead of {before}."
    return Finding("change", level, f"{word} than {_OWN}", text)


def _advise(
    state: State, recall: Finding, rows: Finding | None, evidence: ClassEvidence, *, is_shown: bool
) -> tuple[Advice, str]:
    """Return the first advice that applies, with its reason."""
    doubt = evidence.doubt
    if doubt is not None:
        return Advice.TEST, test_text(doubt.reason, doubt.remedy)
    if not is_shown:
        text = "Do not use it yet: these rows do not show that it is better than chance."
        return Advice.NOT_SHOWN, f"{text} {collect_text(_rarest(evidence))}"
    if evidence.absent:
        text = f"Add {join_words(evidence.absent)} first: no recall is known without them."
        return Advice.ADD_ROWS, text
    if state == State.MISSED:
        return Advice.MISSED, missed_text("fit it on more rows")
    if state == State.WORSE:
        before, now = evidence.measured
        text = f"Use {_OWN}: by {evidence.measure} they are better on these rows"
        return Advice.OWN_THRESHOLD, f"{text} ({before}, and the new decisions {now})."
    if evidence.least_missed <= _PERFECT:
        return Advice.CHECK, check_text(recall.advice)
    if evidence.least_missed > _LOW:
        return Advice.WEAK, f"Improve it: {lower(recall.title)}. {recall.advice}"
    if evidence.least_missed > _HIGH:
        return Advice.CARE, f"Use it with care: {lower(recall.title)}. {recall.advice}"
    text = "Use it: most rows of every class are found."
    if state == State.REACHED:
        text = f"{text} But the goal is not proved. {'' if rows is None else rows.advice}".rstrip()
    return Advice.USE, text
