"""A report on more than two classes: recall and precision of each, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boundshift import __version__
from boundshift._promises.certificate import Certificate
from boundshift._status import QUIET
from boundshift._typing import IndexArray
from boundshift._validation import as_labels
from boundshift._words import Sentence, at_most, claim, number, percent, sentence, sure
from boundshift.exceptions import InvalidInputError
from boundshift.models._decision import certify_rows
from boundshift.models._scoring import find_winner
from boundshift.report._evidence import WHERE
from boundshift.report._goal import WORDS, Floor, State, keeps, say_floor
from boundshift.report._sentences import (
    FAIR,
    MISSED,
    UNPROVED,
    Answer,
    Diagnosis,
    Finding,
    Statement,
    drop_good,
    grade,
    is_unproved,
    judge_proof,
    judge_rows,
    say_unproved,
)
from boundshift.rules import ClassFloors, CostMatrix

_DRAWS = 2000
_OWN = "the model's own decisions"


@dataclass(frozen=True, eq=False)
class ClassEvidence:
    """What test rows show of many classes; a matrix counts rows by true and by called class."""

    unit: str
    certificate: Certificate
    """Its bounds hold for all classes together."""
    matrix: IndexArray
    own: IndexArray
    """Of the model's own decisions: the class with the largest score."""
    measure: str
    """What both are compared by."""
    measured: list[str]
    """That of the model's own decisions, and of ours."""
    state: State
    """Whether ours are better; unsure also where the rows are no test, or lack a class."""

    @property
    def where(self) -> str:
        """Which rows were counted, in words."""
        return f"on {WHERE['test' if self.certificate.certified else 'seen']}"

    @property
    def names(self) -> list[str]:
        """What the rows of each class are called."""
        return [f"{self.unit} of class {label}" for label in self.certificate.labels]

    @property
    def absent(self) -> list[str]:
        """What the rows of classes without rows would be called."""
        sizes = self.certificate.n_samples
        return [name for name, n in zip(self.names, sizes, strict=True) if not n]

    @property
    def weakest(self) -> int:
        """The class with the lowest recall."""
        return int(np.nanargmax(self.certificate.errors))


def class_facts(
    classifier: Any,
    X: Any,
    y: ArrayLike,
    *,
    names: Mapping[str, object] | None,
    confidence: float,
    nominal: str,
    **unused: Any,
) -> dict[str, Any]:
    """Return what a report says of a classifier of more than two classes."""
    n_classes, given = len(classifier.classes_), dict(names or {})
    passed = [name for name, value in unused.items() if value is not None]
    passed += [f"names[{key!r}]" for key in given if key not in ("unit", "title")]
    if passed:
        raise InvalidInputError(
            f"`{passed[0]}` must be left out in a report on {n_classes} classes, got one. It is "
            "for two classes: fit one class against the rest to use it."
        )
    unit = str(given.get("unit", "rows"))
    evidence = _gather(classifier, X, y, unit, confidence, nominal)
    goal = _judge_goal(classifier.rule, evidence)
    told = {pair.status: pair.message for pair in classifier.boundaries_.values()}
    return {
        "version": __version__,
        "names": {"unit": unit, "title": given.get("title", f"Telling {n_classes} classes apart")},
        "confidence": confidence,
        "n": evidence.matrix.sum(),
        "status": evidence.certificate.status,
        "classes": _count_classes(evidence),
        "matrix": evidence.matrix.tolist(),
        "comparison": [_summarise(_OWN, evidence.own), _summarise("shifted", evidence.matrix)],
        "goal": goal,
        "verdict": _verdict(evidence),
        "diagnosis": _diagnose(evidence, goal, [told[s] for s in told if s not in QUIET]),
        "claims": _claims(evidence.certificate),
    }


