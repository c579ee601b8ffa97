"""What a user does wrong, and what the answer must say: the rule, the value and the cure."""

import re

import pytest

SCORES = ["--score", "risk", "--label", "ill"]

# What is wrong → the command, and words that the answer must contain.
MISTAKES = {
    "column misspelled": (
        ["threshold", "scores.csv", "--score", "rsik", "--label", "ill"],
        ["no column 'rsik'", "Did you mean 'risk'?"],
    ),
    "column of another case": (
        ["threshold", "scores.csv", "--score", "risk", "--label", "ILL"],
        ["no column 'ILL'", "Did you mean 'ill'?"],
    ),
    "no such file": (["threshold", "score.csv", *SCORES], ["no file", "Did you mean 'scores.csv'"]),
    "a folder": (["threshold", "folder", *SCORES], ["must be a file", "folder"]),
    "unknown ending": (["threshold", "scores.docx", *SCORES], [".csv", "scores.docx"]),
    "empty file": (["threshold", "empty.csv", *SCORES], ["must have rows", "empty"]),
    "header only": (["threshold", "header.csv", *SCORES], ["must have rows"]),
    "one class": (["threshold", "one.csv", *SCORES], ["Two classes", "holds 1: 'no' (2 rows)"]),
    "three classes": (["threshold", "three.csv", *SCORES], ["holds 3", "--ignore"]),
    "labels some of which are bytes": (["threshold", "bytes.csv", *SCORES], ["holds 3", "b'no'"]),
    "unknown positive": (
        ["threshold", "scores.csv", *SCORES, "--positive", "sick"],
        ["'no', 'yes'", "'sick'"],
    ),
    "text for scores": (
        ["threshold", "text.csv", *SCORES],
        ["Column 'risk'", "must hold numbers", "'high'"],
    ),
    "missing score": (["threshold", "gap.csv", *SCORES], ["finite", "1 that are missing", "Drop"]),
    "NaN in Parquet": (["threshold", "nan.parquet", *SCORES], ["finite", "NaN", "Drop"]),
    "missing label": (["threshold", "unlabelled.csv", *SCORES], ["must have a label", "1"]),
    "uneven rows": (["threshold", "uneven.csv", *SCORES], ["2 cells", "3"]),
    "column twice": (["threshold", "twice.csv", *SCORES], ["must differ", "'risk'"]),
    "text of no encoding": (
        ["threshold", "damaged.csv", *SCORES],
        ["must be UTF-8, UTF-16 or cp1252 text", "--encoding latin-1"],
    ),
    "another encoding": (
        ["threshold", "damaged.csv", *SCORES, "--encoding", "utf-8"],
        ["must be utf-8 text", "--encoding"],
    ),
    "unknown encoding": (
        ["fit", "table.csv", "--target", "ill", "--encoding", "windoze"],
        ["--encoding must be one that Python knows", "'windoze'", "cp1252"],
    ),
    "a sheet of CSV": (
        ["threshold", "scores.csv", *SCORES, "--sheet", "May"],
        ["--sheet must go with an Excel file", "'May'"],
    ),
    "an encoding of Parquet": (
        ["threshold", "nan.parquet", *SCORES, "--encoding", "cp1252"],
        ["--encoding must go with a file of text", "nan.parquet"],
    ),
    "corrupt Parquet": (["threshold", "corrupt.parquet", *SCORES], ["whole Parquet file"]),
    "corrupt gzip": (["threshold", "corrupt.csv.gz", *SCORES], ["corrupt.csv.gz"]),
    "one column for both": (
        ["threshold", "scores.csv", "--score", "risk", "--label", "risk"],
        ["different columns", "'risk'", "--label"],
    ),
    "unknown rule": (
        ["threshold", "scores.csv", *SCORES, "--rule", "best"],
        ["--rule must", "'minimax'", "'best'"],
    ),
    "unknown curve": (
        ["threshold", "scores.csv", *SCORES, "--curve", "tight"],
        ["--curve must", "'smoothed'", "'tight'"],
    ),
    "a rule without its floor": (
        ["threshold", "scores.csv", *SCORES, "--rule", "floors"],
        ["--rule 'floors'", "Floors(recall=0.9)"],
    ),
    "costs below zero": (
        ["threshold", "scores.csv", *SCORES, "--costs", "1,-20"],
        ["--costs must be a positive", "-20"],
    ),
    "bytes for labels": (
        ["threshold", "bytes.parquet", *SCORES],
        ["Column 'ill'", "must hold a label", "binary"],
    ),
    "lists for labels, in passes": (
        ["threshold", "lists.parquet", "lists.parquet", *SCORES],
        ["Column 'ill'", "must hold a label", "list"],
    ),
    "glob without files": (["threshold", "part-*.csv", *SCORES], ["part-*.csv", "none"]),
    "two rules": (
        ["threshold", "scores.csv", *SCORES, "--rule", "sum", "--recall-floor", "0.9"],
        ["only one of", "--recall-floor"],
    ),
    "costs in words": (
        ["threshold", "scores.csv", *SCORES, "--costs", "cheap"],
        ["two numbers", "'cheap'", "--costs miss=20,alarm=1"],
    ),
    "costs of a third kind": (
        ["threshold", "scores.csv", *SCORES, "--costs", "miss=20,alert=1"],
        ["two numbers", "'miss=20,alert=1'", "--costs miss=20,alarm=1"],
    ),
    "floor above one": (
        ["threshold", "scores.csv", *SCORES, "--recall-floor", "900"],
        ["at most 1", "900", "0.9"],
    ),
    "prevalence of nothing": (
        ["threshold", "scores.csv", *SCORES, "--rule", "f1", "--prevalence", "0"],
        ["--prevalence must be a positive", "0.001"],
    ),
    "prevalence that nothing depends on": (
        ["threshold", "scores.csv", *SCORES, "--rule", "g-mean", "--prevalence", "0.1"],
        ["--prevalence must go with a rule that depends on it", "'g-mean'"],
    ),
    "an objective without a floor": (
        ["threshold", "scores.csv", *SCORES, "--then", "f1"],
        ["--then must go with a floor", "--rule f1"],
    ),
    "flag everything": (
        ["threshold", "scores.csv", *SCORES, "--max-flagged", "1"],
        ["--max-flagged must be between 0 and 1", "0.02"],
    ),
    "rows for a share": (
        ["threshold", "scores.csv", *SCORES, "--max-flagged", "50"],
        ["--max-flagged must be between 0 and 1", "50"],
    ),
    "a capacity of more than all": (
        ["fit", "table.csv", "--target", "ill", "--capacity", "400/50"],
        ["--capacity must be a part of all rows", "'400/50'", "--capacity 50/400"],
    ),
    "a capacity beyond the table": (
        ["fit", "table.csv", "--target", "ill", "--capacity", "61"],
        ["below the 60 rows of the table", "'61'"],
    ),
    "a capacity of nobody knows how many": (
        ["threshold", "scores.csv", *SCORES, "--capacity", "50"],
        ["--capacity must be a part of all rows", "--capacity 50/400"],
    ),
    "two capacities": (
        ["threshold", "scores.csv", *SCORES, "--capacity", "1/4", "--max-flagged", "0.2"],
        ["must not both be given"],
    ),
    "an unknown model of several": (
        ["fit", "table.csv", "--target", "ill", "--model", "forest,magic"],
        ["'magic'", "commas"],
    ),
    "no folder to certify": (["certify", "folder", "table.csv"], ["`boundshift fit` wrote"]),
    "unknown metric": (
        ["threshold", "scores.csv", *SCORES, "--metric", "jacard"],
        ["--metric must", "Did you mean 'jaccard'?"],
    ),
    "confidence of one": (
        ["threshold", "scores.csv", *SCORES, "--confidence", "1"],
        ["between 0 and 1", "0.95"],
    ),
    "target misspelled": (
        ["fit", "table.csv", "--target", "il"],
        ["no column 'il'", "Did you mean 'ill'?"],
    ),
    "target of numbers": (
        ["fit", "table.csv", "--target", "age"],
        ["Two classes", "holds 60"],
    ),
    "too few rows": (["fit", "few.csv", "--target", "ill"], ["at least 10 rows", "has 3"]),
    "nothing to learn from": (
        ["fit", "bare.csv", "--target", "ill"],
        ["at least one column", "'constant': it never varies"],
    ),
    "infinity in the table": (
        ["fit", "infinite.csv", "--target", "ill"],
        ["must be finite", "'age'", "infinity"],
    ),
    "unknown model": (
        ["fit", "table.csv", "--target", "ill", "--model", "magic"],
        ["logistic", "'magic'", "boundshift threshold"],
    ),
    "output exists": (
        ["fit", "table.csv", "--target", "ill", "--out", "folder"],
        ["exists already", "--force"],
    ),
    "folder of other files": (
        ["fit", "table.csv", "--target", "ill", "--out", "folder", "--force"],
        ["holds 'letter.txt'", "left as it is"],
    ),
    "no fitted folder": (["predict", "folder", "table.csv"], ["`boundshift fit` wrote"]),
    "prediction in an unknown format": (
        ["predict", "folder", "table.csv", "--out", "out.docx"],
        [".csv", "out.docx"],
    ),
    "prediction exists": (
        ["predict", "folder", "table.csv", "--out", "scores.csv"],
        ["exists already", "--force"],
    ),
    "unknown data set": (["datasets", "pimo"], ["no data set 'pimo'", "'pima'"]),
    "data set exists": (
        ["datasets", "pima", "--out", "table.csv"],
        ["exists already", "--force"],
    ),
    "a rule and costs by row": (
        ["threshold", "scores.csv", *SCORES, "--cost-column", "amount", "--rule", "f1"],
        ["--cost-column must go alone", "rule"],
    ),
    "scores as costs": (
        ["threshold", "beside.csv", *SCORES, "--cost-column", "risk"],
        ["different columns", "'risk'"],
    ),
    "words as costs": (["threshold", "beside.csv", *SCORES, "--cost-column", "site"], ["site"]),
    "costs misspelled": (
        ["threshold", "beside.csv", *SCORES, "--cost-column", "tims"],
        ["Did you mean 'times'?"],
    ),
    "half a zone": (["threshold", "scores.csv", *SCORES, "--zone", "0.05"], ["--zone must be two"]),
    "a zone of too many": (
        ["threshold", "scores.csv", *SCORES, "--zone", "0,2"],
        ["--zone must be two shares between 0 and 1", "got '0,2'", "'0,05;0,05'"],
    ),
    "a zone and a rule": (
        ["threshold", "scores.csv", *SCORES, "--zone", "0.05,0.05", "--rule", "f1"],
        ["--zone must go alone"],
    ),
    "a zone and a certificate": (
        ["threshold", "scores.csv", *SCORES, "--zone", "0.05,0.05", "--certify"],
        ["--zone must go alone"],
    ),
    "a zone of rows that were seen": (
        ["threshold", "scores.csv", *SCORES, "--zone", "0.1,0.1", "--scores", "training"],
        ["--zone must go alone", "--scores"],
    ),
    "no test rows of a class": (
        ["report", "scores.csv", *SCORES, "--test-share", "0.001"],
        ["must leave rows of class"],
    ),
    "two kinds of test rows": (
        ["report", "scores.csv", *SCORES, "--test-share", "0.5", "--test", "scores.csv"],
        ["must not both be given"],
    ),
    "groups by scores": (
        ["report", "beside.csv", *SCORES, "--by", "times"],
        ["2 to 12 different values"],
    ),
    "words as numbers": (
        ["fit", "site.csv", "--target", "ill", "--numeric", "site"],
        ["'site'", "must hold numbers, got 'south'"],
    ),
    "the target left out": (
        ["fit", "table.csv", "--target", "ill", "--drop", "ill"],
        ["'ill'", "to be predicted"],
    ),
    "a column of two roles": (
        ["fit", "table.csv", "--target", "ill", "--drop", "age", "--id", "age"],
        ["'age'", "one role"],
    ),
    "a role misspelled": (
        ["fit", "table.csv", "--target", "ill", "--drop", "aeg"],
        ["Did you mean 'age'"],
    ),
    "a folder without a certificate": (
        ["monitor", "folder", "table.csv"],
        ["must be a folder that `boundshift fit` wrote"],
    ),
    "report exists": (
        ["report", "scores.csv", *SCORES, "--out", "table.csv"],
        ["exists already", "--force"],
    ),
}

