"""A report on more than two classes: recall and precision of each, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boundshift import __version__
from boundshift._promises.certificate import Certificate, certify_counts
from boundshift._status import QUIET
from boundshift._typing import FloatArray, IndexArray
from boundshift._validation import as_labels, as_share
from boundshift._words import Sentence, at_least, at_most, claim, number, percent, sentence, sure
from boundshift.exceptions import InvalidInputError
from boundshift.models._scoring import find_winner
from boundshift.report._goal import _WORDS as WORDS
from boundshift.report._goal import State
from boundshift.report._sentences import (
    MISSED,
    UNPROVED,
    Answer,
    Diagnosis,
    Finding,
    Statement,
    grade,
    judge_proof,
    judge_rows,
)
from boundshift.rules import ClassFloors, CostMatrix

_DRAWS = 2000
_ROUNDING = 1e-12
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
    """Whether ours are better."""

    def rows_of(self, k: int) -> str:
        """Return what rows of a class are called."""
        return f"{self.unit} of class {self.certificate.labels[k]}"


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
    n = len(classifier.classes_)
    for name, value in unused.items():
        if value is not None:
            raise InvalidInputError(
                f"`{name}` must be left out in a report on {n} classes, got one. Fit one class "
                "against the rest to use it."
            )
    given = {str(key): str(value) for key, value in (names or {}).items()}
    if not set(given) <= {"unit", "title"}:
        raise InvalidInputError(
            f"`names` must have the keys 'unit' and 'title' for {n} classes, got {sorted(given)}. "
            "Classes are called by their labels."
        )
    unit = given.get("unit", "rows")
    evidence = _gather(classifier, X, y, unit, as_share("confidence", confidence), nominal)
    goal = _judge_goal(classifier.rule, evidence)
    told = {pair.status: pair.message for pair in classifier.boundaries_.values()}
    return {
        "version": __version__,
        "names": {"unit": unit, "title": given.get("title", f"Telling {n} classes apart")},
        "confidence": confidence,
        "n": int(evidence.matrix.sum()),
        "status": evidence.certificate.status,
        "classes": list(_count_classes(evidence)),
        "matrix": evidence.matrix.tolist(),
        "comparison": [_summarise(_OWN, evidence.own), _summarise("shifted", evidence.matrix)],
        "goal": goal,
        "verdict": _verdict(evidence),
        "diagnosis": _diagnose(evidence, goal, [told[s] for s in told if s not in QUIET]),
        "claims": list(_claims(evidence)),
    }


def _gather(
    classifier: Any, X: Any, y: ArrayLike, unit: str, confidence: float, nominal: str
) -> ClassEvidence:
    """Decide the rows with and without biases, and count."""
    labels, rule = classifier.classes_.tolist(), classifier.rule
    given = as_labels(y, "y")
    unknown = [label for label in dict.fromkeys(given.tolist()) if label not in labels]
    if unknown:
        raise InvalidInputError(
            f"`y` must hold labels that fit has seen, got {unknown[0]!r}. They are "
            f"{', '.join(map(repr, labels))}."
        )
    true = np.searchsorted(classifier.classes_, given)
    scores = classifier._response.read(classifier.estimator_, X, classifier.classes_)
    own, new = find_winner(scores), find_winner(scores + classifier.biases_)
    matrices = np.zeros((2, len(labels), len(labels)), dtype=np.intp)
    for matrix, made in zip(matrices, (own, new), strict=True):
        np.add.at(matrix, (true, made), 1)
    n = matrices[1].sum(axis=1)
    wrong = n - np.diag(matrices[1])
    certificate = certify_counts(
        tuple(wrong.tolist()), tuple(n.tolist()), tuple(labels), confidence=confidence, joint=True
    )
    if nominal:
        certificate = replace(certificate, status="nominal", reason=nominal)
    costs = 1.0 - np.eye(len(labels))
    if isinstance(rule, CostMatrix):
        costs = 1000 * rule.losses(labels)

    def total(losses: FloatArray) -> FloatArray:
        """Return the loss over all classes from each class's mean loss."""
        if isinstance(rule, CostMatrix):
            return rule.total(losses, labels, n.tolist())
        return np.asarray(losses[..., n > 0].mean(axis=-1))

    rng, drawn = np.random.default_rng(0), np.zeros((_DRAWS, len(labels)))
    for k in np.flatnonzero(n):  # a bootstrap of the rows of each class
        rows = true == k
        gains, counts = np.unique(costs[k, own[rows]] - costs[k, new[rows]], return_counts=True)
        drawn[:, k] = rng.multinomial(n[k], counts / n[k], _DRAWS) @ gains / n[k]
    tail = 50 * (1 - confidence)
    low, high = np.percentile(total(drawn), [tail, 100 - tail])
    state = State.UNSURE if low <= 0 <= high else State.BETTER if low > 0 else State.WORSE
    losses = [float(total((costs * m).sum(axis=1) / np.maximum(n, 1))) for m in matrices]
    measure, measured = "mean recall", [percent(1 - loss) for loss in losses]
    if isinstance(rule, CostMatrix):
        measure = "the cost of 1,000 decisions"
        measured = [number(x, ",.0f" if abs(x) >= 1000 else ".4g") for x in losses]
    return ClassEvidence(unit, certificate, matrices[1], matrices[0], measure, measured, state)


