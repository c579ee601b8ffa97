"""Whether a threshold and a certificate of the past hold in later months, or at other sites.

Protocol, fixed before the first run:

- data: the ten sets of `lab.data.dated`, with periods (weeks, months, quarters, years or sites) and
  units within them (days, weeks, crashes, storms, schools);
- models: logistic regression and histogram boosting with the settings of scikit-learn, behind
  median imputation; `BoundShiftClassifier` with its default on the first quarter of the periods;
- certificates at 95% of each class, made at up to six points between half and three quarters of
  all periods, of rows since training. They are judged on all periods after that point;
- methods: certificates of the last season (a quarter of a year, at least one period), of all the
  past since training, the same with units or periods as clusters, and about new periods; and a
  threshold chosen again before each period on the last year, at most since training;
- a `Monitor` of each certificate sees the later periods one by one;
- a certificate is broken if the observed error rate of the whole future exceeds its bound, and then
  an alarm is right. With clusters, the rate is the average over clusters. For new periods, it is
  the proportion of single periods that counts;
- a single period counts for a class with at least 5 rows of it;
- every data set counts the same in a mean, however many rows and periods it has. A method that
  fails has no bounds, and its row has the message.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import pandas as pd

from boundshift import BoundShiftClassifier, Certificate, Monitor, certify, find_boundary
from boundshift._typing import BoolArray, FloatArray, IntArray
from boundshift.exceptions import InvalidInputError
from lab.benchmark.train import MODELS, prepared
from lab.data.dated import DATED, DatedRows
from lab.experiment import Experiment, Facts, Tables, quiet, rows_in_parallel
from lab.markdown import Cell, Number, table

CONFIDENCE = 0.95
MOST_POINTS = 6
LEAST_ROWS = 5
CHOSEN = ("logistic regression", "histogram boosting")
CLASSES = ("negative", "positive")
WHOLE_FUTURE = -1
_QUICK = ("covid", "crashes")


@dataclass(frozen=True)
class Method:
    """How a certificate is made: of which rows, with which clusters, and about what."""

    title: str
    last_season: bool = False
    cluster: Literal["unit", "period"] | None = None
    about: Literal["average", "new clusters"] = "average"
    chooses_again: bool = False


METHODS = {
    "season": Method("last season, single rows", last_season=True),
    "past": Method("all the past, single rows"),
    "units": Method("all the past, units as clusters", cluster="unit"),
    "periods": Method("all the past, periods as clusters", cluster="period"),
    "new periods": Method(
        "all the past, about new periods", cluster="period", about="new clusters"
    ),
    "again": Method("threshold chosen again before each period", chooses_again=True),
}


@dataclass(frozen=True)
class Row:
    """One certificate and a later period, or the whole future: bounds and rates of both classes.

    `alarm` is whether its monitor has raised an alarm by the end of the period.
    """

    dataset: str
    model: str
    method: str
    first: int
    period: int
    rows_negative: int
    rows_positive: int
    rate_negative: float
    rate_positive: float
    bound_negative: float = np.nan
    bound_positive: float = np.nan
    alarm_negative: bool = False
    alarm_positive: bool = False
    message: str = ""


@dataclass(frozen=True)
class Scored:
    """Scores of a model that was trained on the first periods, and its threshold."""

    rows: DatedRows
    scores: FloatArray
    threshold: float
    trained: int

    def clusters(self, method: Method) -> IntArray | None:
        """Return the cluster of each row."""
        if method.cluster is None:
            return None
        return self.rows.unit if method.cluster == "unit" else self.rows.period

    def since(self, first: int, method: Method) -> BoolArray:
        """Return which rows a certificate before a period is made of."""
        start = self.trained
        if method.last_season:
            start = max(start, first - max(1, self.rows.season // 4))
        if method.chooses_again:
            start = max(start, first - self.rows.season)
        period = self.rows.period
        return np.asarray((period >= start) & (period < first))

    def count(self, is_judged: BoolArray, threshold: float, method: Method) -> dict[str, float]:
        """Return rows and error rate of each class; with clusters, the average over clusters."""
        is_wrong = (self.scores > threshold) != (self.rows.y == 1)
        clusters = self.clusters(method)
        counts: dict[str, float] = {}
        for label, name in enumerate(CLASSES):
            mine = is_judged & (self.rows.y == label)
            wrong = pd.Series(is_wrong[mine], dtype=float)
            if clusters is not None:
                wrong = wrong.groupby(clusters[mine]).mean()
            counts[f"rows_{name}"] = int(mine.sum())
            counts[f"rate_{name}"] = float(wrong.mean())
        return counts


def score(rows: DatedRows, model: str) -> Scored:
    """Train on the first quarter of the periods."""
    trained = max(1, rows.n_periods // 4)
    is_trained = rows.period < trained
    shifted = BoundShiftClassifier(prepared(MODELS[model](0)))
    with quiet():
        shifted.fit(rows.X[is_trained], rows.y[is_trained])
    return Scored(rows, shifted.positive_scores(rows.X), shifted.threshold_, trained)


def points(n_periods: int) -> list[int]:
    """Return the first periods of up to six futures."""
    ends = np.linspace(n_periods // 2, 3 * n_periods // 4, MOST_POINTS)
    return sorted({int(end) for end in ends})


def make_certificate(scored: Scored, first: int, method: Method) -> Certificate:
    """Certify the threshold on rows before a period."""
    used = scored.since(first, method)
    clusters = scored.clusters(method)
    cluster = None if clusters is None else clusters[used]
    y = scored.rows.y[used]
    return certify(
        y, scored.scores[used], scored.threshold, CONFIDENCE, cluster=cluster, about=method.about
    )


def bounds_of(certificate: Certificate) -> dict[str, float]:
    """Return both bounds by their columns."""
    bounds = zip(CLASSES, certificate.error_bounds, strict=True)
    return {f"bound_{name}": bound for name, bound in bounds}


def describe_error(error: Exception) -> str:
    """Return an error as a row stores it."""
    return f"{type(error).__name__}: {error}"


def watch(scored: Scored, first: int, method: Method) -> Iterator[dict[str, object]]:
    """Yield what is observed in each later period, and in the whole future."""
    rows = scored.rows
    certificate = make_certificate(scored, first, method)
    monitor = Monitor(certificate) if method.about == "average" else None
    clusters = scored.clusters(method)
    known: dict[str, object] = {**bounds_of(certificate)}
    for period in range(first, rows.n_periods):
        now = rows.period == period
        if monitor is not None:
            cluster = None if clusters is None else clusters[now]
            monitor.update(rows.y[now], scored.scores[now], when=period, cluster=cluster)
            for alarm in monitor.alarms:
                known[f"alarm_{CLASSES[alarm.label]}"] = True
        yield {"period": period, **scored.count(now, scored.threshold, METHODS["past"]), **known}
    future = rows.period >= first
    yield {"period": WHOLE_FUTURE, **scored.count(future, scored.threshold, method), **known}


def choose_again(scored: Scored, method: Method) -> Iterator[dict[str, object]]:
    """Yield what is observed in each later period with a threshold chosen just before it."""
    rows = scored.rows
    for period in range(points(rows.n_periods)[0], rows.n_periods):
        used = scored.since(period, method)
        now = rows.period == period
        y = rows.y[used]
        try:
            boundary = find_boundary(y, scored.scores[used])
        except InvalidInputError as error:
            counts = scored.count(now, scored.threshold, method)
            yield {"period": period, **counts, "message": describe_error(error)}
            continue
        certificate = certify(y, scored.scores[used], boundary, CONFIDENCE)
        counts = scored.count(now, boundary.threshold, method)
        yield {"period": period, **counts, **bounds_of(certificate)}


def judge(dataset: str, model: str) -> list[Facts]:
    """Judge every method on one data set and model."""
    scored = score(DATED[dataset](), model)
    judged = []
    for name, method in METHODS.items():
        starts = points(scored.rows.n_periods)
        for first in starts[:1] if method.chooses_again else starts:
            key = {"dataset": dataset, "model": model, "method": name, "first": first}
            try:
                with quiet():
                    seen = list(
                        choose_again(scored, method)
                        if method.chooses_again
                        else watch(scored, first, method)
                    )
            except InvalidInputError as error:
                future = scored.rows.period >= first
                counts = scored.count(future, scored.threshold, method)
                message = describe_error(error)
                seen = [{"period": WHOLE_FUTURE, **counts, "message": message}]
            judged += [asdict(Row(**key, **each)) for each in seen]  # type: ignore[arg-type]
    return judged


def collect(quick: bool) -> Facts:
    names = _QUICK if quick else DATED
    jobs = [(name, model) for name in names for model in (CHOSEN[:1] if quick else CHOSEN)]
    return {"sets": describe(list(names)), "rows": rows_in_parallel(judge, jobs, quick)}


def describe(names: list[str]) -> list[Facts]:
    described = []
    for name in names:
        rows = DATED[name]()
        described.append(
            {
                "dataset": name,
                "rows": len(rows.y),
                "periods": rows.n_periods,
                "units": int(rows.unit.max()) + 1,
                "rare": float(rows.y.mean()),
            }
        )
    return described


def read(facts: Facts) -> pd.DataFrame:
    """Return a row for each class, with whether its rate is above the bound."""
    rows = pd.DataFrame(facts["rows"])
    parts = []
    for name in CLASSES:
        fields = [f"{field}_{name}" for field in ("rows", "rate", "bound", "alarm")]
        own = rows[["dataset", "model", "method", "first", "period", *fields]]
        own.columns = [column.removesuffix(f"_{name}") for column in own.columns]
        parts.append(own.assign(label=name))
    joined = pd.concat(parts, ignore_index=True)
    for column in ("rate", "bound"):
        joined[column] = pd.to_numeric(joined[column])
    return joined.assign(
        above=joined["rate"] > joined["bound"], alarm=joined["alarm"].astype(str) == "True"
    )


def _singles(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[(rows["period"] != WHOLE_FUTURE) & (rows["rows"] >= LEAST_ROWS)]


def _mean_of_sets(rows: pd.DataFrame, column: str) -> float | None:
    """Return the mean over data sets of their means."""
    return float(rows.groupby("dataset")[column].mean().mean()) if len(rows) else None


def _kept(rows: pd.DataFrame) -> list[list[Cell]]:
    lines: list[list[Cell]] = []
    for name, method in METHODS.items():
        mine = rows[rows["method"] == name].assign(unbounded=lambda each: each["bound"] >= 1)
        single = _singles(mine)
        future = mine[mine["period"] == WHOLE_FUTURE]
        if method.about == "new clusters":
            future = future.iloc[:0]
        cells = [
            _mean_of_sets(single, column) for column in ("unbounded", "bound", "rate", "above")
        ]
        shown = [Number(value) for value in (*cells[:3], _mean_of_sets(future, "above"), cells[3])]
        lines.append([method.title, *shown])
    return lines


def _alarms(rows: pd.DataFrame) -> list[list[Cell]]:
    lines: list[list[Cell]] = []
    for name, method in METHODS.items():
        if method.about == "new clusters" or method.chooses_again:
            continue
        mine = rows[rows["method"] == name]
        future = mine[mine["period"] == WHOLE_FUTURE]
        alarm = future["alarm"]
        above = future["above"]
        key = ["dataset", "model", "first", "label"]
        single = mine[(mine["period"] != WHOLE_FUTURE) & mine["alarm"]]
        delay = single.groupby(key)["period"].min().reset_index()
        median = (delay["period"] - delay["first"] + 1).median()
        counts = [len(future), above.sum(), alarm.sum(), (alarm & above).sum()]
        counts += [(alarm & ~above).sum(), (above & ~alarm).sum()]
        lines.append([method.title, *map(int, counts), f"{median:g}" if len(delay) else "–"])
    return lines


def _sets(rows: pd.DataFrame, described: list[Facts]) -> list[list[Cell]]:
    lines: list[list[Cell]] = []
    for each in described:
        mine = rows[rows["dataset"] == each["dataset"]]
        singles = _singles(mine[mine["method"] == "past"])
        misses = singles.loc[singles["label"] == "positive", "rate"]
        future = mine[mine["period"] == WHOLE_FUTURE]
        above = [
            Number(future.loc[future["method"] == name, "above"].mean())
            for name in ("season", "past", "units", "periods")
        ]
        again = _singles(mine[mine["method"] == "again"])["above"].mean()
        size = [f"{each['rows']:,}", each["periods"], Number(each["rare"])]
        ends = [Number(misses.min()), Number(misses.max())]
        lines.append([each["dataset"], *size, *ends, *above, Number(again)])
    return lines


def _again(rows: pd.DataFrame) -> list[list[Cell]]:
    lines: list[list[Cell]] = []
    starts = rows[rows["method"] == "again"].groupby("dataset")["first"].min()
    for dataset, first in starts.items():
        mine = _singles(rows[(rows["dataset"] == dataset) & (rows["first"] == first)])
        rates = mine.groupby(["method", "label"])["rate"].mean()
        shown: list[Cell] = [
            Number(rates[name, label]) for name in ("past", "again") for label in CLASSES
        ]
        balanced = [Number(rates[name].mean()) for name in ("past", "again")]
        lines.append([str(dataset), *shown, *balanced])
    return lines


def tables(facts: Facts) -> Tables:
    rows = read(facts)
    return {
        "kept": table(
            "certificate | no bound | mean bound | mean rate | whole future above | "
            "single periods above",
            _kept(rows),
        ),
        "alarms": table(
            "certificate | bounds watched | broken | alarms | right | false | broken without alarm "
            "| median periods until the alarm",
            _alarms(rows),
        ),
        "sets": table(
            "data | rows | periods | rare | misses, lowest period | highest | future above: "
            "season | past | units | periods | chosen again, periods above",
            _sets(rows, facts["sets"]),
        ),
        "again": table(
            "data | false alarms, fixed | misses, fixed | false alarms, again | misses, again | "
            "mean of both, fixed | again",
            _again(rows),
        ),
    }


EXPERIMENT = Experiment(collect, tables, tidy=True)