# Not understood at all: exit code 2, and a way out.
USAGE = {
    "no such command": ["treshold", "scores.csv"],
    "no such option": ["threshold", "scores.csv", *SCORES, "--colour", "red"],
    "score left out": ["threshold", "scores.csv", "--label", "ill"],
    "a number in words": ["threshold", "scores.csv", *SCORES, "--confidence", "high"],
    "a share in words": ["threshold", "scores.csv", *SCORES, "--recall-floor", "most"],
    "no presets": ["threshold", "scores.csv", *SCORES, "--preset", "paper"],
    "target left out": ["fit", "table.csv"],
}


@pytest.fixture
def files(tmp_path, scores):
    """Make every file that the mistakes are about."""
    import pyarrow as pa
    from pyarrow import parquet

    def write(name, text, encoding="utf-8"):
        (tmp_path / name).write_text(text, encoding=encoding)

    rows = "1,no\n2,no\n3,yes\n4,yes\n"
    write("empty.csv", "")
    write("header.csv", "risk,ill\n")
    write("scores.docx", "")
    write("one.csv", "risk,ill\n1,no\n2,no\n")
    write("three.csv", f"risk,ill\n{rows}5,perhaps\n")
    write("bytes.csv", f"risk,ill\n{rows}5,b'no'\n")
    write("text.csv", f"risk,ill\n{rows}high,yes\n")
    write("gap.csv", f"risk,ill\n{rows},yes\n")
    write("unlabelled.csv", f"risk,ill\n{rows}5,\n")
    write("uneven.csv", f"risk,ill\n{rows}5,yes,really\n")
    write("twice.csv", "risk,ill,risk\n1,no,1\n")
    write("damaged.csv", f"risk,ill\n{rows}5,\x81\n", "latin-1")
    write("corrupt.parquet", "PAR1 and nothing else")
    write("corrupt.csv.gz", "no gzip at all")
    table = pa.table({"risk": [1.0, float("nan"), 3.0], "ill": ["no", "no", "yes"]})
    parquet.write_table(table, tmp_path / "nan.parquet")
    for name, labels in (("bytes", [b"\xff", b"\xfe"]), ("lists", [["a"], ["b"]])):
        table = pa.table({"risk": [1.0, 2.0], "ill": labels})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    ages = "".join(f"{20 + i * 7 % 60},{'yes' if i % 5 == 0 else 'no'}\n" for i in range(60))
    write("table.csv", f"age,ill\n{ages}")
    sites = "".join(
        f"{'north' if i % 3 else 'south'},{'yes' if i % 5 == 0 else 'no'}\n" for i in range(60)
    )
    write("site.csv", f"site,ill\n{sites}")
    beside = "".join(f"{i},{'yes' if i > 15 else 'no'},{i + 1},a\n" for i in range(20))
    write("beside.csv", f"risk,ill,times,site\n{beside}")
    write("few.csv", "age,ill\n" + "40,no\n41,no\n42,no\n" * 10 + "70,yes\n" * 3)
    write("bare.csv", "constant,ill\n" + "1,no\n" * 20 + "1,yes\n" * 20)
    write("infinite.csv", f"age,ill\ninf,no\n{ages}")
    (tmp_path / "folder").mkdir()
    write("folder/letter.txt", "dear diary")
    return tmp_path


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_a_helpful_answer(run, files, mistake):
    command, words = MISTAKES[mistake]
    before = {p: p.read_bytes() for p in files.rglob("*") if p.is_file()}
    result = run(*command, code=1)
    answer = re.sub(r"\s+", " ", result.stderr)
    assert all(word in answer for word in words), answer
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert len(answer) < 500
    assert {p: p.read_bytes() for p in files.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("mistake", USAGE)
def test_what_is_not_understood_has_its_own_exit_code(run, files, mistake):
    result = run(*USAGE[mistake], code=2)
    assert "--help" in result.stderr
    assert "Traceback" not in result.output
