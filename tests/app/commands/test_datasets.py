import csv

from boundshift.datasets import load_pima


def test_the_list_shows_sizes(run):
    shown = run("datasets").stdout
    assert all(name in shown for name in ("pima", "heart", "hepatitis", "breast_cancer", "268"))


def test_one_is_described(run):
    shown = run("datasets", "pima").stdout
    assert "768 rows, 8 columns" in shown
    assert "boundshift datasets pima --out pima.csv" in shown


def test_one_is_written_with_words_for_classes(run, tmp_path):
    run("datasets", "pima", "--out", "pima.csv")
    with (tmp_path / "pima.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    pima = load_pima()
    assert [row["target"] for row in rows] == pima.target_names[pima.target].tolist()
    assert [float(row["Age"]) for row in rows] == pima.data[:, -1].tolist()


def test_what_was_written_is_said_beside_the_results(run):
    written = run("datasets", "pima", "--out", "my pima.csv")
    assert written.stdout == ""
    assert "768 rows and 9 columns to my pima.csv" in written.stderr
    assert "boundshift fit 'my pima.csv' --target target" in written.stderr


def test_a_pipe_gets_the_table_alone(run):
    piped = run("datasets", "pima", "--out", "-")
    assert piped.stderr == ""
    assert len(piped.stdout.splitlines()) == 769
