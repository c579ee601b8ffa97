"""The tables behind the answers: candidates, tests, parts of the trainings, certificates, sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lab.harness.tables import Cell, Number, Section, Table, p_value
from lab.suite.rows import CONFIDENCE
from lab.suite.summary import CHOSEN_BY, RIVAL, STRATUM_METRICS
from lab.suite.tables import SHORT, marked
from lab.suite.words import METRIC_TITLES, title_of

__all__ = [
    "against_table",
    "candidate_tables",
    "claim_table",
    "coverage_table",
    "dataset_table",
    "family_table",
    "method_table",
    "stratum_tables",
]

Facts = dict[str, Any]


def candidate_tables(facts: Facts, half: str) -> list[Table]:
    """Return what the default is chosen from, each against the tuned threshold, in both regimes."""
    regimes = {"All rare rows": facts}
    if "together" in facts:
        regimes["5 to 20 rare rows"] = facts["together"]
    return [
        _candidate_table(title, each, f"{number}-{half}")
        for number, (title, each) in enumerate(regimes.items())
        if each["candidates"]
    ]


def _candidate_table(title: str, facts: Facts, name: str) -> Table:
    """Return means and tests of every candidate."""
    found = facts["candidates"]
    columns = {m: {n: facts["methods"][n][m] for n in found[m]} for m in CHOSEN_BY}

    def share(name: str) -> Number:
        return Number(facts["shares"].get(name, {}).get("share"), digits=2)

    first = [cell for m in CHOSEN_BY for cell in (Number(facts["methods"][RIVAL][m]), "")]
    lines: list[tuple[Cell, ...]] = [(title_of(RIVAL), *first, share(RIVAL))]
    for each in found["g_mean"]:
        cells: list[Cell] = [title_of(each)]
        for metric in CHOSEN_BY:
            tests = found[metric][each]
            both = f"{p_value(tests['holm'])}; {p_value(tests['holm_by_family'])}"
            cells += [marked(columns[metric], each, largest=True), both]
        lines.append((*cells, share(each)))
    header = ["Candidate"]
    for metric in CHOSEN_BY:
        header += [SHORT[metric], "p (blocks; families)"]
    return Table(
        f"candidates-{name}",
        f"{title}: mean over blocks, test against the first line with Holm's correction over the "
        "candidates, and share of the clairvoyant's gain.",
        (*header, "Share"),
        (Section("", tuple(lines)),),
    )


def against_table(facts: Facts, name: str) -> Table:
    """Return the paired tests of the default with every rival."""
    sections = [
        Section(title, tuple(_tested(facts["against"][metric])))
        for metric, title in METRIC_TITLES.items()
    ]
    return Table(
        name,
        "boundshift less each rival, block by block: mean difference, blocks won, tied and lost, "
        "two-sided Wilcoxon signed-rank test before and after Holm's correction over the rivals; "
        "and the same with one block a family, all models averaged.",
        ("Rival", "Difference", "Won/tied/lost", "p", "p (Holm)", "Families", "p (Holm), families"),
        tuple(sections),
    )


def _tested(found: Mapping[str, Facts]) -> Iterable[tuple[Cell, ...]]:
    """Yield one line a rival."""
    for name, facts in found.items():
        yield (
            title_of(name),
            Number(facts["difference"], signed=True),
            "/".join(str(facts[k]) for k in ("wins", "ties", "losses")),
            p_value(facts["p"]),
            p_value(facts["holm"]),
            "/".join(str(facts[f"{k}_by_family"]) for k in ("wins", "ties", "losses")),
            p_value(facts["holm_by_family"]),
        )


def stratum_tables(facts: Facts, half: str) -> list[Table]:
    """Return means and ranks in parts: by model, by size, by overlap."""
    return [
        _stratum_table(facts, title, parts, metric, half)
        for title, parts in facts["strata"].items()
        for metric in STRATUM_METRICS
    ]


def _stratum_table(
    facts: Facts, title: str, parts: Mapping[str, Facts], metric: str, half: str
) -> Table:
    """Return one metric: mean and rank in every part."""
    header = ["Who decides"]
    for name, part in parts.items():
        header += [f"{name} ({part['blocks']})", "rank"]
    lines: list[tuple[Cell, ...]] = []
    overall = facts["ranking"][metric]["ranks"]
    for name in sorted(facts["panel"], key=lambda name: overall[name]):
        cells: list[Cell] = [title_of(name)]
        for part in parts.values():
            means, ranks = (
                dict(zip(facts["panel"], part[metric][which], strict=True))
                for which in ("means", "ranks")
            )
            cells += [
                marked(means, name, largest=True),
                marked(ranks, name, largest=False, digits=2),
            ]
        lines.append(tuple(cells))
    return Table(
        f"{title.split()[0].lower()}-{metric}-{half}",
        f"{title}: mean {METRIC_TITLES[metric]} and average rank; blocks in brackets.",
        tuple(header),
        (Section("", tuple(lines)),),
    )


_SHOWN_BY_FAMILY = ("untouched", "smote", "balanced-weights", RIVAL)


def family_table(facts: Facts, half: str) -> Table:
    """Return the G-mean of each family: the default beside what most readers use."""
    shown = [n for n in (*_SHOWN_BY_FAMILY, facts["default"]) if n in facts["panel"]]
    lines: list[tuple[Cell, ...]] = []
    for family, values in facts["families"].items():
        of = dict(zip(facts["panel"], values, strict=True))
        cells = [marked({n: of[n] for n in shown}, name, largest=True) for name in shown]
        lines.append((family, *cells))
    return Table(
        f"families-{half}",
        "By family: mean G-mean over its data sets and all models; best in bold.",
        ("Family", *map(title_of, shown)),
        (Section("", tuple(lines)),),
    )


_WORDS = {
    "certified": "certified: rows that the deployed model has not seen",
    "cross-fitted": "cross-fitted: out-of-fold scores, a claim about the models of the folds",
    "nominal": "nominal: training scores, which flatter the model",
}


def coverage_table(facts: Facts, name: str, where: str) -> Table:
    """Return how often certificates hold, by word and class, beside what they say."""
    sections = []
    for word, decisions in facts["coverage"].items():
        lines = [
            _covered(title_of(method), label, found[label])
            for method, found in decisions.items()
            for label in ("majority", "minority")
        ]
        sections.append(Section(_WORDS[word], tuple(lines)))
    return Table(
        name,
        f"{where}: certificates at {CONFIDENCE:.0%} for each class, by word.",
        (
            "Decision",
            "Class",
            "Claims",
            "Nominal",
            "Covered",
            "Needed",
            "Contradicted",
            "Mean bound",
            "Mean test error",
        ),
        tuple(sections),
    )


def _covered(title: str, label: str, found: Facts) -> tuple[Cell, ...]:
    """Return one line: what was said, and what the test rows show."""
    return (
        title,
        label,
        str(found["n"]),
        Number(CONFIDENCE),
        Number(found["covered"], best=found["holds"]),
        Number(found["least"]),
        Number(found["contradicted"]),
        Number(found["bound"]),
        Number(found["error"]),
    )


def claim_table(facts: Facts, half: str) -> Table:
    """Return how often the curves' own claims hold, by source."""
    sources = ("training", "out-of-fold", "held-out")
    curves = list(dict.fromkeys(name.partition("/")[0] for name in facts["claims"]))
    lines: list[tuple[Cell, ...]] = [
        (curve, *(Number(facts["claims"].get(f"{curve}/sum@{source}")) for source in sources))
        for curve in curves
    ]
    return Table(
        f"claims-{half}",
        "Share of test errors within the curves' own claims.",
        ("Curve", *sources),
        (Section("", tuple(lines)),),
    )


