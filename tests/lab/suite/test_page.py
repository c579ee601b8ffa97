import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from lab.harness.canvas import to_png
from lab.harness.environment import environment
from lab.harness.markup import to_markdown
from lab.harness.records import to_json
from lab.harness.rows import METRICS
from lab.harness.tables import Table
from lab.suite import page
from lab.suite.data import SETTINGS
from lab.suite.diagram import draw_critical_difference
from lab.suite.methods import RIVAL_PANEL, default_method
from lab.suite.page import (
    Heading,
    Picture,
    _standing,
    make_page,
    page_to_html,
    page_to_markdown,
)
from lab.suite.results import Results
from lab.suite.summary import summarise, summarise_half
from lab.suite.tables import candidate_tables, panel_table
from tests.lab.suite_rows import row

ROOT = Path(__file__).parents[3]
DEFAULT = default_method()


def _rows():
    """Rows in which the default is the best and the untouched model the worst."""
    rng = np.random.default_rng(0)
    for family in "abcdefgh":
        for model in ("logistic", "forest"):
            for place, method in enumerate((DEFAULT, *RIVAL_PANEL[1:], "untouched")):
                value = 0.9 - 0.02 * place + 0.004 * rng.random()
                error = 1 - value
                yield row(
                    f"{family}1", family, model, 0, method,
                    **dict.fromkeys(METRICS, value),
                    recall_negative=value, recall_positive=value, test_negative=100,
                    test_positive=20, certificate="out-of-fold", certified_negative=error + 0.1,
                    certified_positive=error - 0.01, seconds=0.001, fit_seconds=0.5,
                )  # fmt: skip


@pytest.fixture(scope="module")
def facts():
    summary = summarise(Results(_rows()), DEFAULT)
    datasets = [
        {"name": "a1", "family": "<a>", "half": "report", "n_samples": 9, "n_features": 2,
         "n_minority": 2, "imbalance": 3.5}
    ]  # fmt: skip
    return {
        "command": "python -m lab suite",
        "setting": SETTINGS,
        "environment": environment(),
        "seeds": [0],
        "datasets": datasets,
        "halves": {"report": summary | {"few": {}}},
    }


@pytest.fixture(scope="module")
def parts(facts):
    return make_page(facts)


def test_the_best_has_rank_one_and_the_worst_the_last(facts):
    ranks = facts["halves"]["report"]["ranking"]["g_mean"]["ranks"]
    assert ranks[DEFAULT] == 1.0
    assert ranks["untouched"] == len(ranks) == len(RIVAL_PANEL) + 1


def _regimes():
    """Rows with all rare rows and with few, of methods that a half is told by."""
    values = {"untouched": 0.5, "clairvoyant": 0.9, "tuned/g-mean": 0.7, DEFAULT: 0.8}
    values |= {"tuned/f1": 0.65, "blend/f1@fold-models": 0.75}
    for rare in (0, 5, 20):
        for family in "abc":
            for method, value in values.items():
                yield row(family + "1", family, method=method, rare=rare,
                          **dict.fromkeys(METRICS, value - rare / 100))  # fmt: skip


def test_the_share_of_the_gain_is_told_for_all_and_for_few_rows(facts):
    half = summarise_half(_regimes(), DEFAULT)
    assert list(half["few"]) == ["5", "20", "5 to 20"]
    for each in (half, *half["few"].values()):
        assert each["shares"][DEFAULT]["share"] == pytest.approx(0.75)
        assert each["shares"]["untouched"]["share"] == 0.0
    assert half["few"]["5 to 20"]["counts"]["datasets"] == 6
    told = page_to_markdown(make_page(facts | {"halves": {"report": half}}))
    assert "| .800 (.75; .75 to .75) | .750 (.75; .75 to .75) |" in told
    assert "| blend/f1@fold-models | **.750** | **1.00** |" in told
    assert f"| {DEFAULT} (default) | **.800** |" in told


def test_significance_is_corrected_for_the_number_of_rivals(facts):
    found = facts["halves"]["report"]["against"]["f1"]["untouched"]
    assert (found["wins"], found["ties"], found["losses"]) == (16, 0, 0)
    assert found["p"] < found["holm"] == pytest.approx(len(RIVAL_PANEL) * found["p"])
    assert (found["wins_by_family"], found["losses_by_family"]) == (8, 0)


def test_coverage_is_kept_by_class(facts):
    found = facts["halves"]["report"]["coverage"][DEFAULT]
    assert found["majority"]["covered"] == 1.0
    assert found["minority"]["covered"] == 0.0
    assert not found["both"]["holds"]


