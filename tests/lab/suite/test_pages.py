import json
import re
from dataclasses import replace

import numpy as np
import pytest

from lab.canvas import to_png
from lab.experiment import ROOT, environment
from lab.methods import METRICS
from lab.suite import pages
from lab.suite.data import SETTINGS
from lab.suite.figures import draw_critical_difference, draw_gains
from lab.suite.methods import METHODS, PANEL, default_method, title_of
from lab.suite.pages import make_pages
from lab.suite.rows import Results
from lab.suite.summary import summarise, summarise_half
from lab.suite.tables import candidate_tables, coverage_table, rank_table

DEFAULT = default_method()


def _rows(row):
    """Rows in which the default is the best and the untouched model the worst."""
    rng = np.random.default_rng(0)
    for family in "abcdefgh":
        for model in ("logistic", "forest"):
            for place, method in enumerate((DEFAULT, *PANEL[1:], "untouched")):
                value = 0.9 - 0.02 * place + 0.004 * rng.random()
                error = 1 - value
                yield row(
                    dataset=f"{family}1", family=family, model=model, method=method,
                    **dict.fromkeys(METRICS, value),
                    recall_negative=value, recall_positive=value, test_negative=100,
                    test_positive=20, certificate="cross-fitted", certified_negative=error + 0.1,
                    certified_positive=error - 0.01, seconds=0.001, fit_seconds=0.5,
                )  # fmt: skip


@pytest.fixture(scope="module")
def facts(row):
    summary = summarise(Results(_rows(row)), DEFAULT)
    datasets = [
        {"name": "a1", "family": "<a>", "half": "report", "n_samples": 9, "n_features": 2,
         "n_minority": 2, "imbalance": 3.5}
    ]  # fmt: skip
    return {
        "command": "python -m lab suite",
        "rows": {"count": 7, "sha256 of its text": "abc"},
        "setting": SETTINGS,
        "environment": environment(),
        "seeds": [0],
        "datasets": datasets,
        "halves": {"report": summary | {"few": {}}},
    }


@pytest.fixture(scope="module")
def written(facts):
    return make_pages(facts)


@pytest.fixture(scope="module")
def parts(written):
    return [part for page in written for part in page.parts]


def _text(pages):
    return "\n".join(page.to_markdown() for page in pages)


def _regimes(row):
    """Rows with all rare rows and with few, of methods that a half is told by."""
    values = {"untouched": 0.5, "clairvoyant": 0.9, "tuned/g-mean": 0.7, DEFAULT: 0.8}
    values |= {"tuned/f1": 0.65, "blend/f1@fold-models": 0.75}
    for rare in (0, 5, 20, 50):
        for family in "abc":
            for method, value in values.items():
                yield row(dataset=family + "1", family=family, method=method, rare=rare,
                          **dict.fromkeys(METRICS, value - rare / 100))  # fmt: skip


def test_the_share_of_the_gain_is_told_for_all_and_for_few_rows(facts, row):
    half = summarise_half(_regimes(row), DEFAULT)
    assert list(half["few"]) == ["5", "20", "50"]
    assert half["together"]["numbers"] == [5, 20]
    for each in (half, half["together"], *half["few"].values()):
        assert each["shares"][DEFAULT]["share"] == pytest.approx(0.75)
        assert each["shares"]["untouched"]["share"] == 0.0
    assert half["together"]["counts"]["datasets"] == 6
    made = make_pages(facts | {"halves": {"report": half}})
    assert [page.name for page in made][:3] == [
        "benchmark", "benchmark_few_rows", "benchmark_goals",
    ]  # fmt: skip
    better, few, goals = (page.to_markdown() for page in made[:3])
    assert "| boundshift, as it comes | .75 (.75 to .75) | .75 (.75 to .75) |" in better
    assert "| boundshift, as it comes | .750 | .600 | .300 | .800 |" in few
    assert "report-gains.png" in few
    assert '| boundshift, rule="f1" | .750 | 2.00 |' in goals
    assert "number 2 of 5, behind boundshift, as it comes" in goals


def test_trainings_on_which_the_tuner_fails_are_told_apart(row):
    rows = [r for r in _regimes(row) if r.rare in (5, 20)]
    broken = [
        replace(r, status="FAILED")
        if (r.method, r.dataset, r.rare) == ("tuned/g-mean", "a1", 5)
        else r
        for r in rows
    ]
    together = summarise_half(broken, DEFAULT)["together"]
    assert together["answered"]["left_out"] == 1
    # 0.7 less rare/100: family a has 20 rare rows only, the two others the mean of 5 and 20.
    assert together["answered"]["g_mean"]["tuned/g-mean"] == pytest.approx(
        0.7 - np.mean([0.2, 0.125, 0.125])
    )
    assert together["methods"]["tuned/g-mean"]["g_mean"] < 0.5
    assert "answered" not in summarise_half(rows, DEFAULT)
    assert summarise_half(rows, DEFAULT)["together"]["answered"] == {}


def test_significance_is_corrected_for_the_number_of_rivals(facts):
    found = facts["halves"]["report"]["against"]["f1"]["untouched"]
    assert (found["wins"], found["ties"], found["losses"]) == (16, 0, 0)
    assert found["p"] < found["holm"] == pytest.approx(len(PANEL) * found["p"])
    assert (found["wins_by_family"], found["losses_by_family"]) == (8, 0)


