"""The options of the commands, each declared once, and what they mean together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.models import OptionInfo

from boundshift import curves, rules
from boundshift._app.opening import Reading
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boundshift.curves import ErrorCurve
    from boundshift.rules import Rule

CURVES = ", ".join(curves.NAMED)
RULES = ", ".join(rules.NAMED)


def read_number(text: str) -> float:
    """Return a finite number written as 0.9, 0,9 or 90%; raise ValueError if it is none."""
    number = float(text.strip().removesuffix("%").replace(",", "."))
    if not math.isfinite(number):
        raise ValueError(text)
    return number / 100 if "%" in text else number


def read_score(text: str | float) -> float:
    """Return a finite number of the command line, such as a threshold."""
    try:
        return read_number(str(text))
    except ValueError:
        raise typer.BadParameter(f"it must be a finite number, got '{text}'. Use 0.5.") from None


def read_seed(text: str | int) -> int:
    """Return a seed of NumPy's generators."""
    if not str(text).isdecimal() or int(text) >= 2**32:
        raise typer.BadParameter(f"it must be a whole number below 2**32, got '{text}'. Use 0.")
    return int(text)


def read_share(text: str | float) -> float:
    """Return a share of the command line: 0.9, 90% or, as a whole number above 1, 90."""
    try:
        share = read_number(str(text))
    except ValueError:
        raise typer.BadParameter(f"it must be a share, got '{text}'. Use 0.9 or 90%.") from None
    if share <= 1 or "%" in str(text):
        return share
    if share > 100 or not share.is_integer():
        raise typer.BadParameter(
            f"it must be a share from 0 to 1 or a percentage, got '{text}'. Use 0.9, or write "
            f"{share:g}% if that is what you mean."
        )
    return share / 100


# --- Options, each declared once ------------------------------------------------------------------


def _declare(group: str | None = None, metavar: str | None = None) -> Callable[..., OptionInfo]:
    """Return what declares the options of a group, and of a kind of value."""
    return partial(typer.Option, rich_help_panel=group, metavar=metavar)


_main = _declare()
_flag = _declare(metavar=" ")
_column = _declare("Columns", "COLUMN")
_main_column = _declare(metavar="COLUMN")
_goal = _declare("Goal")
_goal_share = partial(_declare("Goal", "SHARE"), parser=read_share)
_report = _declare("Report", "TEXT")
_reading = _declare("Reading the file")

_KINDS = "CSV, TSV (also .gz), Parquet or Excel; - is a pipe."
File = Annotated[Path, typer.Argument(help=_KINDS, metavar="FILE")]
Files = Annotated[
    list[Path], typer.Argument(help=f"{_KINDS} Several are one table.", metavar="FILES")
]
Folder = Annotated[
    Path, typer.Argument(help="Folder that `boundshift fit` wrote.", metavar="FOLDER")
]
FolderOrThreshold = Annotated[
    Path,
    typer.Argument(
        help="Folder of `boundshift fit`, or file that `boundshift threshold --json` printed.",
        metavar="FOLDER",
    ),
]
Name = Annotated[
    str | None,
    typer.Argument(help="One of them; none lists all.", metavar="NAME", show_default=False),
]

# What every command needs
Target = Annotated[str, _main_column(help="Column to be predicted.")]
Score = Annotated[str, _main_column(help="Column of scores, higher for the positive class.")]
Label = Annotated[str, _main_column(help="Column of labels.")]
ScoreIfAny = Annotated[
    str | None, _main_column("--score", help="Column of scores, if there is one.")
]
ScoreOrModel = Annotated[
    str | None, _main_column("--score", help="Column of scores. Default: the model's.")
]
LabelOrTarget = Annotated[
    str | None, _main_column("--label", help="Column of labels. Default: the target of the fit.")
]
Positive = Annotated[
    str | None,
    _main(
        metavar="LABEL",
        help="Class to find, against all others. Default: the greater of two numbers, the rarer of "
        "two words.",
    ),
]
Scores = Annotated[
    Literal["held-out", "out-of-fold", "training"], _main(help="Whether the model saw the rows.")
]
Own = Annotated[
    float | None,
    _main(
        metavar="NUMBER",
        parser=read_score,
        help="The model's own threshold, to compare with. Default: 0.5 if all scores lie from 0 "
        "to 1; of other scores nothing is compared.",
    ),
]
Models = Annotated[
    str,
    _main(
        "--model",
        metavar="NAMES",
        help="logistic, svm, forest, boosting, mlp; the best of several.",
    ),
]
Seed = Annotated[int, _main(metavar="NUMBER", parser=read_seed, help="Seed of everything random.")]

# Beside a goal
CostColumn = Annotated[
    str | None, _goal(metavar="COLUMN", help="Least sum of these costs of wrong rows.")
]
Confidence = Annotated[
    float, _goal_share(help="Of guarantees; 0.95 by default.", show_default=False)
]
Zone = Annotated[
    str | None,
    _goal(
        metavar="PAIR",
        help="Two limits with a person between them: the largest error rates of the negative and "
        "the positive class, as 0.05,0.05.",
    ),
]