def _gather(
    classifier: Any, X: Any, y: ArrayLike, unit: str, confidence: float, nominal: str
) -> ClassEvidence:
    """Decide the rows with and without biases, and count."""
    labels, rule = classifier.classes_.tolist(), classifier.rule
    true = np.searchsorted(classifier.classes_, as_labels(y, "y"))
    scores = classifier._response.read(classifier.estimator_, X, classifier.classes_)
    own, new = find_winner(scores), find_winner(scores + classifier.biases_)
    matrices = np.zeros((2, len(labels), len(labels)), dtype=np.intp)
    for matrix, made in zip(matrices, (own, new), strict=True):
        np.add.at(matrix, (true, made), 1)
    known: dict[str, Any] = {"confidence": confidence, "joint": True}
    certificate = certify_rows(true, new != true, tuple(labels), **known)
    if nominal:
        certificate = replace(certificate, status="nominal", reason=nominal)
    n = matrices[1].sum(axis=1)
    costs, weights = 1.0 - np.eye(len(labels)), (n > 0) / np.count_nonzero(n)
    if isinstance(rule, CostMatrix):
        costs = 1000 * rule.losses(labels)
        weights = rule.total(np.eye(len(labels)), labels, n.tolist())
    rng, gains = np.random.default_rng(0), np.zeros(_DRAWS)
    for k in np.flatnonzero(n):  # a bootstrap of the rows of each class
        change = costs[k, own[true == k]] - costs[k, new[true == k]]
        values, counts = np.unique(change, return_counts=True)
        gains += weights[k] * (rng.multinomial(n[k], counts / n[k], _DRAWS) @ values) / n[k]
    tail = 50 * (1 - confidence)
    low, high = np.percentile(gains, [tail, 100 - tail])
    state = State.BETTER if low > 0 else State.WORSE
    if low <= 0 <= high or not certificate.certified or not n.all():
        state = State.UNSURE
    losses = [weights @ ((costs * m).sum(axis=1) / np.maximum(n, 1)) for m in matrices]
    measure, measured = "mean recall", [percent(1 - loss) for loss in losses]
    if isinstance(rule, CostMatrix):
        measure = "the cost of 1,000 decisions"
        measured = [number(x, ",.0f" if abs(x) >= 1000 else ".4g") for x in losses]
    return ClassEvidence(unit, certificate, matrices[1], matrices[0], measure, measured, state)


def _count_classes(evidence: ClassEvidence) -> list[dict[str, Any]]:
    certificate, called = evidence.certificate, evidence.matrix.sum(axis=0)
    with np.errstate(invalid="ignore"):  # without rows a share is NaN, which is written as None
        recall, before = (np.diag(m) / m.sum(axis=1) for m in (evidence.matrix, evidence.own))
        precision = np.diag(evidence.matrix) / called
    titles = ("label", "n", "recall", "recall_before", "most_missed", "precision")
    bounds = certificate.error_bounds
    columns = (certificate.labels, certificate.n_samples, recall, before, bounds, precision)
    return [dict(zip(titles, row, strict=True)) for row in zip(*columns, strict=True)]


def _summarise(method: str, matrix: IndexArray) -> dict[str, Any]:
    """Return metrics of all classes that have rows."""
    n, right = matrix.sum(axis=1), np.diag(matrix)
    seen = n > 0
    recall, f1 = right[seen] / n[seen], 2 * right[seen] / (n + matrix.sum(axis=0))[seen]
    return {
        "method": method,
        "mean recall": recall.mean(),
        "least recall": recall.min(),
        "macro F1": f1.mean(),
        "accuracy": right.sum() / n.sum(),
    }