def test_coverage_is_kept_by_class(facts):
    found = facts["halves"]["report"]["coverage"]["cross-fitted"][DEFAULT]
    assert found["majority"]["covered"] == 1.0
    assert found["minority"]["covered"] == 0.0
    assert not found["both"]["holds"]


def test_the_page_says_where_the_default_stands(written):
    text = written[0].to_markdown()
    assert "boundshift as it comes is number 1 by G-mean (average rank 1.00)" in text
    assert f", of {len(PANEL) + 1}." in text
    assert "rank before it" not in text


def test_the_page_says_who_is_better(facts):
    half = facts["halves"]["report"]
    ranks = {**half["ranking"]["f1"]["ranks"], "smote": 0.5}
    worse = half | {"ranking": half["ranking"] | {"f1": half["ranking"]["f1"] | {"ranks": ranks}}}
    text = make_pages(facts | {"halves": {"report": worse}})[0].to_markdown()
    assert "number 2 by F1" in text
    assert "By F1 these rank before it: model trained again with SMOTE." in text


def test_the_best_of_a_column_is_marked(facts):
    table = rank_table(facts["halves"]["report"], ("f1", "mcc"), "All")
    lines = {line[0]: line for line in table.sections[""]}
    marks = [
        [line[i].best for i in (1, 2, 4, 5)]
        for line in (lines[title_of(DEFAULT)], lines[title_of("untouched")])
    ]
    assert marks == [[True] * 4, [False] * 4]


def test_certificates_are_told_by_word_and_class(facts):
    table = coverage_table(facts["halves"]["report"], "All")
    ((title, section),) = table.sections.items()
    assert title.startswith("cross-fitted")
    lines = [line for line in section if line[0] == title_of(DEFAULT)]
    told = [(line[1], line[3].value, line[4].value, line[4].best) for line in lines]
    assert told == [("majority", 0.95, 1.0, True), ("minority", 0.95, 0.0, False)]


def test_pages_point_to_pages_that_are_written(facts, row):
    halves = {"report": summarise_half(_regimes(row), DEFAULT)}
    halves["choose"] = halves["report"]
    made = make_pages(facts | {"halves": halves})
    links = re.findall(r"\]\((\w+)\.md\)", _text(made))
    assert set(links) == {page.name for page in made} | {"defaults"}


def test_every_method_has_words_of_its_own():
    titles = [title_of(name) for name in METHODS]
    assert len(set(titles)) == len(titles)
    assert not [title for title in titles if "@" in title or "/" in title]


def test_the_diagram_marks_the_default_and_joins_what_is_alike():
    ranks = {"ours": 1.2, "near": 1.9, "far": 3.0}
    figure = draw_critical_difference(ranks, 1.0, "Title", "ours")
    (ax,) = figure.axes
    texts = {text.get_text().strip(): text for text in ax.texts}
    assert texts["ours  1.20"].get_weight() == "bold"
    assert texts["3.00  far"].get_weight() == "normal"
    bars = [line.get_xdata() for line in ax.lines if line.get_linewidth() > 3]
    assert len(bars) == 1
    assert list(bars[0]) == pytest.approx([1.2, 1.9], abs=0.02)
    assert to_png(figure).startswith(b"\x89PNG")


def test_the_gains_are_drawn_one_line_a_method():
    figure = draw_gains(["5", "10", "50", "all"], {"we": [0.9, 1, 1, 1], "they": [0.5] * 4}, "we")
    (ax,) = figure.axes
    solid = [line.get_xdata() for line in ax.lines if line.get_linestyle() == "-"]
    # From 5 to 10 rows the data sets are the same; the line at 1 spans the picture.
    assert [list(x) for x in solid] == [[0, 1], [0, 1], [0, 1]]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["5", "10", "50", "all"]
    assert to_png(figure).startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def stored():
    return json.loads((ROOT / "lab" / "results" / "suite" / "summary.json").read_text("utf-8"))


def test_the_pages_in_the_documentation_are_made_from_the_stored_summary(stored, monkeypatch):
    monkeypatch.setattr(pages, "draw_critical_difference", lambda *ranking: None)
    monkeypatch.setattr(pages, "draw_gains", lambda *shares: None)
    monkeypatch.setattr(pages, "to_png", lambda figure: b"")
    made = make_pages(stored)
    for page in made:
        assert page.to_markdown() == (ROOT / "docs" / f"{page.name}.md").read_text("utf-8")
    kept = {path.stem for path in (ROOT / "docs").glob("benchmark*.md")}
    assert kept == {page.name for page in made}
    drawn = {picture.name for page in made for picture in page.pictures}
    assert drawn == {path.stem for path in (ROOT / "docs/images/benchmark").glob("*.png")}


def test_the_stored_summary_counts_its_rows_and_is_small(stored):
    counted = 0
    for half in stored["halves"].values():
        counted += sum(each["counts"]["rows"] for each in (half, *half["few"].values()))
    assert stored["rows"]["count"] == counted
    assert (ROOT / "lab" / "results" / "suite" / "summary.json").stat().st_size < 700_000


def test_the_page_on_the_default_has_the_tables_that_chose_it(stored):
    written = (ROOT / "docs" / "defaults.md").read_text("utf-8")
    for table in candidate_tables(stored["halves"]["choose"]):
        assert str(table) in written
