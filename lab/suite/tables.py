"""The tables and the picture of the suite's pages, from the stored facts.

The words of ``lab/docs/benchmark*.md`` are written by hand. What is measured stands there in
blocks, which :func:`make_tables` returns by name; those of the half that chose the default begin
with "choose".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lab.canvas import COLORS, new_figure
from lab.experiment import Facts
from lab.markdown import Cell, Line, Number, Table, p_value
from lab.suite.methods import METRIC_TITLES, aiming_at, title_of
from lab.suite.rows import CLAIRVOYANT
from lab.suite.summary import BASELINE, SAME_SETS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Picture(NamedTuple):
    """A picture: the name of its file, what it shows in words, and how it is drawn."""

    name: str
    text: str
    draw: Callable[[], Figure]

    def __str__(self) -> str:
        return f"![{self.text}](images/benchmark/{self.name}.png)"


_MARKERS = "sD^vPXo*"
# Colours that differ in lightness too; the marked method has one of its own.
_OTHERS = ("#0072b2", "#56b4e9", "#009e73", "#cc79a7", "#7f7f7f", "#000000")


def draw_gains(
    numbers: Sequence[str], lines: Mapping[str, Sequence[float | None]], marked: str
) -> Figure:
    """Draw one line a method; numbers that come from other data sets are joined by dots.

    `lines` has a method's shares at each number of rare rows; `marked` is drawn thicker.
    """
    figure = new_figure(9.0, 5.6)
    ax = figure.add_subplot()
    places = np.arange(len(numbers))
    same = [i for i, number in enumerate(numbers) if number in map(str, SAME_SETS)]
    for place, (name, given) in enumerate(lines.items()):
        shares = np.array([np.nan if v is None else v for v in given], dtype=np.float64)
        is_marked = name == marked
        style = {
            "color": COLORS[1] if is_marked else _OTHERS[place % len(_OTHERS)],
            "linewidth": 2.6 if is_marked else 1.2,
            "zorder": 3 if is_marked else 2,
        }
        ax.plot(places, shares, linestyle=":", **style)  # type: ignore[arg-type]
        ax.plot(places[same], shares[same], linestyle="-", **style)  # type: ignore[arg-type]
        marker = _MARKERS[place % len(_MARKERS)]
        ax.plot(places, shares, marker, label=name, markersize=6, **style)  # type: ignore[arg-type]
    ax.axhline(1.0, color="0.5", linewidth=0.8)
    ax.set_xticks(places, numbers)
    ax.set_xlabel("rare rows to train on")
    ax.set_ylabel("share of the best threshold's gain")
    ax.set_ylim(min(0.0, ax.get_ylim()[0]), max(1.05, ax.get_ylim()[1]))
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure


_ALL = "All rare rows"
_FEW = "5, 10 and 20 rare rows together"
_SHORT = METRIC_TITLES | {"balanced_accuracy": "Bal. acc."}
_USUAL = ("untouched", "smote", "balanced-weights")
_PAPER = "paper/authors@training"
_HEADLINE = (*_USUAL, "tuned/balanced-accuracy", BASELINE, "best-cut/g-mean@out-of-fold", _PAPER)
_DRAWN = ("smote", "balanced-weights", "tuned/balanced-accuracy", BASELINE, _PAPER)


def make_tables(facts: Facts) -> dict[str, str | Table | Picture]:
    """Return every block of the pages by its name; what was not run has none."""
    found: dict[str, str | Table | Picture] = {
        "setting": _setting(facts),
        "datasets": dataset_table(facts["datasets"]),
    }
    for half, prefix in (("report", ""), ("choose", "choose ")):
        if half in facts["halves"]:
            blocks = _blocks(facts["halves"][half], half)
            found |= {f"{prefix}{name}": block for name, block in blocks}
    return found


def _blocks(told: Facts, half: str) -> Iterator[tuple[str, str | Table | Picture]]:
    regimes = {_ALL: ("", told), _FEW: ("few ", told.get("together", {}))}
    regimes = {where: each for where, each in regimes.items() if "methods" in each[1]}
    for where, (mark, each) in regimes.items():
        yield f"{mark}counts", _counts(each)
        yield f"{mark}ranks", rank_table(each, where)
        yield f"{mark}methods", method_table(each, where)
        yield f"{mark}tests", against_table(each, where)
        for metric in each["goals"]:
            yield f"{mark}{metric}", goal_table(each, metric, where)
    if regimes:
        yield "verdict", verdict_table({where: each for where, (_, each) in regimes.items()})
    if told.get("shares"):
        yield "headline", headline_table(told)
        yield "gains", _gains(told, half)
    if "by_model" in told:
        yield "models", model_table(told)


def _setting(facts: Facts) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in facts["environment"].items())
    return (
        f"Made by `{facts['command']}`, splits of each set: {len(facts['seeds'])}. It stored "
        f"{facts['rows']['count']} rows, whose text has the SHA-256 checksum "
        f"`{facts['rows']['sha256 of its text']}`. Versions: {versions}."
    )


def _counts(facts: Facts) -> str:
    count = facts["counts"]
    failed = f"{count['failed']} rows failed" if count["failed"] else "no row failed"
    text = (
        f"{count['families']} families, {count['datasets']} data sets, {count['models']} models, "
        f"{count['seeds']} split(s); {count['fits']} trainings, {count['blocks']} blocks; {failed}."
    )
    return " ".join([text, *(f"`{message}`" for message in count["messages"][:5])])


def _gains(told: Facts, half: str) -> Picture:
    regimes = regimes_of(told)
    shown = [n for n in (*_DRAWN, told["default"]) if n in told["shares"]]
    numbers = [title.removesuffix(" rare rows") for title in regimes]
    lines = {
        title_of(name): [each["shares"][name]["share"] for each in regimes.values()]
        for name in shown
    }
    text = "Share of the gain of the best threshold on the test rows, by rare rows to train on"
    return Picture(f"{half}-gains", text, partial(draw_gains, numbers, lines, title_of(shown[-1])))


def regimes_of(facts: Facts, most: int = 10**9) -> dict[str, Facts]:
    """Return the facts for each number of rare rows up to one, all rows last."""
    few = {f"{n} rare rows": told for n, told in facts["few"].items() if int(n) <= most}
    return few | ({"all rare rows": facts} if "methods" in facts else {})


def verdict_table(regimes: Mapping[str, Facts]) -> Table:
    """Return the place of the default by every metric, beside the tuned threshold."""
    sections: dict[str, list[Line]] = {}
    for where, facts in regimes.items():
        default = facts["default"]
        lines = sections.setdefault(where, [])
        for metric, title in METRIC_TITLES.items():
            ranks = facts["ranking"][metric]["ranks"]
            place = 1 + sum(rank < ranks[default] for rank in ranks.values())
            means = [facts["methods"].get(n, {}).get(metric) for n in (default, BASELINE)]
            lines.append((title, f"{place} of {len(ranks)}", *map(Number, means)))
    return Table(
        "The default's place among all methods by average rank, and its mean beside that of "
        "scikit-learn's threshold tuned for the G-mean.",
        ("Metric", "Place", "boundshift", "tuned threshold"),
        sections,
    )


def headline_table(facts: Facts) -> Table:
    """Return the share of the best threshold's gain: few rows and all, one line a method."""
    regimes = regimes_of(facts, 20)
    default = facts["default"]
    ours = dict.fromkeys([default, f"{default.partition('@')[0]}@out-of-fold"])
    names = [n for n in (*_HEADLINE, *ours, CLAIRVOYANT) if n in facts["shares"]]

    def gained(told: Facts, name: str) -> str:
        if name not in told["shares"]:
            return "–"
        value, low, high = (_point(told["shares"][name][key]) for key in ("share", "low", "high"))
        return f"{value} ({low} to {high})"

    return Table(
        "Share of what the best threshold on the test rows would gain over the untouched "
        "model, measured by G-mean; in brackets a 95% interval over families.",
        ("Who decides", *regimes),
        {"": [(title_of(n), *(gained(each, n) for each in regimes.values())) for n in names]},
    )