def _judge_goal(rule: Any, evidence: ClassEvidence) -> dict[str, Any] | None:
    """Say whether floors are met, or what decisions cost; None where neither was asked for."""
    certificate, state, parts, floors = evidence.certificate, evidence.state, [], []
    if isinstance(rule, CostMatrix):
        before, now = evidence.measured
        wish = "the least cost, by the cost of each mistake"
        word = {State.BETTER: "Lower cost", State.WORSE: "Higher cost"}.get(
            state, "Not shown" if evidence.absent or not certificate.certified else "May be chance"
        )
        cost = f"1,000 decisions cost {now} {evidence.where} instead of {before} by {_OWN}."
        parts = [Sentence(f"{word}: {cost}")]
    elif isinstance(rule, ClassFloors):
        wishes, states = [], []
        for label, asked in rule.recall.items():
            k = certificate.labels.index(label)
            wishes.append(f"at least {100 * asked:.6g}% of {evidence.names[k]}")
            if not certificate.n_samples[k]:
                states.append(State.REACHED)
                parts.append(Sentence(f"There are no rows of class {label}."))
                continue
            reached, shown = 1 - certificate.errors[k], 1 - certificate.error_bounds[k]
            each = State.REACHED if keeps("recall", asked, reached) else State.MISSED
            if certificate.certified and keeps("recall", asked, shown):
                each = State.MET
            bound = shown if certificate.certified else None
            item = Floor(f"class {label}", asked, reached, bound, False, each)
            parts += say_floor(item, evidence.where, certificate.confidence, several=True)
            states.append(each)
            floors.append(item)
        state = next(state for state in WORDS if state in states)
        wish, word = f"find {' and '.join(wishes)}", WORDS[state]
    else:
        return None
    parts = [Sentence(f"Goal: {wish}."), *parts]
    told = " ".join(part.text for part in parts)
    return {"state": state, "word": word, "parts": parts, "sentence": told, "floors": floors}


def _verdict(evidence: ClassEvidence) -> dict[str, Any]:
    """Say how many rows are found, and missed of the weakest class; only a bound is certified."""
    certificate, k = evidence.certificate, evidence.weakest
    before, now = (_summarise("", m)["mean recall"] for m in (evidence.own, evidence.matrix))
    change = "as" if before == now else f"instead of {percent(before)}"
    seen = np.count_nonzero(certificate.n_samples)
    among = f" of the {seen} class{'es' if seen > 1 else ''} with rows" if evidence.absent else ""
    parts = [Sentence(f"Mean recall{among} is {percent(now)} {change} by {_OWN}.")]
    n, label = certificate.n_samples[k], certificate.labels[k]
    missed, once = (round(100 - 100 * m[k, k] / n) for m in (evidence.matrix, evidence.own))
    told = f"The weakest class is {label}: of 100 {evidence.unit} {missed} are missed"
    told += " as before" if missed == once else f" instead of {once}"
    note = f"Nothing here is certified. {sentence(certificate.reason)}"
    if certificate.certified:
        bound = claim(f"at most {at_most(certificate.error_bounds[k])}", certificate.confidence)
        parts += [Sentence(f"{told},"), Sentence(f"{bound}.", "certified")]
        note = f"Measured on {evidence.matrix.sum():,} test rows. {_VALID} The rest are estimates."
    else:
        parts.append(Sentence(f"{told}."))
    told = " ".join(part.text for part in parts)
    return {"sentence": told, "parts": parts, "status": certificate.status, "note": note}


_VALID = (
    "The bounds hold for all classes together. They are valid only if these rows were used neither "
    "for training nor for choosing the biases."
)


