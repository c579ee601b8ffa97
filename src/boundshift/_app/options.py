"""The options of the commands, each described once, and those that several commands share."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from boundshift import curves, rules
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boundshift.curves import ErrorCurve
    from boundshift.rules import Rule

CURVES, RULES = ", ".join(curves.NAMED), ", ".join(rules.NAMED)
MODELS = "logistic, svm, forest, boosting, mlp"
_FILES = "CSV, TSV (also .gz), Parquet or Excel; - reads a pipe."


class Option(NamedTuple):
    """How an option is described: its text, what stands for its value, and its default in words."""

    text: str
    value: str | None = None
    default: str = ""


HELP = {
    "file": Option(_FILES, "FILE"),
    "files": Option(_FILES, "FILE..."),
    "folder": Option("What `boundshift fit` wrote.", "DIR"),
    "place": Option("What `boundshift fit` wrote, or a JSON file with a certificate.", "DIR"),
    "name": Option("One of them; none lists all.", "[NAME]"),
    # Columns
    "score": Option("Column of scores, higher for the positive class."),
    "label": Option("Column of labels."),
    "target": Option("Column to be predicted."),
    "positive": Option(
        "Label of the positive class. Default: the greater of 0 and 1, -1 and 1, false and true; "
        "of any other two the rarer."
    ),
    "ignore": Option("Label whose rows are left out, such as unknown; may be repeated.", "LABEL"),
    "numeric": Option("Column of numbers, whatever it looks like; may be repeated.", "COLUMN"),
    "category": Option("Column of categories, such as codes; may be repeated.", "COLUMN"),
    "drop": Option("Column not to learn from; may be repeated.", "COLUMN"),
    "row_id": Option("Column that identifies rows; may be repeated.", "COLUMN"),
    "by": Option(
        "Column with few values, for the report's table of groups, all decided by one boundary; "
        "may be repeated.",
        "COLUMN",
    ),
    "cluster": Option(
        "Column of ids, such as the patient, where rows of one id resemble each other: rates are "
        "then averages over ids, each counting once. none: rows are independent.",
        "COLUMN",
    ),
    "report cluster": Option(
        "Column of ids of the --test rows, none of them in the other file: rates that are bounded "
        "are averages over ids. none: rows are independent.",
        "COLUMN",
    ),
    "fit cluster": Option(
        "Column of ids, such as the patient, whose rows stay together in every split; rates that "
        "are bounded are then averages over ids. none: rows are independent.",
        "COLUMN",
        "a column of ids that repeat, such as PatientID",
    ),
    "certify cluster": Option(
        "Column of ids: rates are averages over ids, each counting once. none: rows are "
        "independent.",
        "COLUMN",
        "that of the fit",
    ),
    "monitor cluster": Option(
        "Column of ids: all rows of an id count in one step, so they must come in one file.",
        "COLUMN",
        "that of the fit",
    ),
    "cost_column": Option(
        "Column of what is lost if the row is decided wrongly; with no rule or curve.", "COLUMN"
    ),
    "keep": Option(
        "Column to carry over, as those left out of training always are; may be repeated.", "COLUMN"
    ),
    "when": Option("Column of dates: rows are counted in their order, a line a month.", "COLUMN"),
    "certify label": Option("Column of labels.", default="the folder's target"),
    "monitor label": Option("Column of labels.", default="the folder's target"),
    "monitor score": Option("Column of scores.", default="the folder's model scores"),
    # How files are read
    "encoding": Option(
        "Encoding of the file's text, such as cp1252.", "NAME", "UTF-8, UTF-16, cp1252 by trial"
    ),
    "sheet": Option("Sheet of an Excel file.", "NAME", "the only one with cells"),
    "header_row": Option("Row of an Excel sheet that names the columns.", "N", "the first"),
    # What scores are
    "scores": Option("Whether the model has seen the rows."),
    "own": Option("The model's own threshold.", default="0.5 for probabilities, else 0"),
    # The goal
    "curve": Option(
        f"Claim on each class's error: {CURVES}. The last two are support with the settings of the "
        "paper's text and of its tables.",
        default="the rule's own, else blend",
    ),
    "rule": Option(
        f"What to minimise, or of a metric to maximise: {RULES}.",
        default="the curve's own, else g-mean",
    ),
    "metric": Option("Rule: the best value of a scikit-learn scorer, such as jaccard.", "NAME"),
    "costs": Option(
        "Rule: the least expected cost. miss=20,alarm=1 is the same as 1,20, false alarm first.",
        "A,B",
    ),
    "recall_floor": Option(
        "Rule: find at least this share of the positive class, then do the best for --then. Floors "
        "go together; the curve is clopper-pearson, and they are promised, unless --curve says "
        "otherwise.",
        "SHARE",
    ),
    "specificity_floor": Option(
        "Rule: leave at least this share of the negative class alone.", "SHARE"
    ),
    "precision_floor": Option("Rule: at least this share of flagged rows is positive.", "SHARE"),
    "npv_floor": Option("Rule: at least this share of rows not flagged is negative.", "SHARE"),
    "max_flagged": Option("Rule: flag at most this share of all rows, such as 0.02.", "SHARE"),
    "capacity": Option(
        "Rule: flag as many as can be handled: 50/400 for 50 of every 400 rows, or the number of "
        "this table's rows. All of it is used. For a list of exactly 50: predict --top 50.",
        "N/M",
    ),
    "then": Option(
        "What is best where all floors are met: a rule, recall, specificity or precision.",
        "NAME",
        default="g-mean",
    ),
    "prevalence": Option(
        "Share of the positive class where decisions will be made, if it differs from that of the "
        "rows: 0.001 for one in a thousand. For costs, F1 and the like, precision, NPV and the "
        "share flagged; also where negatives were thinned out.",
        "SHARE",
    ),
    "confidence": Option(
        "Confidence of the certificate, and of the curve clopper-pearson; between 0 and 1.",
        "SHARE",
    ),
    "zone": Option(
        "Find an unsure zone: two limits between which nobody should decide by the score alone. "
        "Largest shares of the negative and of the positive class that may be decided wrongly, as "
        "0.05,0.05.",
        "A,B",
    ),
    "predict zone": Option(
        "Decide by the two limits in zone.json of the fit, or by those that `boundshift threshold "
        "--zone … --json` found on rows that the model has not seen.",
        "FILE",
    ),
    "threshold": Option(
        "Call rows with a score above this positive, as read off a report.",
        default="that of the fit",
    ),
    "top": Option("Only this many rows: those with the highest scores, highest first."),
    # The model
    "model": Option(f"{MODELS}; of several, with commas, the best."),
    "seed": Option("Seed of everything random."),
    "test": Option("Rows used for nothing else, with the same columns; they certify the verdict."),
    "test_share": Option("Set this share of the rows apart as such a test.", "SHARE"),
    # What is written
    "unit": Option("What a row is, in the plural: patients, loans."),
    "positive_name": Option("What the positive class is called."),
    "negative_name": Option("What the negative class is called."),
    "title": Option("Title of the page."),
    "certify": Option("Add the certificate to the JSON."),
    "exit_code": Option("Exit with 3 if there is an alarm."),
    "out": Option("File to write."),
    "fit out": Option("Folder to write."),
    "predict out": Option("CSV, TSV or Parquet; - is standard output."),
    "datasets out": Option("File to write it to; - is standard output."),
    "as_json": Option("Print JSON for machines."),
    "force": Option("Replace what is there."),
}
"""Options by parameter, or by command and parameter where they differ."""
_ARGUMENTS = ("file", "files", "folder", "place", "name")
_NAMES = {"row_id": "--id", "as_json": "--json"}
_FIRST = (
    *("target", "positive", "model", "rule", "costs"),
    *("recall_floor", "capacity", "drop", "out", "force"),
)
_SHARES = ("max_flagged", "test_share")  # Above 1 these could be a number of rows.
_PERCENTS = (
    *("recall_floor", "specificity_floor", "precision_floor", "npv_floor"),
    *("prevalence", "confidence"),
)


def find_option(command: str, name: str, default: Any) -> Any:
    """Return the option of a parameter as Typer takes it."""
    told = HELP.get(f"{command} {name}") or HELP[name]
    how: dict[str, Any] = {"help": told.text, "metavar": told.value, "show_default": False}
    if name in _ARGUMENTS:
        return typer.Argument(**how)
    how["show_default"] = told.default or default not in (None, False)
    if name == "seed":
        how |= {"min": 0, "max": 2**32 - 1}
    if command == "fit" and name not in _FIRST:
        how["rich_help_panel"] = "Advanced"
    if name in (*_SHARES, *_PERCENTS):
        how["parser"] = read_percent if name in _PERCENTS else read_share
    # A flag has one name, unless it is on by default.
    names = () if default is True else (_NAMES.get(name, f"--{name.replace('_', '-')}"),)
    return typer.Option(*names, **how)


class Origin(StrEnum):
    """Where scores come from."""

    held_out = "held-out"
    out_of_fold = "out-of-fold"
    training = "training"


@dataclass(frozen=True)
class Scored:
    """Which columns hold labelled scores, and what these are."""

    score: str
    label: str
    positive: str | None = None
    scores: Origin = Origin.held_out


@dataclass(frozen=True)
class Called:
    """What rows and classes are called in a report."""

    unit: str | None = None
    positive_name: str | None = None
    negative_name: str | None = None
    title: str | None = None

    def names(self) -> dict[str, str]:
        """Return the names as a report takes them."""
        known = {"unit": self.unit, "title": self.title}
        known |= {"positive": self.positive_name, "negative": self.negative_name}
        return {key: name for key, name in known.items() if name is not None}


@dataclass(frozen=True)
class Roles:
    """What columns mean."""

    numeric: list[str] | None = None
    category: list[str] | None = None
    drop: list[str] | None = None
    row_id: list[str] | None = None

    def by_column(self) -> dict[str, str]:
        """Return the role of each column that is named; raise if one has two."""
        named = zip(
            ("--numeric", "--category", "--drop", "--id"),
            (self.numeric, self.category, self.drop, self.row_id),
            strict=True,
        )
        roles: dict[str, str] = {}
        for role, names in named:
            for name in names or ():
                if roles.setdefault(name, role) != role:
                    raise InvalidInputError(
                        f"A column must have one role, got '{name}' in two of --numeric, "
                        "--category, --drop and --id. Leave one out."
                    )
        return roles


def read_share(text: str | float) -> float:
    """Return a share written as 0.9, 0,9 or 90%."""
    bare = str(text).strip()
    try:
        number = float(bare.removesuffix("%").replace(",", "."))
    except ValueError:
        raise typer.BadParameter(f"it must be a share, got '{text}'. Use 0.9 or 90%.") from None
    return number / 100 if bare.endswith("%") else number


def read_percent(text: str | float) -> float:
    """Return a share where a number above 1 can only be a percent."""
    share = read_share(text)
    return share / 100 if 1 < share <= 100 and "%" not in str(text) else share


def read_capacity(text: str, n_rows: int | None) -> float:
    """Return the share of rows that can be handled, written as 50/400, 12.5%, or 50 of `n_rows`."""
    part, slash, whole = text.partition("/")
    try:
        share = float(part) / float(whole) if slash else read_share(part)
    except (ValueError, ZeroDivisionError, typer.BadParameter):
        share = math.nan
    if not slash and "%" not in text and share >= 1 and n_rows is not None:
        share /= n_rows
    if not 0 < share < 1:
        count = "" if n_rows is None else f", or a number below the {n_rows:,} rows of the table"
        raise InvalidInputError(
            f"--capacity must be a part of all rows{count}, got '{text}'. Use --capacity 50/400 "
            "for 50 of every 400."
        )
    return share


def read_pair(
    option: str, text: str, what: str, example: str, names: tuple[str, ...] = ()
) -> tuple[float, float]:
    """Return two numbers written as ``1,20``, ``5%,5%`` or ``0,5;0,5``, or by their names."""
    parts = text.split(";") if ";" in text else text.replace(":", ",").split(",")
    try:
        if "=" in text:
            named = {part.partition("=")[0].strip(): part.partition("=")[2] for part in parts}
            parts = [named[name] for name in names if len(parts) == len(names)]
        if names and "%" in text:
            raise ValueError
        first, second = map(read_share, parts)
    except (ValueError, KeyError, typer.BadParameter):
        raise InvalidInputError(
            f"{option} must be {what}, got '{text}'. Use {option} {example}, for example."
        ) from None
    return first, second


def read_zone_errors(text: str | None) -> tuple[float, float] | None:
    """Return errors written as ``0.05,0.05``; None for no zone."""
    if text is None:
        return None
    what = "two shares between 0 and 1, of the negative and of the positive class"
    example = "0.05,0.05, or '0,05;0,05' with decimal commas"
    pair = read_pair("--zone", text, what, example)
    if not all(0 < share < 1 for share in pair):
        raise InvalidInputError(f"--zone must be {what}, got '{text}'. Use --zone {example}.")
    return pair


@dataclass(frozen=True)
class Goal:
    """What the options of a command ask of a boundary."""

    curve: str | None = None
    rule: str | None = None
    metric: str | None = None
    costs: str | None = None
    recall_floor: float | None = None
    specificity_floor: float | None = None
    precision_floor: float | None = None
    npv_floor: float | None = None
    max_flagged: float | None = None
    capacity: str | None = None
    then: str | None = None
    prevalence: float | None = None
    confidence: float = 0.95

    @property
    def is_open(self) -> bool:
        """Whether nothing is asked of the boundary, so that costs by row may decide."""
        return self == Goal(confidence=self.confidence)

    def claims(self, n_rows: int | None = None) -> tuple[ErrorCurve, Rule]:
        """Return the curve and the rule, as `find_boundary` takes them.

        A capacity without a whole is one of so many rows.
        """
        from boundshift._boundary import choose_claims
        from boundshift.curves._counts import ConfidenceCurve

        chosen, by = choose_claims(self.curve, self._rule(n_rows))
        if isinstance(chosen, ConfidenceCurve):
            chosen = replace(chosen, confidence=self.confidence)
        return chosen, by

    def _rule(self, n_rows: int | None) -> Rule | None:
        """Return the rule, None for that of the curve."""
        from boundshift.rules import Cost, Floors, Metric, as_rule

        floors = {
            "recall": self.recall_floor,
            "specificity": self.specificity_floor,
            "precision": self.precision_floor,
            "npv": self.npv_floor,
            "flagged": self.max_flagged,
        }
        if self.capacity is not None:
            if self.max_flagged is not None:
                raise InvalidInputError(
                    f"--capacity and --max-flagged must not both be given, got {self.capacity!r} "
                    f"and {self.max_flagged:g}: each says how many rows are flagged. Leave one out."
                )
            floors["flagged"] = read_capacity(self.capacity, n_rows)
        floors = {name: share for name, share in floors.items() if share is not None}
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
            what = "two numbers, of a false alarm and of a miss"
            how = "miss=20,alarm=1", ("alarm", "miss")
            alarm, miss = read_pair("--costs", self.costs, what, *how)
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
