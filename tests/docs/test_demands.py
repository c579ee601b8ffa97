"""Every line and command of the page of demands runs, or is refused with a reason."""

import contextlib
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from boundshift import BoundaryWarning, InvalidInputError
from boundshift._app import app
from tests.docs.pages import blocks, read, run

PAGE = read("../lab/docs/demands.md")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if re.match(r"\| \d", line)
]
MET = {row[0]: row for row in ROWS if not row[2].startswith("refused")}
COMMANDS = {row[0]: row[3].strip("`") for row in ROWS if not row[3].startswith("none: ")}


@pytest.fixture(scope="module")
def names():
    return run(blocks(PAGE)[0], "demands.md")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the files that the page speaks of."""
    place = tmp_path_factory.mktemp("demands")
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.25).astype(int)
    columns = {
        "risk": rng.normal(size=500) + 3 * y,
        "ill": y,
        "amount": rng.exponential(100, 500),
        "times": rng.integers(1, 4, 500),
        "site": np.where(rng.random(500) < 0.2, "small", "large"),
    }
    scores = pd.DataFrame(columns)
    features = {"age": rng.normal(size=500) + 2 * y, "dose": rng.normal(size=500)}
    table = pd.DataFrame(features | {"ill": y})
    later = {"age": rng.normal(size=500) + 2 * y, "dose": rng.normal(size=500), "ill": y}
    ill = scores["ill"] == 1
    files = {
        "scores": scores,
        "few": pd.concat([scores[~ill], scores[ill][:2]]),
        "healthy": scores[~ill],
        "constant": scores.assign(risk=5.0),
        "table": table,
        "later": pd.DataFrame(later),
        "labels": table.assign(late=(table["dose"] > 1).astype(int)),
    }
    for name, frame in files.items():
        frame.to_csv(place / f"{name}.csv", index=False)
    with contextlib.chdir(place):
        fitted = CliRunner().invoke(
            app, ["fit", "table.csv", "--target", "ill", "--model", "logistic", "--out", "fit"]
        )
    assert fitted.exit_code in (0, 3), fitted.output
    return place


def test_every_demand_is_met_or_refused_with_a_reason():
    numbers = [*range(1, 35), 41, 42, 43, *range(45, 61)]
    assert [row[0] for row in ROWS] == [str(number) for number in numbers]
    assert all(len(row) == 4 for row in ROWS)
    assert len(MET) >= 45
    assert all(command.startswith("boundshift ") for command in COMMANDS.values())


@pytest.mark.parametrize("number", MET)
def test_the_line_of_a_demand_runs(names, number):
    line = MET[number][2].strip("`")
    code, _, comment = line.partition("  # ")
    with warnings.catch_warnings():
        # That a second look is needed is said of some of these problems, and rightly so.
        warnings.simplefilter("ignore", BoundaryWarning)
        if comment == "InvalidInputError":
            with pytest.raises(InvalidInputError):
                eval(code, names)
        else:
            eval(code, names)


@pytest.mark.parametrize("number", COMMANDS)
def test_the_command_of_a_demand_runs(folder, number):
    command, _, comment = COMMANDS[number].partition("  # ")
    with contextlib.chdir(folder):
        done = CliRunner().invoke(app, command.split()[1:])
    assert done.exit_code in ((1,) if comment == "refused" else (0, 3)), done.output
