"""A report on more than two classes: recall and precision of each, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from boundshift import __version__
from boundshift._status import QUIET
from boundshift._typing import IndexArray
from boundshift._validation import as_labels
from boundshift._words import Sentence, at_most, claim, percent, sentence
from boundshift.exceptions import InvalidInputError
from boundshift.models._decision import certify_rows
from boundshift.models._scoring import find_winner
from boundshift.report._evidence import WHERE
from boundshift.report._goal import WORDS, Goal, State, join, judge_floor, say_cost, say_floor
from boundshift.report._sentences import (
    UNPROVED,
    Answer,
    Finding,
    Level,
    advise,
    grade,
    judge_proof,
    judge_rows,
    lower,
    say,
    say_missed,
)
from boundshift.rules import ClassFloors, CostMatrix

_OWN = "the model's own decisions"
_VALID = (
    "The bounds hold for all classes together. They are valid only if these rows were used neither "
    "for training nor for choosing the biases."
)


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
    title = given.get("title", f"Telling {n_classes} classes apart")
    known = ClassEvidence(classifier, X, y, confidence, nominal, str(given.get("unit", "rows")))
    certificate, goal = known.certificate, known.judge_goal()
    with np.errstate(invalid="ignore"):  # without rows a share is NaN, which is written as None
        recall, before = (np.diag(m) / m.sum(axis=1) for m in (known.matrix, known.own))
        precision = np.diag(known.matrix) / known.matrix.sum(axis=0)
    titles = ("label", "n", "recall", "recall_before", "most_missed", "precision")
    bounds = certificate.error_bounds
    columns = (certificate.labels, certificate.n_samples, recall, before, bounds, precision)
    told = {pair.status: pair.message for pair in classifier.boundaries_.values()}
    return {
        "version": __version__,
        "names": {"unit": known.unit, "title": title},
        "confidence": confidence,
        "n": known.matrix.sum(),
        "status": certificate.status,
        "classes": [dict(zip(titles, row, strict=True)) for row in zip(*columns, strict=True)],
        "matrix": known.matrix.tolist(),
        "comparison": [_summarise(_OWN, known.own), _summarise("shifted", known.matrix)],
        "goal": goal,
        "verdict": known.verdict(),
        "diagnosis": known.diagnose(goal, [told[s] for s in told if s not in QUIET]),
    }


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


class ClassEvidence:
    """What test rows show of many classes; a matrix counts rows by true and by called class."""

    def __init__(
        self, classifier: Any, X: Any, y: ArrayLike, confidence: float, nominal: str, unit: str
    ) -> None:
        labels, self.rule, self.unit = classifier.classes_.tolist(), classifier.rule_, unit
        true, k = np.searchsorted(classifier.classes_, as_labels(y, "y")), len(labels)
        scores = classifier._response.read(classifier.estimator_, X, classifier.classes_)
        own, new = find_winner(scores), find_winner(scores + classifier.biases_)
        self.own, self.matrix = (
            np.bincount(k * true + made, minlength=k * k).reshape(k, k) for made in (own, new)
        )
        known: dict[str, Any] = {"confidence": confidence, "joint": True}
        self.certificate = certify_rows(true, new != true, tuple(labels), **known)
        if nominal:
            self.certificate = replace(self.certificate, status="nominal", reason=nominal)
        self.where = f"on {WHERE['seen' if nominal else 'test']}"
        self.names = [f"{unit} of class {label}" for label in labels]
        n = self.matrix.sum(axis=1)
        self.absent = [name for name, size in zip(self.names, n, strict=True) if not size]
        self.weakest = int(np.nanargmax(self.certificate.errors))
        # What both decisions are compared by: the cost, or the shares missed.
        costs, weights = 1.0 - np.eye(k), (n > 0) / np.count_nonzero(n)
        if isinstance(self.rule, CostMatrix):
            costs = 1000 * self.rule.losses(labels)
            weights = self.rule.total(np.eye(k), labels, n.tolist())
        share = weights[true] / n[true]
        losses = [float(share @ costs[true, made]) for made in (own, new)]
        gain = costs[true, own] - costs[true, new]
        error = gain - (np.bincount(true, gain, k) / np.maximum(n, 1))[true]
        reach = norm.ppf((1 + confidence) / 2) * np.sqrt(np.sum((share * error) ** 2))
        self.state = State.BETTER if losses[1] < losses[0] else State.WORSE
        if abs(losses[0] - losses[1]) <= reach or nominal or self.absent:
            self.state = State.UNSURE
        self.measure, self.measured = "mean recall", [percent(1 - loss) for loss in losses]
        if isinstance(self.rule, CostMatrix):
            self.measure, self.measured = "the cost of 1,000 decisions", list(map(say_cost, losses))

    def judge_goal(self) -> Goal | None:
        """Say whether floors are met, or what decisions cost; None where neither was asked for."""
        certificate, state, floors = self.certificate, self.state, []
        if isinstance(self.rule, CostMatrix):
            before, now = self.measured
            wish = "the least cost, by the cost of each mistake"
            words = {State.BETTER: "Lower cost", State.WORSE: "Higher cost"}
            word = words.get(state, "Not shown to be lower")
            cost = f"1,000 decisions cost {now} {self.where} instead of {before} by {_OWN}."
            parts = [Sentence(f"{word}: {cost}")]
        elif isinstance(self.rule, ClassFloors):
            parts, wishes = [], []
            for label, asked in self.rule.recall.items():
                k = certificate.labels.index(label)
                wishes.append(f"at least {100 * asked:.6g}% of {self.names[k]}")
                if not certificate.n_samples[k]:
                    parts.append(Sentence(f"There are no rows of class {label}."))
                    continue
                shown = 1 - certificate.error_bounds[k] if certificate.certified else None
                values = (asked, 1 - certificate.errors[k], shown)
                item = judge_floor(f"class {label}", *values, self.where)
                parts += say_floor(item, certificate.confidence, several=True)
                floors.append(item)
            states = [item.state for item in floors]
            states += [State.REACHED] * (len(wishes) - len(floors))
            state = next(state for state in WORDS if state in states)
            wish, word = f"find {' and '.join(wishes)}", WORDS[state]
        else:
            return None
        parts = [Sentence(f"Goal: {wish}."), *parts]
        return Goal(state, word, join(parts), parts, floors)

    def verdict(self) -> dict[str, Any]:
        """Say how many rows are found, and missed of the weakest class; a bound is certified."""
        certificate, k = self.certificate, self.weakest
        before, now = (_summarise("", m)["mean recall"] for m in (self.own, self.matrix))
        change = "as" if before == now else f"instead of {percent(before)}"
        among = f" of the {np.count_nonzero(certificate.n_samples)} classes with rows"
        told = f"Mean recall{among if self.absent else ''} is {percent(now)} {change} by {_OWN}."
        parts, (once, missed) = (
            [Sentence(told)],
            (
                round(100 - 100 * m[k, k] / certificate.n_samples[k])
                for m in (self.own, self.matrix)
            ),
        )
        change = "as before" if missed == once else f"instead of {once}"
        told = (
            f"The weakest class is {certificate.labels[k]}: of 100 {self.unit} {missed} are missed"
        )
        note = f"Nothing here is certified. {sentence(certificate.reason)}"
        if certificate.certified:
            bound = claim(f"at most {at_most(certificate.error_bounds[k])}", certificate.confidence)
            parts += [Sentence(f"{told} {change},"), Sentence(f"{bound}.", "certified")]
            note = f"Measured on {self.matrix.sum():,} test rows. {_VALID} The rest are estimates."
        else:
            parts.append(Sentence(f"{told} {change}."))
        return say(parts, certificate.status, note)

    def diagnose(self, goal: Goal | None, doubts: list[str]) -> dict[str, Any]:
        """Collect strong and weak points; the worst one decides what to do next."""
        certificate, floors = self.certificate, [] if goal is None else goal.floors
        rarest = self.names[int(np.argmin(certificate.n_samples))]
        proof = judge_proof(certificate, sum(certificate.error_bounds), rarest)
        whose = {floor.name: f"{self.unit} of {floor.name}" for floor in floors}
        rows = judge_rows(certificate, self.names, floors, whose)
        weak, precision = self._recall(), self._precision()
        findings: list[Finding | None] = [proof, weak, self._change(), precision, rows]
        findings += [
            Finding("status", "caution", "The biases need a second look", d) for d in doubts
        ]
        start = "Improve it" if weak.level == "bad" else "Use it with care, or improve it"
        told = f"{start}: {lower(weak.title)}. {weak.advice}"
        answer: Answer = "improve it"
        state = self.state if goal is None else goal.state
        if proof.level == "bad":
            answer, told = "do not use it", f"{UNPROVED} {proof.advice}"
        elif self.absent:
            told = f"Add {' and '.join(self.absent)} first: no recall is known without them."
        elif state == State.MISSED:
            told = say_missed("fit it on more rows")
        elif state == State.WORSE:
            told = f"Use {_OWN}: by {self.measure} they are better on these rows."
        elif weak.level == "good":
            answer, told = "use it", "Use it: most rows of every class are found."
            if state == State.REACHED:
                told += f" But the goal is not proved. {rows.advice}"
            elif precision is not None:
                told += f" But {lower(precision.title)}."
        return advise(findings, certificate, answer, told)

    def _recall(self) -> Finding:
        """Say how many rows of the weakest class are missed, and what most of them are called."""
        k, labels = self.weakest, self.certificate.labels
        missed, others = self.certificate.wrong[k], self.matrix[k].copy()
        others[k] = -1
        j = int(np.argmax(others))
        text = f"Of {self.matrix[k].sum():,} {self.names[k]}, {missed:,} are missed"
        text += f"; {others[j]:,} of these are called class {labels[j]}." if missed else "."
        advice = (
            f"Look for features that tell class {labels[k]} from class {labels[j]}, or for wrong "
            "labels of their rows."
        )
        every = "every class with rows" if self.absent else "every class"
        return grade(
            "recall",
            self.certificate.errors[k],
            text,
            (0.2, "good", f"The recall of {every} is high", ""),
            (0.5, "caution", f"The recall of class {labels[k]} is low", advice),
            (1.0, "bad", f"Most rows of class {labels[k]} are missed", advice),
        )

    def _change(self) -> Finding:
        """Say whether the decisions are better than the model's own."""
        level: Level = "good" if self.state == State.BETTER else "caution"
        word = "Better" if self.state == State.BETTER else "Not shown to be better"
        if self.state == State.WORSE:
            level, word = "bad", "Worse"
        text = f"By {self.measure}: {self.measured[1]} instead of {self.measured[0]}."
        return Finding("change", level, f"{word} than {_OWN}", text)

    def _precision(self) -> Finding | None:
        """Warn if most rows that are called a class are of another one."""
        called, right = self.matrix.sum(axis=0), np.diag(self.matrix)
        k = int(np.argmin(np.where(called > 0, right / np.maximum(called, 1), 1.0)))
        if 2 * right[k] >= called[k]:
            return None
        name = f"{self.unit} called class {self.certificate.labels[k]}"
        text = f"Of {called[k]:,} {name}, {right[k]:,} belong to it."
        return Finding("precision", "caution", f"Most {name} belong to another", text)
