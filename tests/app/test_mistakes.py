"""What a user does wrong, and what the answer must say: the rule, the value and the cure."""

import pickle
import re

import pytest

from boundshift import Floors
from boundshift.exceptions import InvalidInputError

# A mistake, and words that the answer must contain. Columns are risk and ill, or the target is ill,
# unless others are named.
MISTAKES = """
threshold scores.csv --score rsik --label ill | no column 'rsik' | Did you mean 'risk'?
threshold scores.csv --score risk --label ILL | no column 'ILL' | Did you mean 'ill'?
threshold scores.csv --score risk --label risk | different columns | 'risk' | --label
threshold score.csv | no file | Did you mean 'scores.csv'
threshold folder | must be a file | folder
threshold scores.docx | .csv | scores.docx
threshold part-*.csv | part-*.csv | none
threshold empty.csv | must have rows | empty
threshold header.csv | must have rows
threshold one.csv | Two classes | holds 1: 'no' (2 rows)
threshold three.csv | holds 3 | --ignore
threshold bytes.csv | holds 3 | b'no'
threshold scores.csv --positive sick | 'no', 'yes' | 'sick'
threshold text.csv | Column 'risk' | must hold numbers | 'high'
threshold gap.csv | finite | 1 that are missing | Drop
threshold nan.parquet | finite | NaN | Drop
threshold uneven.csv | 2 cells | 3
threshold twice.csv | must differ | 'risk'
threshold damaged.csv | must be UTF-8, UTF-16 or cp1252 text | --encoding latin-1
threshold damaged.csv --encoding utf-8 | must be utf-8 text | --encoding
threshold scores.csv --sheet May | --sheet must go with an Excel file | 'May'
threshold nan.parquet --encoding cp1252 | --encoding must go with a file of text | nan.parquet
threshold corrupt.parquet | whole Parquet file
threshold corrupt.csv.gz | corrupt.csv.gz
threshold bytes.parquet | Column 'ill' | must hold a label | binary
threshold lists.parquet | Column 'ill' | must hold a label | list
threshold scores.csv --rule best | --rule must | 'minimax' | 'best'
threshold scores.csv --curve tight | --curve must | 'smoothed' | 'tight'
threshold scores.csv --rule floors | --rule must | 'floors' | Floors(recall=0.9)
threshold scores.csv --metric jacard | --metric must | Did you mean 'jaccard'?
threshold scores.csv --rule sum --recall-floor 0.9 | only one of | --recall-floor
threshold scores.csv --costs 1,-20 | --costs must be two positive | '1,-20' | miss=20,alarm=1
threshold scores.csv --costs 1,nan | --costs must be two positive | '1,nan'
threshold long.csv | must name the columns | 131,072 characters
threshold scores.csv --costs cheap | two positive numbers | 'cheap' | miss=20,alarm=1
threshold scores.csv --costs miss=20,alert=1 | two positive numbers | 'miss=20,alert=1'
threshold scores.csv --rule f1 --prevalence 0 | --prevalence must be a positive | 0.001
threshold scores.csv --prevalence 0.1 --rule g-mean | a rule that depends on it | 'g-mean'
threshold scores.csv --then f1 | --then must go with a floor | --rule f1
threshold scores.csv --capacity 1 | --capacity must be a part of all rows | '1' | 50/400
threshold scores.csv --capacity 50 | --capacity must be a part of all rows | '50' | 50/400
threshold scores.csv --capacity 400/50 | --capacity must be a part of all rows | '400/50'
threshold scores.csv --confidence 1 | between 0 and 1 | 0.95
threshold scores.csv --cost-column amount --rule f1 | --cost-column must go alone | goal
threshold beside.csv --cost-column risk | different columns | 'risk'
threshold beside.csv --cost-column site | site
threshold beside.csv --cost-column tims | Did you mean 'times'?
threshold scores.csv --zone 0.05 | --zone must be two
threshold scores.csv --zone 0,2 | --zone must be two shares between 0 and 1 | '0,2' | '0,05;0,05'
threshold scores.csv --zone 0.05,0.05 --rule f1 | --zone must go alone
threshold scores.csv --zone 0.05,0.05 --own 0.5 | --zone must go alone
threshold scores.csv --zone 0.1,0.1 --scores training | --zone must go alone | --scores
report scores.csv --test-share 0.001 | must leave rows of class
report scores.csv --test-share 0.5 --test scores.csv | --test must go without --test-share
report beside.csv --by times | 2 to 12 different values
report scores.csv --out table.csv | exists already | --force
report scores.csv --out scores.csv --force | --out must not be a file that is read
report scores.csv --out link.html --force | --out must not be a link | table.csv
predict folder table.csv --out table.csv --force | --out must not be a file that is read
predict folder table.csv --out folder/../table.csv --force | --out must not be a file that is read
predict folder scores.csv --out link.csv --force | --out must not be a link | table.csv
predict folder table.csv --out link.csv --force | --out must not be a file that is read
fit table.csv --target il | no column 'il' | Did you mean 'ill'?
fit table.csv --target age | Two classes | holds 60
fit table.csv --encoding windoze | --encoding must be one that Python knows | 'windoze' | cp1252
fit table.csv --model forest,magic | logistic | 'magic' | commas | boundshift threshold
fit few.csv | at least 10 rows | has 3
fit bare.csv | at least one column | 'constant': it never varies
fit infinite.csv | must be finite | 'age' | infinity
fit table.csv --out folder | exists already | --force
fit table.csv --out few.csv/out | cannot be written | --out
threshold percent.csv | 'risk' | '20%' | write % in every cell or in none
fit table.csv --out folder --force | holds 'letter.txt' | left as it is
fit table.csv --out few.csv --force | 'few.csv' | left as it is
fit site.csv --numeric site | 'site' | must hold numbers, got 'south'
fit table.csv --drop ill | 'ill' | to be predicted
fit table.csv --drop age --numeric age | one role | 'age' in --drop and --numeric
fit table.csv --drop aeg | Did you mean 'age'
predict folder table.csv | `boundshift fit` wrote
predict folder table.csv --out out.docx | .csv | out.docx
predict folder table.csv --out scores.csv | exists already | --force
certify folder table.csv | `boundshift fit` wrote
monitor folder table.csv | must be a folder that `boundshift fit` wrote
datasets pimo | one of pima | 'pimo'
datasets pima --out table.csv | exists already | --force
"""
MISTAKES = [line.split(" | ") for line in MISTAKES.strip().splitlines()]
MORE = {"threshold": ["--score", "risk", "--label", "ill"], "fit": ["--target", "ill"]}
MORE["report"] = MORE["threshold"]