def _diagnose(
    evidence: ClassEvidence, goal: Mapping[str, Any] | None, doubts: list[str]
) -> Diagnosis:
    """Collect strong and weak points; the worst one decides what to do next."""
    certificate, chance = evidence.certificate, len(evidence.matrix) - 1
    total = sum(certificate.error_bounds)
    text = (
        f"With {sure(certificate.confidence)}, the shares of each class that are missed add up to "
        f"at most {at_most(total)} in the long run. By chance they add up to {chance}00%."
    )
    rarest = evidence.names[int(np.argmin(certificate.n_samples))]
    proof = judge_proof(certificate, total / chance, text, rarest)
    weak, change, precision = _recall(evidence), _change(evidence), _precision(evidence)
    confidence = 1 - (1 - certificate.confidence) / len(certificate.labels)
    unproved = [
        say_unproved(floor, f"{evidence.unit} of {floor.name}", confidence)
        for floor in (goal or {"floors": []})["floors"]
        if is_unproved(floor)
    ]
    rows = judge_rows(certificate, evidence.names, unproved)
    candidates = [proof, weak, change, precision, rows]
    findings = [finding for finding in candidates if finding is not None]
    findings += [Finding("status", "caution", "The biases need a second look", d) for d in doubts]
    has_floors = goal is not None and goal["state"] in WORDS
    start = "Improve it" if weak.level == "bad" else "Use it with care, or improve it"
    told = f"{start}: {weak.title[0].lower()}{weak.title[1:]}. {weak.advice}"
    answer: Answer = "improve it"
    if proof.level == "bad":
        answer, told = "do not use it", f"{UNPROVED} {proof.advice}"
    elif evidence.absent:
        told = (
            f"Add {' and '.join(evidence.absent)} first: no recall is known without them, and "
            "a comparison would leave them out."
        )
    elif goal is not None and goal["state"] == State.MISSED:
        told = f"{MISSED} Train a better model, fit it on more rows, or ask for less."
    elif evidence.state == State.WORSE and not has_floors:
        told = f"Use {_OWN}: by {evidence.measure} they are better on these rows."
    elif weak.level == "good":
        answer, told = "use it", "Use it: most rows of every class are found."
        if unproved:
            told += f" But the goal is not proved. {rows.advice}"
        elif precision is not None:
            told += f" But m{precision.title[1:]}."
    return Diagnosis(drop_good(findings, certificate), answer, told)


def _recall(evidence: ClassEvidence) -> Finding:
    """Say how many rows of the weakest class are missed, and what most of them are called."""
    k, labels = evidence.weakest, evidence.certificate.labels
    missed, others = evidence.certificate.wrong[k], evidence.matrix[k].copy()
    others[k] = -1
    j = int(np.argmax(others))
    text = f"Of {evidence.matrix[k].sum():,} {evidence.names[k]}, {missed:,} are missed"
    text += f"; {others[j]:,} of these are called class {labels[j]}." if missed else "."
    advice = (
        f"Look for features that tell class {labels[k]} from class {labels[j]}, or for wrong "
        "labels of their rows."
    )
    every = "every class with rows" if evidence.absent else "every class"
    return grade(
        "recall",
        evidence.certificate.errors[k],
        text,
        (0.2, "good", f"The recall of {every} is high", ""),
        (0.5, "caution", f"The recall of class {labels[k]} is low", advice),
        (1.0, "bad", f"Most rows of class {labels[k]} are missed", advice),
    )


def _change(evidence: ClassEvidence) -> Finding | None:
    if evidence.absent:  # what is compared would lack a class
        return None
    before, now = evidence.measured
    text = f"By {evidence.measure}: {now} instead of {before}"
    if evidence.state == State.BETTER:
        return Finding("change", "good", f"Better than {_OWN}", f"{text}.")
    if evidence.state == State.WORSE:
        return Finding("change", "bad", f"Worse than {_OWN}", f"{text}.")
    why = f"; may be chance ({100 * evidence.certificate.confidence:.6g}%, by resampling)"
    text += f"{why if evidence.certificate.certified else ' on rows that are no test'}."
    return Finding("change", "caution", f"Not shown to be better than {_OWN}", text)


def _precision(evidence: ClassEvidence) -> Finding | None:
    """Warn if most rows that are called a class are of another one."""
    called, right = evidence.matrix.sum(axis=0), np.diag(evidence.matrix)
    k = int(np.argmin(np.where(called > 0, right / np.maximum(called, 1), 1.0)))
    if 2 * right[k] >= called[k]:
        return None
    name = f"{evidence.unit} called class {evidence.certificate.labels[k]}"
    text = f"Of {called[k]:,} {name}, {right[k]:,} belong to it."
    return Finding("precision", "caution", f"Most {name} belong to another", text)


def _claims(certificate: Certificate) -> list[Statement]:
    told = f"The share missed of each class is at most its bound ({sure(certificate.confidence)})"
    rest = "Recall, precision and the comparison"
    if certificate.certified:
        return [Statement(told, "certified", _VALID), Statement(rest, "estimate", FAIR)]
    return [Statement(rest, "nominal", sentence(certificate.reason))]