# Columns of a table
KeepSuspects = Annotated[
    bool,
    _declare("Columns", " ")("--keep-suspects", help="Learn from columns that look like leakage."),
]
Ignore = Annotated[
    list[str] | None, _declare("Columns", "LABEL")(help="Leave out the rows of this label.")
]
Cluster = Annotated[
    str | None,
    _column(help="Ids whose rows stay together; or none."),
]
ClusterOfScores = Annotated[
    str | None,
    _column(
        "--cluster",
        help="Ids, such as the patient's, over which bounds are averages; none if rows are "
        "independent.",
    ),
]
By = Annotated[list[str] | None, _column(help="Groups for the report's table of errors.")]
Keep = Annotated[
    list[str] | None,
    _main_column(help="Carry it over, as columns left out of training always are."),
]
When = Annotated[
    str | None, _main_column(help="Dates: rows are counted in their order, a line a month.")
]

# The report
Test = Annotated[
    Path | None,
    _main(metavar="FILE", help="Rows used for nothing else, with the same columns; they certify."),
]
TestShare = Annotated[
    float | None,
    _main(parser=read_share, metavar="SHARE", help="Set this share of the rows apart as a test."),
]

# Decisions
Threshold = Annotated[
    float | None,
    _main(
        metavar="NUMBER",
        parser=read_score,
        help="Call rows with a score above this positive. Default: the threshold of the fit.",
    ),
]
Top = Annotated[
    int | None,
    _main(metavar="NUMBER", help="Only this many rows: those with the highest scores.", min=1),
]
ZoneFile = Annotated[
    Path | None,
    _main(
        "--zone",
        metavar="FILE",
        help="Decide by two limits: zone.json of the fit, or what `boundshift threshold --zone … "
        "--json` printed.",
    ),
]

# Files
OutFile = Annotated[
    Path, _main("--out", metavar="FILE", help="File to write; of tables - is standard output.")
]
OutFolder = Annotated[Path, _main("--out", metavar="FOLDER", help="Folder to write.")]
AsJson = Annotated[bool, _flag("--json", help="Print JSON for machines.")]
Force = Annotated[
    bool, _flag("--force", help="Replace what is there, but never a file that is read or a link.")
]
ForceFit = Annotated[bool, _flag("--force", help="Replace a folder that holds an earlier fit.")]


# --- Options that belong together -----------------------------------------------------------------
#
# A command takes one of these classes as a parameter, and each field is an option of the command.


@dataclass(frozen=True)
class Called:
    """What rows and classes are called in a report."""

    case_name: Annotated[str | None, _report(help="What a row is, in the plural: customers.")] = (
        None
    )
    positive_name: Annotated[
        str | None, _report(help="The positive class: 'who churn', 'ill'.")
    ] = None
    negative_name: Annotated[str | None, _report(help="The negative class.")] = None
    title: Annotated[str | None, _report(help="Title of the page.")] = None

    def names(self) -> dict[str, Any]:
        """Return the names as a report takes them."""
        return {key: name for key, name in vars(self).items() if name is not None}


@dataclass(frozen=True)
class FileOptions(Reading):
    """How to read a file that does not say it itself."""

    encoding: Annotated[
        str | None, _reading(metavar="NAME", help="Of text, such as cp1252. Default: by trial.")
    ] = None
    sheet: Annotated[
        str | None, _reading(metavar="NAME", help="Of an Excel file with several.")
    ] = None
    header_row: Annotated[
        int | None, _reading(metavar="NUMBER", help="Row of an Excel sheet with the names.")
    ] = None


@dataclass(frozen=True)
class Roles:
    """What columns mean."""

    drop: Annotated[list[str] | None, _column(help="Do not learn from it.")] = None
    numeric: Annotated[
        list[str] | None, _column(help="Read as numbers, whatever it looks like.")
    ] = None
    category: Annotated[list[str] | None, _column(help="Read as categories, such as codes.")] = None

    def by_column(self) -> dict[str, str]:
        """Return the role of each column that is named; raise if one is named twice."""
        roles: dict[str, str] = {}
        for option, names in vars(self).items():
            role = f"--{option}"
            for name in names or ():
                if roles.setdefault(name, role) != role:
                    raise InvalidInputError(
                        f"A column must have one role, got '{name}' in {roles[name]} and {role}. "
                        "Leave one out."
                    )
        return roles


def _read_pair(option: str, text: str, most: float, what: str) -> tuple[float, float]:
    """Return two numbers as ``1,20``, ``5%,5%``, ``0,5;0,5`` or ``miss=20,alarm=1``."""
    parts = text.split(";") if ";" in text else text.replace(":", ",").split(",")
    try:
        if "=" in text:
            named = dict(part.strip().split("=") for part in parts)
            parts = [named.pop("alarm"), named.pop("miss"), *named]
        first, second = map(read_number, parts)
        if not 0 < min(first, second) <= max(first, second) < most:
            raise ValueError
    except (ValueError, KeyError):
        raise InvalidInputError(f"{option} must be {what}, got '{text}'.") from None
    return first, second


