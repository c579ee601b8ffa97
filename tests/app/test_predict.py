"""A prediction reads a table as the fit did, whatever file it comes from, or refuses."""

import contextlib
import io
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from boundshift import Zone
from boundshift._app import app
from boundshift._app.tables import write_frame

N = 400


@pytest.fixture(scope="module")
def table():
    """Return a table whose answer hangs on columns that files spell in many ways."""
    rng = np.random.default_rng(0)
    smokes = rng.random(N) < 0.4
    code = rng.choice(["01", "02", "X3"], N)
    price = np.round(rng.normal(2000, 500, N), 2)
    risk = 3 * smokes + 2 * (code == "02") + price / 500 + rng.normal(size=N)
    return pd.DataFrame(
        {"smokes": smokes, "code": code, "price": price, "ill": np.where(risk > 6.5, "yes", "no")}
    )


@pytest.fixture(scope="module")
def fitted_once(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    table.to_csv(folder / "t.csv", index=False)
    for words in (
        ["fit", "t.csv", "--target", "ill", "--model", "logistic", "--out", "fit"],
        ["predict", "fit", "t.csv"],
    ):
        with contextlib.chdir(folder):
            result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
    return folder, result.stdout


@pytest.fixture
def fitted(run, fitted_once, tmp_path):
    shutil.copytree(fitted_once[0], tmp_path, dirs_exist_ok=True)
    return fitted_once[1]


@pytest.mark.parametrize("name", ["new.parquet", "new.tsv", "bytes.parquet"])
def test_every_format_gives_the_same_predictions(run, fitted, table, tmp_path, name):
    code = table["code"].map(str.encode) if name == "bytes.parquet" else table["code"]
    write_frame(table.assign(code=code.astype(object)), tmp_path / name)
    assert run("predict", "fit", name).stdout == fitted


def test_codes_keep_their_zeros_where_no_other_code_is_met(run, fitted, table, tmp_path):
    few = table[table["code"] != "X3"]
    few.to_csv(tmp_path / "few.csv", index=False)
    result = run("predict", "fit", "-", input=(tmp_path / "few.csv").read_bytes())
    assert "not seen" not in result.stderr
    lines = fitted.splitlines()
    assert [line.partition(",")[2] for line in result.stdout.splitlines()[1:]] == [
        lines[i + 1].partition(",")[2] for i in few.index
    ]


@pytest.mark.parametrize(
    ("column", "cell"), [("smokes", "perhaps"), ("price", "1.234,5"), ("price", "high")]
)
def test_another_spelling_is_refused(run, fitted, table, tmp_path, column, cell):
    new = table.astype({column: object})
    new.loc[7, column] = cell
    new.to_csv(tmp_path / "new.csv", index=False)
    answer = run("predict", "fit", "new.csv", code=1).stderr
    assert f"Column '{column}' of new.csv must hold" in answer
    assert cell in answer


def test_new_gaps_are_noted(run, fitted, table, tmp_path):
    table.assign(price=None, code=[None, *table["code"][1:]]).to_csv(
        tmp_path / "new.csv", index=False
    )
    said = run("predict", "fit", "new.csv").stderr
    assert "Column 'price' lacks 400 of 400 values here and none in training" in said
    assert "Column 'code' lacks 1 of 400 values" in said


def test_kept_columns_are_as_they_were_written(run, fitted, table, tmp_path):
    table.assign(who=["NA", "007", "1.50"] + ["x"] * (N - 3)).to_csv(
        tmp_path / "new.csv", index=False
    )
    lines = run("predict", "fit", "new.csv", "--keep", "who").stdout.splitlines()
    assert [line.partition(",")[0] for line in lines[1:4]] == ["NA", "007", "1.50"]


def test_spelled_numbers_are_learned_and_predicted(run, table, tmp_path, fitted):
    price = table["price"].map("€{:,.2f}".format)
    table.assign(price=price).to_csv(tmp_path / "euro.csv", index=False)
    result = run("fit", "--model", "logistic", "euro.csv", "--target", "ill", "--out", "euro")
    assert re.search(r"price +number +'€\S+' is", result.stdout)
    assert run("predict", "euro", "euro.csv").stdout == fitted


def test_roles_on_the_command_line_overrule_what_is_inferred(run, table, tmp_path):
    new = table.assign(price=table["price"].round(-3), who=np.arange(N) * 7)
    new.to_csv(tmp_path / "t.csv", index=False)
    roles = ["--category", "price", "--drop", "code", "--drop", "who"]
    shown = " ".join(
        run("fit", "--model", "logistic", "t.csv", "--target", "ill", *roles).stdout.split()
    )
    made = ["price category --category says so", "code left out --drop", "who left out --drop"]
    assert [words for words in made if words not in shown] == []


def test_predictions_have_names_and_say_where_they_are(run, table, tmp_path):
    day = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(N) % 90, "D")
    beside = {"name": [f"Jörg {i * 7919 % 9973}" for i in range(N)], "day": day, "why": "x"}
    table.assign(**beside).to_csv(tmp_path / "t.csv", index=False)
    run("fit", "--model", "logistic", "t.csv", "--target", "ill", "--out", "named", "--drop", "why")
    every = run("predict", "named", "t.csv")
    made = frame_of(every.stdout)
    assert list(made) == ["name", "day", "why", "score", "probability", "prediction"]
    assert made["name"].tolist() == beside["name"]
    n_yes = (made["prediction"] == "yes").sum()
    assert (
        every.stderr == f"400 rows, {n_yes} of them flagged as yes, written to standard output.\n"
    )


