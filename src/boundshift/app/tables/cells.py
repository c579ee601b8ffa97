"""What the cells of a column say: numbers and truths however a file spells them, else words.

A fit finds the spelling of a column from all its cells; a prediction applies what the fit found,
or refuses. So a column means the same in CSV, in Parquet and in a pipe.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Literal

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.sources.batches import MISSING

__all__ = ["Spelling", "find_spelling", "holds_dates", "read_cells", "with_gaps"]

_BLANKS = " \u00a0\u202f"
_SIGNS = re.compile(r"%|[€$£¥₹₽₩]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|kr)\b")
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?|[+-]?inf(inity)?", re.A | re.I)
_LEADING_ZERO = re.compile(r"[+-]?0\d+")
_LONGEST_NUMBER = 400
# Decimal sign and sign between thousands, in the order in which they are tried.
_GROUPED = ((".", ","), (",", "."), (",", " "), (".", " "), (".", "'"))
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*([ap]m)?(z|\s?utc|[+-]\d{2}:?\d{2})?"
_DAY = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}(?P<between>[-/.])\d{1,2}(?P=between)\d{2,4}|"
    rf"\d{{1,2}}[ -]{_MONTH}[ ,-]*\d{{2,4}}|{_MONTH} \d{{1,2}},? \d{{4}}"
)
_DATE = re.compile(rf"({_DAY})([t ,]+{_TIME})?|{_TIME}", re.IGNORECASE)
_TRUTHS = {"true": "true", "false": "false"} | {"1": "true", "1.0": "true"}
_TRUTHS |= {"0": "false", "0.0": "false"}


@dataclass(frozen=True)
class Spelling:
    """How the cells of a column are to be understood.

    Parameters
    ----------
    kind : {"number", "truth", "word"}
        What they are.
    decimal, thousands : str, default="." and ""
        Signs within a number.
    sign : str, default=""
        Beside a number: a currency, which a cell may lack, or %, which it may not.
    """

    kind: Literal["number", "truth", "word"]
    decimal: str = "."
    thousands: str = ""
    sign: str = ""

    def __str__(self) -> str:
        return {"number": "numbers", "truth": "true or false", "word": "words"}[self.kind]

    def to_dict(self) -> dict[str, str]:
        """Return the spelling as JSON can carry it."""
        plain = asdict(Spelling(self.kind)) | {"kind": ""}
        return {name: value for name, value in asdict(self).items() if value != plain[name]}

    @classmethod
    def from_dict(cls, stored: Any) -> Spelling:
        """Return what `to_dict` was given; raise ValueError if it is nothing of the kind."""
        signs = {"decimal": (".", ","), "thousands": ("", *",. '"), "sign": None}
        if isinstance(stored, dict) and stored.get("kind") in ("number", "truth", "word"):
            rest = {name: value for name, value in stored.items() if name != "kind"}
            if all(
                name in signs and isinstance(value, str) and value in (signs[name] or (value,))
                for name, value in rest.items()
            ) and (not rest.get("sign") or _SIGNS.fullmatch(rest["sign"])):
                return cls(**stored)
        raise ValueError(f"no spelling of a column: {stored!r}")


def with_gaps(column: Any) -> Any:
    """Return a column with its words for a missing value as missing, and bytes as text.

    Examples
    --------
    >>> import pandas as pd
    >>> with_gaps(pd.Series(["a", " ", "NA", b"b"], dtype=object)).tolist()
    ['a', nan, nan, 'b']
    """
    import numpy as np
    from pandas.api import types

    if str(column.dtype) == "category":
        column = column.astype(object)
    if not (types.is_object_dtype(column) or types.is_string_dtype(column)):
        return column
    texts = column.astype(object)
    if any(isinstance(value, bytes) for value in texts):
        texts = texts.map(_decoded)
    is_gap = texts.isna() | texts.map(lambda v: isinstance(v, str) and v.strip() in MISSING)
    return texts.where(~is_gap, np.nan)


def _decoded(value: Any) -> Any:
    """Return bytes as the text that they are, if they are."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value