def _read_capacity(text: str, n_rows: int | None) -> float:
    """Return the share of rows written as 50/400 or 2%, or as 50 if the number of rows is known."""
    part, _, whole = text.partition("/")
    try:
        share = read_number(part)
        if whole:
            share /= read_number(whole)
        elif n_rows is not None and share >= 1:
            share /= n_rows
    except (ValueError, ZeroDivisionError):
        share = math.nan
    if not 0 < share < 1:
        raise InvalidInputError(
            f"--capacity must be a part of all rows, got '{text}'. Use --capacity 50/400 for 50 of "
            "every 400, or 2%; in `fit` also 50, of its rows."
        )
    return share


def read_zone_errors(text: str | None) -> tuple[float, float] | None:
    """Return errors written as ``0.05,0.05``; None for no zone."""
    what = "two shares between 0 and 1, of the negative and of the positive class, such as "
    what = f"{what}0.05,0.05, or '0,05;0,05' with decimal commas"
    return None if text is None else _read_pair("--zone", text, 1, what)


@dataclass(frozen=True)
class Goal:
    """What the options of a command ask of a boundary."""

    recall_floor: Annotated[
        float | None, _goal_share(help="Find this share of the positive class.")
    ] = None
    precision_floor: Annotated[
        float | None, _goal_share(help="Be right in this share of the alarms.")
    ] = None
    specificity_floor: Annotated[
        float | None, _goal_share(help="Spare this share of the negative class.")
    ] = None
    npv_floor: Annotated[
        float | None, _goal_share(help="Be right in this share of rows not flagged.")
    ] = None
    capacity: Annotated[
        str | None,
        _goal(metavar="PART", help="Rows that can be handled: 50/400 or 2%."),
    ] = None
    then: Annotated[
        str | None,
        _goal(metavar="RULE", help="What is best if floors are met."),
    ] = None
    costs: Annotated[str | None, _goal(metavar="PAIR", help="Least cost, as miss=20,alarm=1.")] = (
        None
    )
    rule: Annotated[
        str | None, _goal("--rule", metavar="RULE", help=f"What to optimise: {RULES}.")
    ] = None
    metric: Annotated[
        str | None, _goal("--metric", metavar="NAME", help="Optimise a scikit-learn scorer.")
    ] = None
    curve: Annotated[
        str | None, _goal("--curve", metavar="NAME", help=f"Claim on each class's error: {CURVES}.")
    ] = None
    prevalence: Annotated[
        float | None, _goal_share(help="Share of positives where it is used.")
    ] = None
    confidence: Confidence = 0.95

    def claims(self, n_rows: int | None = None) -> tuple[ErrorCurve, Rule]:
        """Return the curve and the rule; a capacity may be a count of so many rows."""
        from boundshift._boundary import choose_claims
        from boundshift.curves._base import ConfidenceCurve

        chosen, by = choose_claims(self.curve, self._rule(n_rows))
        if isinstance(chosen, ConfidenceCurve):
            chosen = replace(chosen, confidence=self.confidence)
        return chosen, by

    def _floors(self, n_rows: int | None) -> dict[str, float]:
        floors = {
            "recall": self.recall_floor,
            "specificity": self.specificity_floor,
            "precision": self.precision_floor,
            "npv": self.npv_floor,
            "flagged": None if self.capacity is None else _read_capacity(self.capacity, n_rows),
        }
        return {name: share for name, share in floors.items() if share is not None}

    def _rule(self, n_rows: int | None) -> Rule | None:
        """Return the rule, None for that of the curve."""
        from boundshift.rules import Cost, Floors, Metric, as_rule

        floors = self._floors(n_rows)
        wishes = (self.rule, self.metric, self.costs, floors or None)
        if sum(wish is not None for wish in wishes) > 1:
            raise InvalidInputError(
                "A boundary follows one rule: give only one of --rule, --metric, --costs, and "
                "floors such as --recall-floor. Where floors are met, --then f1 says what is best."
            )
        if floors:
            return Floors(**floors, then=self.then, prevalence=self.prevalence)
        if self.then is not None:
            raise InvalidInputError(
                f"--then must go with a floor, got {self.then!r} alone. Use --rule {self.then}, or "
                "--recall-floor 0.9, for example."
            )
        wanted: Rule | None = None
        if self.metric is not None:
            wanted = Metric(self.metric)
        elif self.costs is not None:
            what = "two positive numbers, of a false alarm and of a miss, such as miss=20,alarm=1"
            alarm, miss = _read_pair("--costs", self.costs, math.inf, what)
            wanted = Cost(false_positive=alarm, false_negative=miss)
        elif self.rule is not None:
            wanted = as_rule(self.rule)
        if self.prevalence is None:
            return wanted
        if wanted is None or not wanted.depends_on_prevalence:
            raise InvalidInputError(
                "--prevalence must go with a rule that depends on it, got "
                f"{'none' if wanted is None else repr(wanted.name)}. Use --costs, --rule f1 or "
                "mcc, --metric, or a floor of precision, NPV or the share flagged."
            )
        return replace(wanted, prevalence=self.prevalence)  # type: ignore[call-arg]
