"""Four stories at the terminal: what each command prints stays as it was recorded.

``python tests/app/test_transcripts.py`` records it anew, after an announced change.
"""

import os
import re
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from boundshift._app import app
from tests.stories.make_tables import write_tables

RECORDED = Path(__file__).parent / "transcripts"
STORIES = {
    "fraud": """
        fit fraud.csv --target fraud --model logistic --positive-name frauds --out fraud
        predict fraud fraud.csv --keep country --out fraud_scores.csv
        monitor fraud fraud.csv""",
    "churn": """
        fit churn.csv --target state --model logistic --costs 1,15 --zone 0.1,0.1 --out churn
        predict churn churn.csv --zone churn/zone.json --keep state --out churn_scores.csv
        fit churn.csv --target state --numeric plan
        doctor churn.csv --target state""",
    "screening": """
        fit screening.csv --target ill --recall-floor 0.6 --by sex --model logistic --out screening
        predict screening screening.csv --keep ill --out screening_scores.csv
        threshold screening_scores.csv --score score --label ill --recall-floor 0.6
        threshold screening_scores.csv --score score --label ill --zone 0.1,0.2
        threshold screening_scores.csv screening_scores.csv --score score --label ill
        report screening_scores.csv --score score --label ill --test-share 0.5""",
    "calls": """
        fit calls.csv --target gives --model boosting --out calls
        predict calls next_week.csv --top 50 --out week_scores.csv
        predict calls next_week.csv --threshold 0.3 --out calls_scores.csv
        predict calls missing.csv""",
}


def play(story):
    """Run the commands of a story in this folder; return them and all that they print."""
    write_tables(Path())
    shown = []
    for line in STORIES[story].strip().splitlines():
        result = CliRunner().invoke(app, line.split())
        shown += [f"$ boundshift {line.strip()}", result.stderr, result.stdout]
        shown.append(f"exit code {result.exit_code}\n")
        if line.split()[0] == "predict" and result.exit_code == 0:
            shown.append(_first_rows(Path(line.split()[-1])))
    return "\n".join(part.rstrip() for part in shown if part) + "\n"


def _first_rows(path):
    table = pd.read_csv(path)
    numbers = table.select_dtypes("float").columns
    table[numbers] = table[numbers].map(lambda value: f"{value:.4g}")
    counts = table["prediction"].value_counts().to_dict()
    return f"{table.head(5).to_csv(index=False)}{len(table)} rows: {counts}\n"


def shortened(text):
    """Return a text with its numbers cut to 4 digits, which no processor changes."""
    return re.sub(r"\d+\.\d{4,}", lambda found: f"{float(found[0]):.4g}", text)


@pytest.mark.parametrize("story", STORIES)
def test_the_terminal_says_what_was_recorded(story, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recorded = (RECORDED / f"{story}.txt").read_text(encoding="utf-8")
    assert shortened(play(story)).splitlines() == recorded.splitlines()


if __name__ == "__main__":
    for story in STORIES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text = shortened(play(story))
        (RECORDED / f"{story}.txt").write_text(text, encoding="utf-8")