def holds_dates(given: Any) -> bool:
    """Return whether all values are dates or times, as objects or as text.

    Examples
    --------
    >>> import pandas as pd
    >>> holds_dates(pd.Series(["14/12/2021", "3/1/2022 12:30"])), holds_dates(pd.Series(["3.14"]))
    (True, False)
    """
    from pandas.api import types

    if types.is_datetime64_any_dtype(given) or types.is_timedelta64_dtype(given):
        return True
    if types.is_numeric_dtype(given) or types.is_bool_dtype(given):
        return False
    dates = datetime.date | datetime.time | datetime.timedelta
    return all(
        isinstance(value, dates)
        or (isinstance(value, str) and len(value) < 40 and bool(_DATE.fullmatch(value.strip())))
        for value in given.unique()
    )


def find_spelling(given: Any, *, codes: bool = True) -> tuple[Spelling, str]:
    """Return how a column without gaps is spelled, and in words why it is taken so.

    Parameters
    ----------
    given : pandas.Series
        From :func:`with_gaps`, without the missing ones.
    codes : bool, default=True
        Whether whole numbers with leading zeros are codes, as 007 and the postcode 01067 are.

    Examples
    --------
    >>> import pandas as pd
    >>> find_spelling(pd.Series(["1,234.50", "20"]))
    (Spelling(kind='number', decimal='.', thousands=',', sign=''), "'1,234.50' is 1234.5")
    >>> find_spelling(pd.Series(["01", "02"]))[1]
    "'01' is a code, since it begins with 0"
    """
    from pandas.api import types

    if types.is_bool_dtype(given):
        return Spelling("truth"), "true and false"
    if types.is_numeric_dtype(given):
        return Spelling("number"), "numbers"
    values = list(given.unique())
    if all(isinstance(value, bool) for value in values):
        return Spelling("truth"), "true and false"
    if all(isinstance(value, int | float | Decimal) for value in values):
        return Spelling("number"), "numbers"
    if not all(isinstance(value, str) for value in values):
        return Spelling("word"), "values of several kinds"
    if all(value.strip().casefold() in ("true", "false") for value in values):
        return Spelling("truth"), "true and false"
    texts = [value.strip() for value in values]
    coded = next((text for text in texts if _LEADING_ZERO.fullmatch(text)), None)
    for spelling in _number_spellings(texts):
        read = _number_reader(spelling)
        if all(read(text) is not None for text in texts):
            if coded is not None and codes and not (spelling.sign or spelling.thousands):
                return Spelling("word"), f"'{coded}' is a code, since it begins with 0"
            return spelling, _example(spelling, texts, read)
    return Spelling("word"), "words"


def _example(spelling: Spelling, texts: list[str], read: Callable[[str], float | None]) -> str:
    """Return an example of a number that is not written as a program would."""
    if spelling == Spelling("number"):
        return "numbers"
    telling = next((text for text in texts if not _PLAIN.fullmatch(text)), texts[0])
    number = read(telling)
    return f"'{telling}' is {number:.15g}"


def _number_spellings(texts: list[str]) -> Iterator[Spelling]:
    """Yield spellings of numbers that may be those of the texts."""
    signs = {found[0] for text in texts[:1000] if (found := _SIGNS.search(text))}
    if len(signs) > 1:
        return
    sign = signs.pop() if signs else ""
    yield Spelling("number", sign=sign)
    for decimal, thousands in _GROUPED:
        yield Spelling("number", decimal, thousands, sign)


