"""How numbers, names and boundaries are said: one place for plots, report, summary and terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor
from typing import Any, TypedDict

from boundshift._status import Status

METRIC_TITLES = {
    "g_mean": "G-mean",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "mcc": "Matthews correlation (MCC)",
    "accuracy": "accuracy",
    "recall_positive": "recall",
    "recall_negative": "specificity",
    "recall": "recall",
    "specificity": "specificity",
    "precision": "precision",
    "npv": "npv",
    "f0.5": "F0.5",
    "f2": "F2",
    "kappa": "Cohen's kappa",
    "youden": "Youden's J",
    "markedness": "markedness",
    "flagged": "share flagged",
    "cost": "cost",
    "net_benefit": "net benefit",
    "standardised_net_benefit": "standardised net benefit",
}
"""Title of every metric, for tables and axes."""
METRIC_MEANINGS = {
    "g_mean": "the geometric mean of recall and specificity",
    "balanced_accuracy": "the mean of recall and specificity",
    "f1": "the harmonic mean of recall and precision",
    "accuracy": "the share of all decisions that are right",
}
"""What a metric is, for those who meet it in a table."""
METRICS_COMPARED = (
    "g_mean", "balanced_accuracy", "f1", "accuracy", "recall_positive", "recall_negative"
)  # fmt: skip
"""Columns of a comparison, in their order; more of each is better."""

# Words that end like a plural and are none.
_NO_PLURALS = ("yes", "diabetes", "rabies", "measles", "mumps", "herpes", "always", "overseas")
# Words that start what is said after a noun: "customers who churn".
_AFTER_NOUN = ("who", "whose", "that", "which", "with", "without", "in", "from", "of", "on", "at")


@dataclass(frozen=True)
class Sentence:
    """A piece of text, with the status of what it claims ("certified"), None if nothing."""

    text: str
    status: str | None = None


@dataclass(frozen=True)
class Names:
    """What classes and rows are called.

    `positives` and `negatives` are phrases ("sick patients"), `positive` and `negative` short
    names ("sick"), `cases` are the rows, in the plural ("patients").
    """

    positives: str
    negatives: str
    positive: str
    negative: str
    title: str
    cases: str


class Naming(TypedDict, total=False):
    """The arguments of :func:`name_classes`."""

    case_name: str | None
    positive_name: str | None
    negative_name: str | None
    title: str | None
    target: str | None


def name_classes(
    labels: tuple[Any, Any],
    *,
    case_name: str | None = None,
    positive_name: str | None = None,
    negative_name: str | None = None,
    title: str | None = None,
    target: str | None = None,
) -> Names:
    """Return phrases for both classes and for all rows.

    Without its own name the positive class is called by its label and, if it is known, by the
    column of the labels: "rows with churn = yes". If only the positive class has a name, the
    negative class is "other".
    """
    cases = case_name or "rows"
    if positive_name:
        negative_name = negative_name or "other"
    phrases = []
    short = []
    for name, label in zip((negative_name, positive_name), labels, strict=True):
        if not name:
            phrases.append(name_label(label, cases, target))
            short.append(f"{target} = {_text(label)}" if target else f"class {_text(label)}")
            continue
        phrases.append(_phrase(name, cases))
        is_adjective = name != "other" and phrases[-1] == f"{name} {cases}"
        short.append(name if is_adjective else phrases[-1])
    title = title or f"Finding {phrases[1]}"
    return Names(phrases[1], phrases[0], short[1], short[0], title, cases)


def name_label(label: Any, cases: str, target: str | None) -> str:
    """Return a phrase for the rows of a label."""
    text = _text(label)
    return f"{cases} with {target} = {text}" if target else f"{cases} labelled {text}"


def _text(label: Any) -> str:
    return label.decode(errors="replace") if isinstance(label, bytes) else str(label)


def column_name(y: Any) -> str | None:
    """Return the name of a column of labels, such as a pandas Series; None if it has none."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else None


def _phrase(name: str, cases: str) -> str:
    """Return a noun phrase from an adjective, a relative clause, a plural or such a phrase."""
    words = name.lower().split()
    if words and words[0] in _AFTER_NOUN:
        return f"{cases} {name}"
    plural = words and re.fullmatch(r".*[^siu]s", words[-1]) and words[-1] not in _NO_PLURALS
    alone = plural or cases.lower() in name.lower() or {"with", "of", "who"} & set(words)
    nouns = name[:1].isupper() and cases[:1].isupper()  # as German writes both
    return name if alone or nouns else f"{name} {cases}"