def test_cells_written_as_bytes_are_read_as_text(run, table, fitted, tmp_path):
    as_bytes = table.map(lambda cell: str(str(cell).replace("yes", "müde").encode()))
    as_bytes.to_csv(tmp_path / "bytes.csv", index=False)
    said = run(
        "fit", "--model", "logistic", "bytes.csv", "--target", "ill", "--out", "bytes"
    ).stderr
    assert "Note: Cells written as bytes are read as text: b'no' as no." in said
    made = run("predict", "bytes", "bytes.csv", "--keep", "code").stdout
    assert frame_of(made)["code"].astype(str).tolist() == table["code"].tolist()
    assert frame_of(made)["score"].tolist() == pytest.approx(frame_of(fitted)["score"].tolist())
    scores = table[["price"]].assign(ill=as_bytes["ill"])
    scores.to_csv(tmp_path / "scores.csv", index=False)
    scores[1:].to_csv(tmp_path / "more.csv", index=False)
    for files in (["scores.csv"], ["scores.csv", "more.csv"]):
        found = run("threshold", *files, "--score", "price", "--label", "ill")
        assert "Call a row müde if" in found.stdout
        assert "written as bytes" in found.stderr


def frame_of(text):
    return pd.read_csv(io.StringIO(text))


def test_an_edited_boundary_is_refused_unless_it_is_not_asked(run, fitted, tmp_path):
    path = tmp_path / "fit" / "boundary.json"
    stored = json.loads(path.read_text())
    edited = stored["threshold"] / 2
    path.write_text(json.dumps(stored | {"threshold": edited}))
    said = run("predict", "fit", "t.csv", code=1).stderr
    both = f"model.skops, {stored['threshold']!r}, got {edited!r}. Use --threshold"
    assert both in said
    run("predict", "fit", "t.csv", "--top", "3")
    path.unlink()
    assert run("predict", "fit", "t.csv").stdout == fitted


def test_a_threshold_decides_in_the_place_of_the_boundary(run, fitted):
    scores = frame_of(fitted)["score"]
    middle = float(scores.median())
    made = frame_of(run("predict", "fit", "t.csv", "--threshold", middle).stdout)
    assert (made["prediction"] == "yes").tolist() == (scores > middle).tolist()
    assert made["score"].tolist() == scores.tolist()


def test_the_top_rows_are_those_with_the_highest_scores(run, fitted, table, tmp_path):
    every = frame_of(fitted)
    assert every["row"].tolist() == list(range(1, N + 1))
    made = frame_of(run("predict", "fit", "t.csv", "--top", 7).stdout)
    assert made["row"].tolist() == [*every["score"].nlargest(7).index + 1]
    assert set(made["prediction"]) == {"yes"}
    write_frame(table.iloc[[3, 3, 3]].assign(row=list("abc")), tmp_path / "equal.csv")
    made = frame_of(run("predict", "fit", "equal.csv", "--keep", "row", "--top", 2).stdout)
    assert made["row"].tolist() == ["a", "b"]


def test_wishes_that_make_no_sense_are_refused(run, fitted):
    said = run("predict", "fit", "t.csv", "--top", 401, code=1).stderr
    assert "--top must be at most the number of rows, 400, got 401" in said
    said = run("predict", "fit", "t.csv", "--threshold", 1, "--top", 5, code=1).stderr
    assert "Only one of --threshold, --top and --zone must be given" in said


def test_a_zone_decides_in_the_place_of_the_boundary(run, fitted, table, tmp_path):
    frame_of(fitted).assign(ill=table["ill"]).to_csv(tmp_path / "scored.csv", index=False)
    asked = ["--score", "score", "--label", "ill", "--positive", "yes", "--zone", "0.1,0.1"]
    text = run("threshold", "scored.csv", *asked, "--json").stdout
    (tmp_path / "zone.json").write_text(text, encoding="utf-8")
    zone = Zone.from_json(text)
    told = run("predict", "fit", "t.csv", "--zone", "zone.json")
    found = frame_of(told.stdout)
    assert found["prediction"].tolist() == zone.predict(found["score"], "unsure").tolist()
    counts = found["prediction"].value_counts()
    assert f"{counts['yes']} of them flagged as yes and {counts['unsure']} unsure" in told.stderr
    assert {"yes", "no"} < set(found["prediction"])