def _number_reader(spelling: Spelling) -> Callable[[str], float | None]:
    """Return the function from a text to its number, None if it has another spelling."""
    decimal, thousands = re.escape(spelling.decimal), re.escape(spelling.thousands)
    if spelling.thousands:
        body = re.compile(
            rf"[+-]?(\d+|[1-9]\d{{0,2}}({thousands}\d{{3}})+)?({decimal}\d*)?([eE][+-]?\d{{1,4}})?",
            re.ASCII,
        )
    else:
        body = _PLAIN
    blanks = str.maketrans(dict.fromkeys(_BLANKS, " ") | {"\u2212": "-"})

    def read(text: str) -> float | None:
        text = text.strip()
        if len(text) > _LONGEST_NUMBER:
            return None
        if not (spelling.sign or spelling.thousands):
            text = text.replace("\u2212", "-")
            return float(text) if _PLAIN.fullmatch(text) else None
        text = text.translate(blanks)
        if spelling.sign:
            bare = text.replace(spelling.sign, "", 1)
            if spelling.sign == "%" and bare == text:
                return None
            text = re.sub(r"^([+-]) +", r"\1", bare.strip())
        if not body.fullmatch(text) or not any(letter.isdigit() for letter in text):
            return None
        if spelling.thousands:
            text = text.replace(spelling.thousands, "").replace(spelling.decimal, ".")
        return float(text)

    return read


def read_cells(column: Any, spelling: Spelling, name: str, where: str = "the table") -> Any:
    """Return a column as floats, or as words; a missing value is NaN.

    Parameters
    ----------
    column : pandas.Series
        The cells.
    spelling : Spelling
        That a fit has found.
    name, where : str
        What an error calls the column and the table.

    Raises
    ------
    InvalidInputError
        If a cell has another spelling.

    Examples
    --------
    >>> import pandas as pd
    >>> read_cells(pd.Series(["True", None, "FALSE"]), Spelling("truth"), "smokes").tolist()
    ['true', nan, 'false']
    """
    import numpy as np
    import pandas as pd
    from pandas.api import types

    column = with_gaps(column)
    is_gap = column.isna()
    typed = types.is_numeric_dtype(column) and not types.is_bool_dtype(column)
    if spelling.kind == "number" and spelling.sign != "%" and typed:
        return column.astype(object).where(~is_gap, np.nan).astype(np.float64)
    nested = next(
        (v for v in column if isinstance(v, list | dict) or getattr(v, "ndim", 0) > 0), None
    )
    if nested is not None:
        raise _other_spelling(nested, spelling, name, where)
    codes, values = pd.factorize(column.astype(object))
    read = {"number": _read_number, "truth": _read_truth, "word": _read_word}[spelling.kind]
    empty = np.float64 if spelling.kind == "number" else object
    found = np.empty(len(values) + 1, dtype=empty)
    found[-1] = np.nan
    reader = _number_reader(spelling)
    for place, value in enumerate(values):
        meant = read(value, reader, spelling)
        if meant is None:
            raise _other_spelling(value, spelling, name, where)
        found[place] = meant
    return pd.Series(found[codes], index=column.index, dtype=empty)


def _other_spelling(value: Any, spelling: Spelling, name: str, where: str) -> InvalidInputError:
    """Return the error for a cell that a fit would have read otherwise."""
    like = " with %" if spelling.sign == "%" else ""
    return InvalidInputError(
        f"Column '{name}' of {where} must hold {spelling}{like}, got {_shown(value)}. "
        "Write its cells as the table of the fit has them, or fit again."
    )


def _shown(value: object) -> str:
    """Return a value for an error, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _read_number(value: Any, read: Callable[[str], float | None], spelling: Spelling) -> Any:
    if isinstance(value, str):
        return read(value)
    if isinstance(value, bool) or spelling.sign == "%":
        return None
    return float(value) if isinstance(value, int | float | Decimal) or _is_number(value) else None


def _is_number(value: Any) -> bool:
    """Return whether a value is one of NumPy's numbers."""
    return hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0 and value.dtype.kind in "iuf"


def _read_truth(value: Any, read: object, spelling: object) -> str | None:
    return _TRUTHS.get(str(value).strip().casefold())


def _read_word(value: Any, read: object, spelling: object) -> str | None:
    if isinstance(value, bytes | list | dict | set | tuple) or getattr(value, "ndim", 0) > 0:
        return None
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return str(value).lower()
    # A gap turns whole numbers into floats.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