def _weakest(evidence: ClassEvidence) -> int:
    return int(np.nanargmax(evidence.certificate.errors))


def _count_classes(evidence: ClassEvidence) -> Iterator[dict[str, Any]]:
    """Yield what is known of each class."""
    certificate, called = evidence.certificate, evidence.matrix.sum(axis=0)
    for k, label in enumerate(certificate.labels):
        n, right = certificate.n_samples[k], evidence.matrix[k, k]
        yield {
            "label": label,
            "n": n,
            "recall": right / n if n else None,
            "recall_before": evidence.own[k, k] / n if n else None,
            "most_missed": certificate.error_bounds[k],
            "precision": right / called[k] if called[k] else None,
        }


def _summarise(method: str, matrix: IndexArray) -> dict[str, Any]:
    """Return metrics of all classes that have rows."""
    n, right = matrix.sum(axis=1), np.diag(matrix)
    seen = n > 0
    recall, f1 = right[seen] / n[seen], 2 * right[seen] / (n + matrix.sum(axis=0))[seen]
    return {
        "method": method,
        "mean recall": float(recall.mean()),
        "least recall": float(recall.min()),
        "macro F1": float(f1.mean()),
        "accuracy": float(right.sum() / n.sum()),
    }


def _judge_goal(rule: Any, evidence: ClassEvidence) -> dict[str, Any] | None:
    """Say whether floors are met, or what decisions cost; None where neither was asked for."""
    if isinstance(rule, CostMatrix):
        state, (before, now) = evidence.state, evidence.measured
        wish = "the least cost, by the cost of each mistake"
        word = {State.BETTER: "Lower cost", State.WORSE: "Higher cost"}.get(state, "May be chance")
        cost = f"1,000 decisions cost {now} on the test rows instead of {before} by {_OWN}."
        parts = [Sentence(f"{word}: {cost}")]
    elif isinstance(rule, ClassFloors):
        asked = rule.recall.items()
        judged = [_judge_floor(label, floor, evidence) for label, floor in asked]
        state = next(state for state in WORDS if state in [each[0] for each in judged])
        wishes = (f"{100 * floor:.6g}% of {evidence.unit} of class {k}" for k, floor in asked)
        wish, word = f"find at least {' and '.join(wishes)} (recall)", WORDS[state]
        parts = [part for _, told in judged for part in told]
    else:
        return None
    parts = [Sentence(f"Goal: {wish}."), *parts]
    told = " ".join(part.text for part in parts)
    return {"state": state, "word": word, "parts": parts, "sentence": told}


def _judge_floor(label: Any, floor: float, evidence: ClassEvidence) -> tuple[State, list[Sentence]]:
    """Say whether the floor of a class is met, and the bound of its recall."""
    certificate = evidence.certificate
    k = certificate.labels.index(label)
    if not certificate.n_samples[k]:
        return State.REACHED, [Sentence(f"There are no test rows of class {label}.")]
    reached, shown = 1 - certificate.errors[k], 1 - certificate.error_bounds[k]
    state = State.REACHED if reached >= floor - _ROUNDING else State.MISSED
    if certificate.certified and shown >= floor - _ROUNDING:
        state = State.MET
    start = f"{WORDS[state]} for class {label}: {percent(reached)} on the test rows;"
    if not certificate.certified:
        return state, [Sentence(f"{start} nothing is certified.")]
    bound = claim(f"at least {at_least(shown)}", certificate.confidence)
    return state, [Sentence(start), Sentence(f"{bound} in all classes together.", "certified")]


def _verdict(evidence: ClassEvidence) -> dict[str, Any]:
    """Say how many rows are found, and missed of the weakest class; only a bound is certified."""
    certificate, k = evidence.certificate, _weakest(evidence)
    before, now = (_summarise("", m)["mean recall"] for m in (evidence.own, evidence.matrix))
    change = "as" if before == now else f"instead of {percent(before)}"
    n, label = certificate.n_samples[k], certificate.labels[k]
    missed, once = (round(100 - 100 * m[k, k] / n) for m in (evidence.matrix, evidence.own))
    told = f"The weakest class is {label}: of 100 {evidence.unit} {missed} are missed"
    told += " as before" if missed == once else f" instead of {once}"
    parts = [
        Sentence(f"Mean recall is {percent(now)} {change} by {_OWN}."),
        Sentence(f"{told}{',' if certificate.certified else '.'}"),
    ]
    note = f"Nothing here is certified. {sentence(certificate.reason)}"
    if certificate.certified:
        bound = claim(f"at most {at_most(certificate.error_bounds[k])}", certificate.confidence)
        parts.append(Sentence(f"{bound}.", "certified"))
        note = (
            f"Measured on {evidence.matrix.sum():,} test rows. The “at most” is valid only if they "
            "were used neither for training nor for choosing the biases. The bounds of all "
            "classes hold together. The other numbers are estimates."
        )
    told = " ".join(part.text for part in parts)
    return {"sentence": told, "parts": parts, "status": certificate.status, "note": note}