def test_parts_of_the_trainings_have_tables_of_their_own(facts):
    strata = facts["halves"]["report"]["strata"]
    assert set(strata["Model"]) == {"Logistic regression", "Random forest"}
    assert strata["Minority rows"]["20–49"]["blocks"] == 16


def test_facts_are_json(facts):
    text = to_json(facts | {"bad": [float("nan"), 1.23456789]})
    assert json.loads(text)["bad"] == [None, 1.23457]


def test_the_page_says_where_the_default_stands(parts):
    text = " ".join(part for part in parts if isinstance(part, str))
    assert f"By G-mean its average rank is 1.00, number 1 of {len(RIVAL_PANEL) + 1}" in text
    assert "and 0 better (none)" in text


def test_only_significant_differences_count(facts):
    half = facts["halves"]["report"]
    found = {name: pair | {"holm": 0.2} for name, pair in half["against"]["f1"].items()}
    found["smote"]["holm"] = 0.01
    text = _standing(half | {"against": {"f1": found}}, "f1", "F1")
    assert text.endswith("1 are significantly worse (smote) and 0 better (none).")
    ranks = half["ranking"]["f1"]["ranks"] | {"smote": 0.5}
    worse = half | {"against": {"f1": found}, "ranking": {"f1": {"ranks": ranks}}}
    assert _standing(worse, "f1", "F1").endswith(
        "0 are significantly worse (none) and 1 better (smote)."
    )


def test_the_best_of_a_column_is_marked(facts):
    lines = {
        line[0]: line for line in panel_table(facts["halves"]["report"], "x").sections[0].lines
    }
    marks = [
        [cell.best for cell in lines[name][1:9]] for name in (f"{DEFAULT} (default)", "untouched")
    ]
    assert marks == [[True] * 8, [False] * 8]


def test_the_page_has_every_section(parts):
    titles = [part.text for part in parts if isinstance(part, Heading)]
    assert titles[0] == "Reported on the other half"
    assert {"Certificates", "Every method", "By model, size and overlap"} <= set(titles)
    assert len([part for part in parts if isinstance(part, Picture)]) == len(METRICS)


def test_tables_have_as_many_cells_as_titles(parts):
    for table in (part for part in parts if isinstance(part, Table)):
        for section in table.sections:
            assert {len(line) for line in section.lines} <= {len(table.header)}


def test_html_needs_nothing_else_and_is_escaped(parts):
    html = page_to_html([*parts, "1 < 2 and `<b>`"])
    assert "<p>1 &lt; 2 and <code>&lt;b&gt;</code></p>" in html
    assert "<a>" not in html
    assert "&lt;a&gt;" in html
    assert not re.search(r'(src|href)="(?!data:)', html)
    assert "<code>python -m lab suite</code>" in html
    HTMLParser().feed(html)


def test_markdown_links_its_pictures(parts):
    text = page_to_markdown(parts)
    assert text.startswith("# Benchmark")
    assert "](images/benchmark/report-g_mean.png)" in text
    assert text.count("![") == len(METRICS)


def test_names_of_tables_are_unique(parts):
    names = [part.name for part in parts if isinstance(part, Table)]
    assert len(names) == len(set(names))


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


def test_the_page_in_the_documentation_is_made_from_the_stored_summary(monkeypatch):
    monkeypatch.setattr(page, "draw_critical_difference", lambda *ranking: None)
    monkeypatch.setattr(page, "to_png", lambda figure: b"")
    stored = json.loads((ROOT / "lab" / "results" / "suite" / "summary.json").read_text("utf-8"))
    written = (ROOT / "docs" / "benchmark.md").read_text("utf-8")
    assert page_to_markdown(make_page(stored)) == written
    assert stored["command"] in written
    counted = 0
    for half in stored["halves"].values():
        numbers = [few for name, few in half["few"].items() if name.isdigit()]
        counted += sum(each["counts"]["rows"] for each in (half, *numbers))
    assert stored["rows"]["count"] == counted


def test_the_page_on_the_default_has_the_tables_that_chose_it():
    stored = json.loads((ROOT / "lab" / "results" / "suite" / "summary.json").read_text("utf-8"))
    written = (ROOT / "docs" / "defaults.md").read_text("utf-8")
    for table in candidate_tables(stored["halves"]["choose"], "choose"):
        assert to_markdown(table) in written
