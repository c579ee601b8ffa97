"""What the columns of a table mean: how their cells are spelled, and which are features.

A fit finds the spelling of a column from all its cells; a prediction applies what the fit found,
or refuses. So a column means the same in CSV, in Parquet and in a pipe.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from boundshift._app.tables import with_gaps
from boundshift._tables import check_names
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

_BLANKS = str.maketrans(dict.fromkeys(" \u00a0\u202f", " ") | {"\u2212": "-"})
_SIGNS = re.compile(r"%|[€$£¥₹₽₩]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|kr)\b")
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?|[+-]?inf(inity)?", re.A | re.I)
# Decimal sign and sign between thousands, in the order in which they are tried.
_GROUPED = ((".", ""), (".", ","), (",", "."), (",", " "), (".", " "), (".", "'"))
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*([ap]m)?(z|\s?utc|[+-]\d{2}:?\d{2})?"
_DAY = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}(?P<between>[-/.])\d{1,2}(?P=between)\d{2,4}|"
    rf"\d{{1,2}}[ -]{_MONTH}[ ,-]*\d{{2,4}}|{_MONTH} \d{{1,2}},? \d{{4}}"
)
_DATE = re.compile(rf"({_DAY})([t ,]+{_TIME})?|{_TIME}", re.IGNORECASE)
_TRUTHS = {"true": "true", "1": "true", "1.0": "true"}
_TRUTHS |= {"false": "false", "0": "false", "0.0": "false"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Words at the end of a name: of an id, of a number that is one, of rows; and whose id it is.
_IDS = {"id", "ids", "uuid", "guid", "mrn", "ssn", "kennung", "identifier"}
_NUMBERS = {"no", "nr", "num", "nbr", "number", "nummer", "numero"}
_PERSONS = {"mrn", "ssn", "pid", "kvnr", "urn", "pseudonym"}
_ROWS = {"index", "idx", "key", "rownames", "record", "account", "row"}
_CASES = {
    *("patient", "patienten", "paciente", "paziente", "pat", "case", "fall", "person", "personen"),
    *("personal", "subject", "proband", "probanden", "participant", "teilnehmer", "customer"),
    *("kunde", "kunden", "client", "cliente", "user", "member", "mitglieds", "account", "policy"),
    *("student", "employee"),
}
# These are cases only beside a number: hospital number, Kontonummer.
_NUMBERED = {"hospital", "nhs", "record", "versicherten", "kd", "konto"}
_NAMES = {
    *("surname", "lastname", "firstname", "fullname", "nachname", "vorname", "familienname"),
    *("nom", "prenom", "nombre", "apellido", "apellidos"),
}
_NAME_PARTS = {"first", "last", "full", "family", "given", "middle"}
# Words for a missing value among numbers; elsewhere they may be categories.
_GAPS = {"-", "–", "—", ".", "k.A.", "k. A.", "k.a.", "keine Angabe", "unbekannt", "unknown"}
# More ids than this are no categories, and a share of rows from here on shares ids with others.
_MANY_IDS = 30
SHARED = 0.05
# Text with more distinct values than this share of the rows identifies rows, or may name people.
_NAMING_SHARE = 0.5
_DOUBTFUL_SHARE = 0.1
_FEW_ROWS = 20
# A few mistyped cells leave a column one of dates.
_DATES = 0.95
_MOST_SEEN = 1000
# What the cells of a column hold; a model learns a number, or else a category.
_HELD = {"number": "numbers", "truth": "true or false", "word": "words"}


class Reason(Enum):
    """Why a column is not a feature, in words; columns.json holds the name."""

    DROP = "--drop says so"
    CLUSTER = "--cluster says so"
    EMPTY = "it is empty"
    NESTED = "it holds lists or records"
    DATES = "it holds dates; turn them into numbers, such as an age in days, to use them"
    CONSTANT = "it never varies"
    COUNTS = "it counts or names the rows"
    DISTINCT = "most of its values are different, as names or free text are"
    NAMES = "it holds names of people; --category uses them"
    REPEATS = "it is an id, which means nothing for new ones; --category uses it"


@dataclass(frozen=True)
class Spelling:
    """How the cells of a column are to be understood.

    `decimal` and `thousands` are signs within a number; `sign` stands beside it: a currency,
    which a cell may lack, or %, which it may not.
    """

    kind: Literal["number", "truth", "word"] = "number"
    decimal: str = "."
    thousands: str = ""
    sign: str = ""

    def number(self, text: str) -> float | None:
        """Return the number that a text spells so, None if it has another spelling."""
        text = text.strip().translate(_BLANKS)
        if self.sign:
            bare = text.replace(self.sign, "", 1)
            if self.sign == "%" and bare == text:
                return None
            text = re.sub(r"^([+-]) +", r"\1", bare.strip())
        if self.thousands:
            decimal = re.escape(self.decimal)
            thousands = re.escape(self.thousands)
            whole = rf"\d+|[1-9]\d{{0,2}}({thousands}\d{{3}})+"
            if not re.fullmatch(rf"[+-]?({whole})?({decimal}\d*)?([eE][+-]?\d+)?", text, re.A):
                return None
            text = text.replace(self.thousands, "").replace(self.decimal, ".")
        return float(text) if _PLAIN.fullmatch(text) else None

    def read(self, value: Any) -> float | str | None:
        """Return what a cell means, None if it has another spelling."""
        if self.kind == "truth":
            return _TRUTHS.get(str(value).strip().casefold())
        is_bool = isinstance(value, bool | np.bool_)
        if self.kind == "number":
            if isinstance(value, str):
                return self.number(value)
            is_number = isinstance(value, Real | Decimal) and not is_bool and self.sign != "%"
            return float(value) if is_number else None
        if is_bool:
            return str(value).lower()
        # A gap turns whole numbers into floats.
        is_whole = isinstance(value, float) and value.is_integer()
        return str(int(value)) if is_whole else str(value)


_NUMBER = Spelling("number")
_TRUTH = Spelling("truth")
_WORDS = Spelling("word")


def find_spelling(given: pd.Series, *, codes: bool = True) -> tuple[Spelling, str]:
    """Return how a column without gaps is spelled, and in words why it is read so.

    With `codes`, whole numbers with leading zeros are codes, as 007 and the postcode 01067 are.
    """
    values = given.unique().tolist()
    texts = [value.strip() for value in values if isinstance(value, str)]
    if all(isinstance(value, bool) for value in values):
        return _TRUTH, "true and false"
    if all(isinstance(value, Real | Decimal) for value in values):
        return _NUMBER, "numbers"
    if len(texts) < len(values):
        return _WORDS, "values of several kinds"
    if all(text.casefold() in ("true", "false") for text in texts):
        return _TRUTH, "true and false"
    signs = {found[0] for text in texts[:1000] if (found := _SIGNS.search(text))}
    sign = next(iter(signs), "")
    for decimal, thousands in _GROUPED if len(signs) < 2 else ():
        spelling = Spelling("number", decimal, thousands, sign)
        if any(spelling.number(text) is None for text in texts):
            continue
        code = next((text for text in texts if re.fullmatch(r"[+-]?0\d+", text)), None)
        if code is not None and codes and not (sign or thousands):
            return _WORDS, f"'{code}' is a code, since it begins with 0"
        telling = next((text for text in texts if not _PLAIN.fullmatch(text)), texts[0])
        plain = "numbers", f"'{telling}' is {spelling.number(telling):.15g}"
        return spelling, plain[spelling != _NUMBER]
    return _WORDS, "words"


def read_cells(
    column: pd.Series, spelling: Spelling, name: str, where: str = "the table"
) -> pd.Series:
    """Return a column as floats, or as words; a missing value is NaN.

    A cell of another spelling is refused; `name` and `where` are what the error calls column and
    table.
    """
    column = with_gaps(column)
    is_number = spelling.kind == "number"
    if is_number:
        column = _without_gap_words(column)
        if column.dtype.kind in "iuf" and spelling.sign != "%":
            return column.astype(np.float64)
    column = column.astype(object)
    wrong = [value for value in column if _is_nested(value)]
    if not wrong:
        meant = {value: spelling.read(value) for value in column.dropna().unique()}
        wrong = [value for value, read in meant.items() if read is None]
    if wrong:
        held = _HELD[spelling.kind] + (" with %" if spelling.sign == "%" else "")
        raise InvalidInputError(
            f"Column '{name}' of {where} must hold {held}, got {repr(wrong[0])[:80]}. Write its "
            "cells as the table of the fit has them, or fit again."
        )
    return column.map(meant).astype(np.float64 if is_number else object)


def _without_gap_words(column: pd.Series) -> pd.Series:
    """Return a column of numbers without the words that stand for a missing one."""
    if column.dtype != object:
        return column
    is_gap = column.map(lambda value: isinstance(value, str) and value.strip() in _GAPS)
    return column.where(~is_gap.astype(bool), np.nan)


def _is_nested(value: object) -> bool:
    return isinstance(value, list | dict | tuple | set) or getattr(value, "ndim", 0) > 0


def holds_dates(given: pd.Series) -> bool:
    """Return whether nearly all values are dates or times, as objects or as text."""
    dates = datetime.date | datetime.time | datetime.timedelta
    is_date = given.drop_duplicates().map(
        lambda value: (
            isinstance(value, dates)
            or (isinstance(value, str) and len(value) < 40 and bool(_DATE.fullmatch(value.strip())))
        )
    )
    return bool(is_date.mean() >= _DATES)


@dataclass(frozen=True)
class Column:
    """What is made of a column: a feature with its spelling, or nothing for a reason.

    `why` says in words how a feature is read, `missing` how many labelled rows lack a value, and
    `seen` has the values of a category, unless there are many.
    """

    spelling: Spelling | None = None
    why: str = ""
    missing: str = ""
    seen: tuple[str, ...] = ()
    reason: Reason | None = None

    @property
    def is_number(self) -> bool:
        return self.spelling is not None and self.spelling.kind == "number"


class Described(NamedTuple):
    """A column, what is made of it, and why, in words."""

    name: str
    read_as: str
    why: str


class Columns(dict[str, Column]):
    """The columns of a table by name: features and others."""

    @property
    def features(self) -> list[str]:
        return [name for name, column in self.items() if column.spelling is not None]

    @property
    def numbers(self) -> list[str]:
        return [name for name in self.features if self[name].is_number]

    @property
    def categories(self) -> list[str]:
        return [name for name in self.features if not self[name].is_number]

    @property
    def left_out(self) -> dict[str, Reason]:
        return {name: column.reason for name, column in self.items() if column.reason is not None}

    def described(self) -> list[Described]:
        """Return what is made of every column; features first."""
        described = []
        for name in self.features:
            column = self[name]
            kind = "category"
            made = "one column for each category"
            if column.is_number:
                kind = "number"
                made = "scaled"
            gaps = "the median" if column.is_number else "a category of their own"
            made += f", gaps are {gaps}" if column.missing else ""
            described.append(Described(name, kind, f"{column.why}; {made}"))
        for name, reason in self.left_out.items():
            described.append(Described(name, "left out", reason.value))
        return described


def choose_columns(
    frame: pd.DataFrame, target: str, roles: Mapping[str, str] | None = None
) -> Columns:
    """Sort a table's columns into numbers, categories and what a model cannot learn from.

    Left out are dates, columns that never vary or are empty, and columns that identify rows:
    numbers that count them or are called an id, and text of which most values are distinct. The
    options in `roles` overrule this.
    """
    roles = roles or {}
    check_names("The table", list(frame.columns), list(roles))
    if target in roles:
        raise InvalidInputError(
            f"{roles[target]} must name another column than that to be predicted, got '{target}'."
        )
    labelled = with_gaps(frame[target]).notna()
    columns = Columns()
    for name in frame.columns.drop(target):
        cells = with_gaps(frame[name])
        found = _understand(cells, labelled, name, roles.get(name))
        cells = _without_gap_words(cells) if found.is_number else cells
        lacking = int(cells[labelled].isna().sum())
        missing = f"{lacking:,} of {int(labelled.sum()):,}" if lacking else ""
        columns[name] = replace(found, missing=missing)
    if not columns.features:
        raise InvalidInputError(
            f"A model needs at least one column to learn from besides '{target}', got none: "
            + "; ".join(f"'{name}': {why.value}" for name, why in columns.left_out.items())
        )
    return columns


def _understand(cells: pd.Series, labelled: pd.Series, name: str, role: str | None) -> Column:
    """Return what is made of a column, by its role or else by its cells."""
    if role in ("--drop", "--cluster"):
        return Column(reason=Reason(f"{role} says so"))
    given = cells[labelled].dropna()
    if given.empty:
        return Column(reason=Reason.EMPTY)
    if any(map(_is_nested, given)):
        return Column(reason=Reason.NESTED)
    if role == "--category":
        return _category(given, _WORDS, "--category says so")
    known = _without_gap_words(given).dropna()
    if 0 < len(known) < len(given) and find_spelling(known, codes=False)[0].kind == "number":
        given = known
        cells = _without_gap_words(cells)
    if role == "--numeric":
        spelling, why = find_spelling(given, codes=False)
        return Column(spelling if spelling.kind == "number" else _NUMBER, f"{why}; --numeric")
    return _understand_cells(cells, given, name)


def _understand_cells(cells: pd.Series, given: pd.Series, name: str) -> Column:
    """Return what is made of a column; `given` are its labelled cells without gaps."""
    if holds_dates(given):
        return Column(reason=Reason.DATES)
    distinct = given.nunique()
    if distinct == 1:
        return Column(reason=Reason.CONSTANT)
    spelling, why = find_spelling(given)
    if spelling.kind == "word" and _is_name(name):
        return Column(reason=Reason.NAMES)
    is_number = spelling.kind == "number"
    is_real = is_number and (read_cells(given, spelling, name) % 1 != 0).any()
    if not is_real and rank_id(name, distinct) and share_ids(given):
        return Column(reason=Reason.REPEATS)
    if is_number and not is_real and _counts(read_cells(cells, spelling, name).dropna(), name):
        return Column(reason=Reason.COUNTS)
    if is_number and (is_real or _words_of(name)[-1:] != ["id"] or distinct > _MANY_IDS):
        return Column(spelling, why)
    if is_number:
        return _category(given, _WORDS, "a code, by its name")
    if distinct > _NAMING_SHARE * len(given) and (len(given) > _FEW_ROWS or _marks_rows(name)):
        return Column(reason=Reason.DISTINCT)
    return _category(given, spelling, why)


def _category(given: pd.Series, spelling: Spelling, why: str) -> Column:
    seen = tuple(sorted(set(read_cells(given, spelling, ""))))
    return Column(spelling, why, seen=seen if len(seen) <= _MOST_SEEN else ())


def _counts(numbers: pd.Series, name: str) -> bool:
    """Return whether whole numbers differ, nearly all, and are called ids or count the rows."""
    if _marks_rows(name) and numbers.nunique() > (1 - SHARED) * len(numbers):
        return True
    steps = numbers.diff().dropna().unique()
    # A few numbers in equal steps may be doses.
    return len(steps) == 1 and (steps[0] == 1 or (steps[0] > 0 and len(numbers) > _FEW_ROWS))


def find_cluster(frame: pd.DataFrame, columns: Columns) -> tuple[str | None, bool]:
    """Return the column of ids that repeat, None if there is none, and whether its name says so.

    Of several it is the coarsest of a person or case; a person's id counts even if a user drops
    it or learns from it. Without one, it is the first column that may name people or cases: names,
    words with many different values, and what is called a number.
    """
    ranks: dict[str, tuple[int, int]] = {}
    for name, column in columns.items():
        given = with_gaps(frame[name]).dropna().astype(str)
        distinct = given.nunique()
        last = "".join(_words_of(name)[-1:])
        if distinct < 2 or not share_ids(given):
            continue
        rank = rank_id(name, distinct)
        is_many = not column.is_number and distinct > _DOUBTFUL_SHARE * len(given)
        is_called = column.reason is None and (is_many or last in _NUMBERS)
        if rank == 2 or (rank and column.reason in (Reason.REPEATS, Reason.DROP)):
            ranks[name] = rank, -distinct
        elif distinct > _MANY_IDS and (column.reason is Reason.NAMES or is_called):
            ranks[name] = 0, 0
    best = max(ranks, key=lambda name: ranks[name], default=None)
    return best, best is not None and ranks[best][0] > 0


def share_ids(given: pd.Series) -> bool:
    """Return whether a sizeable share of rows shares its id with another row."""
    sizes = given.value_counts()
    return bool(sizes[sizes > 1].sum() >= SHARED * len(given))


def _words_of(name: str) -> list[str]:
    """Return the words of a name, without accents; patientid and Fallnummer are two each."""
    plain = unicodedata.normalize("NFKD", name)
    words = [word.casefold() for word in _WORD.findall("".join(filter(str.isascii, plain)))]
    cases = _CASES | _NUMBERED
    for mark in sorted({"name"} | _IDS | _NUMBERS, key=len, reverse=True):
        if words and words[-1] not in cases:
            for case in (words[-1].removesuffix(mark), words[-1].removeprefix(mark)):
                if case in cases:
                    return [*words[:-1], case, mark]
    return words


def _marks_rows(name: str) -> bool:
    """Return whether a name says that its numbers or words identify rows."""
    words = _words_of(name)
    return not words or words == ["unnamed", "0"] or words[-1] in _IDS | _NUMBERS | _ROWS


def rank_id(name: str, distinct: int) -> int:
    """Return 2 for the id of a person or case, 1 for another one, 0 for none, by name.

    Few values are codes of categories, as in admission_type_id, unless the name has a case.
    """
    words = _words_of(name)
    if len(words) == 1 and words[0] in _PERSONS:
        return 2
    if not words or (len(words) == 1 and words[0] in _CASES):
        return 2 if words and distinct > _MANY_IDS else 0
    if words[0] in ("id", "no", "numero"):
        words = [*words[1:], words[0]]
    if any(of in _CASES | _NUMBERED and at in _IDS | _NUMBERS for of, at in pairwise(words)):
        return 2 if distinct > 2 else 0
    return int(words[-1] in _IDS and distinct > _MANY_IDS)


def _is_name(name: str) -> bool:
    """Return whether a column's title is that of people's names."""
    of, last = ["", "", *_words_of(name)][-2:]
    is_named = last in ("name", "names") and of in {""} | _CASES | _NAME_PARTS
    return is_named or last in _NAMES


def as_features(frame: pd.DataFrame, columns: Columns, where: str = "the table") -> pd.DataFrame:
    """Return the columns to learn from: numbers as floats, categories as text."""
    import pandas as pd

    features = {}
    for name in columns.features:
        features[name] = read_cells(frame[name], columns[name].spelling or _WORDS, name, where)
        if columns[name].is_number and np.isinf(features[name]).any():
            raise InvalidInputError(
                f"Numbers must be finite, but column '{name}' holds infinity. Leave those "
                "cells empty, or clip them."
            )
    return pd.DataFrame(features, index=frame.index)