def _diagnose(
    evidence: ClassEvidence, goal: Mapping[str, Any] | None, doubts: list[str]
) -> Diagnosis:
    """Collect strong and weak points; the worst one decides what to do next."""
    certificate, chance = evidence.certificate, len(evidence.matrix) - 1
    names = [evidence.rows_of(k) for k in range(chance + 1)]
    total = sum(certificate.error_bounds)
    text = (
        f"With {sure(certificate.confidence)}, the shares of each class that are missed add up to "
        f"at most {at_most(total)} in the long run. By chance they add up to {chance}00%."
    )
    rarest = names[int(np.argmin(certificate.n_samples))]
    proof = judge_proof(certificate.status, total / chance, text, rarest)
    weak, change, precision = _recall(evidence), _change(evidence), _precision(evidence)
    candidates = [proof, weak, change, precision, judge_rows(certificate, names)]
    findings = [finding for finding in candidates if finding is not None]
    findings += [Finding("status", "caution", "The biases need a second look", d) for d in doubts]
    start = "Improve it" if weak.level == "bad" else "Use it with care, or improve it"
    answer, told = (
        Answer.IMPROVE,
        f"{start}: {weak.title[0].lower()}{weak.title[1:]}. {weak.advice}",
    )
    if proof.level == "bad":
        answer, told = Answer.NO, f"{UNPROVED} {proof.advice}"
    elif goal is not None and goal["state"] == State.MISSED:
        told = f"{MISSED} Train a better model, fit it on more rows, or ask for less."
    elif change.level == "bad" and (goal is None or goal["state"] not in WORDS):
        told = f"Use {_OWN}: by {evidence.measure} they are better on these rows."
    elif weak.level == "good":
        answer, told = Answer.USE, "Use it: most rows of every class are found."
        told += "" if precision is None else f" But m{precision.title[1:]}."
    return Diagnosis(findings, answer, told)


def _recall(evidence: ClassEvidence) -> Finding:
    """Say how many rows of the weakest class are missed, and what most of them are called."""
    k, labels = _weakest(evidence), evidence.certificate.labels
    missed, others = evidence.certificate.wrong[k], evidence.matrix[k].copy()
    others[k] = -1
    j = int(np.argmax(others))
    text = f"Of {evidence.matrix[k].sum():,} {evidence.rows_of(k)}, {missed:,} are missed"
    text += f"; {others[j]:,} of these are called class {labels[j]}." if missed else "."
    advice = (
        f"Look for features that tell class {labels[k]} from class {labels[j]}, or for wrong "
        "labels of their rows."
    )
    low = f"The recall of class {labels[k]} is low"
    return grade(
        "recall",
        evidence.certificate.errors[k],
        text,
        (0.2, "good", "The recall of every class is high", ""),
        (0.5, "caution", low, advice),
        (1.0, "bad", f"Most rows of class {labels[k]} are missed", advice),
    )


def _change(evidence: ClassEvidence) -> Finding:
    """Compare with the model's own decisions on the same rows."""
    before, now = evidence.measured
    text = f"By {evidence.measure}: {now} instead of {before}"
    if evidence.state == State.UNSURE:
        text += f"; may be chance ({100 * evidence.certificate.confidence:.6g}%, by resampling)"
        return Finding("change", "caution", f"Not shown to be better than {_OWN}", f"{text}.")
    if evidence.state == State.WORSE:
        return Finding("change", "bad", f"Worse than {_OWN}", f"{text}.")
    return Finding("change", "good", f"Better than {_OWN}", f"{text}.")


def _precision(evidence: ClassEvidence) -> Finding | None:
    """Warn if most rows that are called a class are of another one."""
    called, right = evidence.matrix.sum(axis=0), np.diag(evidence.matrix)
    k = int(np.argmin(np.where(called > 0, right / np.maximum(called, 1), 1.0)))
    if 2 * right[k] >= called[k]:
        return None
    label = evidence.certificate.labels[k]
    text = f"Of {called[k]:,} {evidence.unit} called class {label}, {right[k]:,} belong to it."
    title = f"Most {evidence.unit} called class {label} belong to another"
    return Finding("precision", "caution", title, text)


def _claims(evidence: ClassEvidence) -> Iterator[Statement]:
    """Yield each claim of the report."""
    certificate = evidence.certificate
    told = f"The share missed of each class is at most its bound ({sure(certificate.confidence)})"
    fair = "Valid only if these rows were used neither for training nor for choosing the biases."
    reason = fair if certificate.certified else sentence(certificate.reason)
    yield Statement(told, certificate.status, f"All bounds hold together. {reason}")
    status = "estimate" if certificate.certified else "nominal"
    yield Statement("Recall, precision and the comparison", status, reason)