_GROUPS = {
    "ours": "Curves and rules of this library",
    "rival": "Rivals",
    "other aim": "Rules with another aim",
    "clairvoyant": "The best threshold on the test rows, which nobody knows",
}


def method_table(facts: Facts, name: str, where: str) -> Table:
    """Return every method, best rank by G-mean first in each group."""
    sections = []
    for group, title in _GROUPS.items():
        names = [n for n, method in facts["methods"].items() if method["group"] == group]
        names.sort(key=lambda n: facts["methods"][n]["ranks"].get("g_mean", 0))
        if names:
            sections.append(Section(title, tuple(_method(facts, each) for each in names)))
    header = [
        "Who decides",
        "name for `--methods`",
        *SHORT.values(),
        "rank by G-mean",
        "rank by F1",
    ]
    return Table(
        name,
        f"{where}: mean over blocks, average rank, share of fits with an answer, seconds of "
        "training and milliseconds of deciding per fit.",
        (*header, "Solved", "Fit (s)", "Decide (ms)"),
        tuple(sections),
    )


def _method(facts: Facts, name: str) -> tuple[Cell, ...]:
    method = facts["methods"][name]
    return (
        title_of(name),
        name,
        *(Number(method[metric]) for metric in METRIC_TITLES),
        *(Number(method["ranks"].get(metric), digits=2) for metric in ("g_mean", "f1")),
        f"{100 * method['solved']:.4g}%",
        Number(method["fit_seconds"], digits=2),
        Number(1000 * method["seconds"], digits=1),
    )


def dataset_table(datasets: Sequence[Facts]) -> Table:
    """Return the data sets, by half and family."""
    lines: dict[str, list[tuple[Cell, ...]]] = {}
    for entry in datasets:
        lines.setdefault(entry["half"], []).append(
            (
                entry["name"],
                entry["family"],
                str(entry["n_samples"]),
                str(entry["n_features"]),
                str(entry["n_minority"]),
                Number(entry["imbalance"], digits=1),
            )
        )
    return Table(
        "datasets",
        "Data sets and the half that their family was drawn into.",
        ("Data set", "Family", "Rows", "Features", "Minority", "Imbalance"),
        tuple(Section(half, tuple(each)) for half, each in sorted(lines.items())),
    )
