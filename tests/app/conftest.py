import numpy as np
import pytest
from typer.testing import CliRunner

from boundshift._app import app


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a command in a folder of its own, as a user does; it works unless a code is named.

    Code 3 is an answer, too: a goal is missed, or nothing is certified.
    """
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, code=(0, 3), **more):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], **more)
        codes = code if isinstance(code, tuple) else (code,)
        assert result.exit_code in codes, result.output
        return result

    return invoke


@pytest.fixture(scope="session")
def score_lines():
    """Scores as any system might write them: 400 healthy rows and 40 ill ones."""
    rng = np.random.default_rng(0)
    ill = np.repeat([0, 1], [400, 40])
    scores = rng.normal(size=440) + 2.5 * ill
    return ["risk,ill", *(f"{s},{'yes' if y else 'no'}" for s, y in zip(scores, ill, strict=True))]


@pytest.fixture
def scores(tmp_path, score_lines):
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(score_lines) + "\n")
    return path


@pytest.fixture
def rows(score_lines):
    cells = [line.split(",") for line in score_lines[1:]]
    return np.array([label for _, label in cells]), np.array([float(score) for score, _ in cells])