# Not understood at all: exit code 2, and a way out.
USAGE = """
treshold scores.csv
threshold scores.csv --label ill
threshold scores.csv --score risk --label ill --colour red
threshold scores.csv --score risk --label ill --confidence high
threshold scores.csv --score risk --label ill --recall-floor most
threshold scores.csv --score risk --label ill --recall-floor 900
threshold scores.csv --score risk --label ill --recall-floor 1.2
threshold scores.csv --score risk --label ill --recall-floor nan
threshold scores.csv --score risk --label ill --confidence 1.5
report scores.csv --score risk --label ill --own nan
predict folder table.csv --threshold nan
predict folder table.csv --threshold inf
predict folder table.csv --top 0
fit table.csv
"""


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
    write("percent.csv", "risk,ill\n0.5,yes\n20%,no\n")
    write("gap.csv", f"risk,ill\n{rows},yes\n")
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
    write("site.csv", "site,ill\n" + "south,no\nnorth,yes\nnorth,no\n" * 20)
    beside = "".join(f"{i},{'yes' if i > 15 else 'no'},{i + 1},a\n" for i in range(20))
    write("beside.csv", f"risk,ill,times,site\n{beside}")
    write("few.csv", "age,ill\n" + "40,no\n41,no\n42,no\n" * 10 + "70,yes\n" * 3)
    write("bare.csv", "constant,ill\n" + "1,no\n" * 20 + "1,yes\n" * 20)
    write("infinite.csv", f"age,ill\ninf,no\n{ages}")
    (tmp_path / "folder").mkdir()
    write("folder/letter.txt", "dear diary")
    write("long.csv", f'"{"a" * 140_000}",ill\n{rows}')
    for link in ("link.csv", "link.html"):
        (tmp_path / link).symlink_to("table.csv")
    return tmp_path


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0])
def test_a_mistake_gets_a_helpful_answer(run, files, mistake):
    (command, *options), *words = mistake[0].split(), *mistake[1:]
    before = {p: p.read_bytes() for p in files.rglob("*") if p.is_file()}
    result = run(command, *MORE.get(command, []), *options, code=1)
    answer = re.sub(r"\s+", " ", result.stderr)
    assert all(word in answer for word in words), answer
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert len(answer) < 500
    assert {p: p.read_bytes() for p in files.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("mistake", USAGE.strip().splitlines())
def test_what_is_not_understood_has_its_own_exit_code(run, files, mistake):
    result = run(*mistake.split(), code=2)
    assert "--help" in result.stderr
    assert "Traceback" not in result.output


def test_an_error_carries_the_name_of_the_argument():
    with pytest.raises(InvalidInputError) as caught:
        Floors(recall=1.2)
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.argument == "recall"
    assert str(error) == f"`recall` {error.problem}"