def _point(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    text = f"{value:.2f}"
    return (text.replace("0.", ".", 1) if abs(value) < 1 else text).replace("-", "−")


def marked(
    values: Mapping[str, float], name: str, *, largest: bool = True, digits: int = 3
) -> Number:
    best = (max if largest else min)(values.values())
    return Number(values[name], digits=digits, best=round(values[name] - best, digits + 1) == 0)


def rank_table(facts: Facts, where: str) -> Table:
    """Return mean and average rank of the default and its baselines; the G-mean gives the order."""
    ranks = {metric: facts["ranking"][metric]["ranks"] for metric in METRIC_TITLES}
    means = {m: {n: facts["methods"][n][m] for n in facts["panel"]} for m in METRIC_TITLES}
    header = ["Who decides"]
    lines = []
    for metric in METRIC_TITLES:
        header += [_SHORT[metric], "rank"]
    for each in sorted(facts["panel"], key=lambda each: ranks["g_mean"][each]):
        cells: list[Cell] = [title_of(each)]
        for metric in METRIC_TITLES:
            rank = marked(ranks[metric], each, largest=False, digits=2)
            cells += [marked(means[metric], each), rank]
        lines.append(tuple(cells))
    return Table(
        f"{where}: mean over {facts['ranking']['g_mean']['blocks']} blocks and average rank among "
        f"{len(facts['panel'])}; 1 is best.",
        tuple(header),
        {"": lines},
    )


def model_table(facts: Facts) -> Table:
    overall = facts["ranking"]["g_mean"]["ranks"]
    parts = facts["by_model"]
    names = sorted(facts["panel"], key=lambda name: overall[name])
    columns = [dict(zip(facts["panel"], means, strict=True)) for means in parts.values()]
    return Table(
        "Mean G-mean by kind of model.",
        ("Who decides", *parts),
        {"": [(title_of(n), *(marked(column, n) for column in columns)) for n in names]},
    )


def goal_table(facts: Facts, metric: str, where: str) -> Table:
    """Return the rule for a metric beside the tuned threshold for it and everything else."""
    found = facts["goals"][metric]
    ranks = found["ranking"]["ranks"]
    tests = found["against"]
    means = {each: facts["methods"][each][metric] for each in ranks}
    title = METRIC_TITLES[metric]
    lines: list[Line] = [
        (
            title_of(each),
            marked(means, each),
            marked(ranks, each, largest=False, digits=2),
            Number(facts["methods"][each]["g_mean"]),
            p_value(tests[each]["p"]) if each in tests else "",
        )
        for each in sorted(ranks, key=lambda each: ranks[each])
    ]
    return Table(
        f"{where}: mean {title} over {found['ranking']['blocks']} blocks, average rank among "
        f"{len(ranks)}, the G-mean that comes with it, and the test of "
        f"`{title_of(aiming_at(metric)[0])}` against each.",
        ("Who decides", title, "rank", "G-mean", "p"),
        {"": lines},
    )


def against_table(facts: Facts, where: str) -> Table:
    """Return the paired tests of the default with every baseline, by families."""

    def line(name: str, found: Facts) -> Line:
        won = "/".join(str(found[k]) for k in ("wins", "ties", "losses"))
        return (title_of(name), Number(found["difference"], signed=True), won, p_value(found["p"]))

    return Table(
        f"{where}: boundshift less each baseline, one pair for each family of data sets.",
        ("Baseline", "Difference", "Families won/tied/lost", "p"),
        {
            title: [line(name, found) for name, found in facts["against"][metric].items()]
            for metric, title in METRIC_TITLES.items()
            if metric in ("g_mean", "balanced_accuracy")
        },
    )


_GROUPS = {
    "ours": "Curves and rules of this library",
    "baseline": "Baselines",
    "other aim": "Rules with another aim",
    "clairvoyant": "The best threshold on the test rows, which nobody knows",
}


def method_table(facts: Facts, where: str) -> Table:
    """Return every method, best rank by G-mean first in each group."""

    def line(name: str) -> Line:
        method = facts["methods"][name]
        return (
            title_of(name),
            name,
            *(Number(method[metric]) for metric in METRIC_TITLES),
            Number(method["ranks"].get("g_mean"), digits=2),
            f"{100 * method['solved']:.4g}%",
            Number(method["fit_seconds"], digits=2),
            Number(1000 * method["seconds"], digits=1),
        )

    sections = {}
    for group, title in _GROUPS.items():
        names = [n for n, method in facts["methods"].items() if method["group"] == group]
        names.sort(key=lambda n: facts["methods"][n]["ranks"].get("g_mean", 0))
        if names:
            sections[title] = [line(each) for each in names]
    others = ("rank by G-mean", "Solved", "Fit (s)", "Decide (ms)")
    return Table(
        f"{where}: mean over blocks, average rank, share of fits with an answer, seconds of "
        "training and milliseconds of deciding per fit.",
        ("Who decides", "name for `--methods`", *_SHORT.values(), *others),
        sections,
    )


def dataset_table(datasets: Sequence[Facts]) -> Table:
    lines: dict[str, list[Line]] = {}
    for entry in datasets:
        sizes = (str(entry[k]) for k in ("n_samples", "n_features", "n_minority"))
        lines.setdefault(entry["half"], []).append(
            (entry["name"], entry["family"], *sizes, Number(entry["imbalance"], digits=1))
        )
    return Table(
        "Data sets and the half that their family was drawn into.",
        ("Data set", "Family", "Rows", "Features", "Minority", "Imbalance"),
        dict(sorted(lines.items())),
    )