def number(value: float, form: str = ".4g") -> str:
    """Return a number with a true minus, or that it is not known."""
    return "not known" if value != value else f"{value:{form}}".replace("-", "−")


def percent(share: float) -> str:
    """Return a share in percent with one digit, ties to even: complements add up to 100%."""
    return f"{number(round(round(1000 * share, 6)) / 10, '.1f')}%"


def at_least(share: float) -> str:
    return f"{floor(1000 * share + 1e-9) / 10:.1f}%"


def at_most(share: float) -> str:
    return f"{ceil(1000 * share - 1e-9) / 10:.1f}%"


def error_text(share: float) -> str:
    """Return a claimed error in percent with three significant digits."""
    return f"{100 * share:.3g}%"


def row_count(n: int) -> str:
    """Return a number of rows in words."""
    return "1 row" if n == 1 else f"{n:,} rows"


def join_words(items: Sequence[str]) -> str:
    """Return items as a list in a sentence."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def sure(confidence: float) -> str:
    return f"{100 * confidence:.6g}% confidence"


def claim(bound: str, confidence: float, given: str = "") -> str:
    """Return a bound that holds in the long run."""
    return f"in the long run{given} {bound} with {sure(confidence)}"


def sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."


def decision(boundary: Any, threshold: str = "", score: str = "score") -> str:
    """Return what a boundary decides; its threshold in four digits, unless it is spelled out."""
    negative, positive = boundary.labels
    cut = threshold or number(boundary.threshold)
    return f"Predict {positive} if {score} > {cut}, else {negative}"


def claim_text(boundary: Any) -> str:
    """Return which curve claims the errors of a boundary, and what its claim is worth."""
    worth = boundary.curve.claim.value
    negated = ", once the scores are negated" if Status.REVERSED in boundary.statuses else ""
    return f"Claim of the curve “{boundary.curve.name}”{negated}: {worth[0].lower()}{worth[1:]}"


def class_rows(boundary: Any) -> list[tuple[str, tuple[Any, ...]]]:
    """Return what is known of both classes; the paper's quantities only where there are some."""
    rows = [("rows", boundary.n_samples), ("on the wrong side", boundary.wrong)]
    if boundary.geometry is not None:
        known = boundary.geometry
        rows += [("slack", known.slack), ("mean of the kept", known.means)]
        rows += [("radius", known.radii), ("confidence radius", known.confidence_radii)]
        rows.append(("delta", known.deltas))
    return [*rows, ("claimed error", boundary.errors)]


def summary_text(boundary: Any) -> str:
    """Return an account of a :class:`~boundshift.Boundary` in lines."""
    score = "probability" if boundary.scale == "probability" else "score"
    threshold = f"{boundary.threshold:.6g}"  # a plain minus, to be copied
    lines = [decision(boundary, threshold, score), boundary.message, *_table_of(boundary)]
    if all(boundary.n_samples):
        lines.append(_rates_of(boundary))
    rule = "the costs of the rows" if boundary.by_row else boundary.rule
    lines.append(f"By {boundary.curve} and {rule}. {boundary.curve.claim.value}")
    return "\n".join(lines)


def _table_of(boundary: Any) -> list[str]:
    """Return the lines of a table with a column for each class."""
    rows = [*class_rows(boundary), ("loss", (boundary.loss,))]
    if boundary.resolution:
        rows.append(("resolution", (boundary.resolution,)))
    head = "".join(f"{f'class {label}':>14}" for label in boundary.labels)
    lines = [f"{'':<18}{head}".rstrip()]
    for name, values in rows:
        cells = [number(v, ".4g" if isinstance(v, float) else "").replace("−", "-") for v in values]
        lines.append(f"{name:<18}{''.join(f'{cell:>14}' for cell in cells)}")
    return lines


def _rates_of(boundary: Any) -> str:
    """Return a line with the rates of the rows that decided, which have both classes."""
    negative, positive = boundary.n_samples
    false_alarms, missed = boundary.wrong
    found = positive - missed
    flagged = found + false_alarms
    precision = f"{found / flagged:.4g}" if flagged else "undefined"
    f1 = 2 * found / (positive + flagged)
    return (
        f"Rows that decided: recall {found / positive:.4g}, precision {precision}, "
        f"F1 {f1:.4g}, flagged {flagged / (negative + positive):.2%}"
    )


def boundary_html(boundary: Any) -> str:
    """Return a :class:`~boundshift.Boundary` for a notebook."""
    return f"<pre>{escape(summary_text(boundary))}</pre>"
