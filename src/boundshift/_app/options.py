"""The options of the commands, each described once, and those that several commands share."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from boundshift import curves, rules
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boundshift.curves import ErrorCurve
    from boundshift.rules import Rule

CURVES = ", ".join(curves.NAMED)
RULES = ", ".join(rules.NAMED)
_FILE = "CSV, TSV (also .gz), Parquet or Excel; - reads a pipe."
HELP = {
    "file": _FILE,
    "files": _FILE,
    "folder": "What `boundshift fit` wrote; for monitor also a JSON file with a certificate.",
    "name": "One of them; none lists all.",
    # Columns
    "score": "Column of scores, higher for the positive class; monitor can score by the fit.",
    "label": "Column of labels; certify and monitor have the target of the fit.",
    "target": "Column to be predicted.",
    "positive": "Label of the positive class. Default: the greater of 0 and 1, -1 and 1, false and "
    "true; of any other two the rarer.",
    "ignore": "Label whose rows are left out, such as unknown; may be repeated.",
    "numeric": "Column of numbers, whatever it looks like; may be repeated.",
    "category": "Column of categories, such as codes; may be repeated.",
    "drop": "Column not to learn from; may be repeated.",
    "row_id": "Column that identifies rows; may be repeated.",
    "by": "Column with few values, for the report's table of groups; may be repeated.",
    "cluster": "Column of ids, such as the patient, where rows of one id resemble each other: they "
    "stay together, and bounded rates are averages over ids. none: rows are independent. fit finds "
    "it, certify and monitor use that of the fit; in threshold it needs --zone, in report --test.",
    "cost_column": "Column of what is lost if the row is decided wrongly; with no rule or curve.",
    "keep": "Column to carry over, as those left out of training always are; may be repeated.",
    "when": "Column of dates: rows are counted in their order, a line a month.",
    # How files are read
    "encoding": "Encoding of text, such as cp1252. Default: UTF-8, UTF-16, cp1252 by trial.",
    "sheet": "Sheet of an Excel file. Default: the only one with cells.",
    "header_row": "Row of an Excel sheet that names the columns. Default: the first.",
    # What scores are
    "scores": "Whether the model has seen the rows.",
    "own": "The model's own threshold, to compare with. Default: 0.5 if all scores lie from 0 to "
    "1. Of other scores it is not known, and nothing is compared.",
    # The goal
    "curve": f"Claim on each class's error: {CURVES}. The last two are support as in the paper's "
    "text and in its tables. Default: the rule's own, else blend.",
    "rule": f"What to minimise, or of a metric to maximise: {RULES}. Default: g-mean.",
    "metric": "Rule: the best value of a scikit-learn scorer, such as jaccard.",
    "costs": "Rule: the least expected cost, as miss=20,alarm=1 or 1,20, false alarm first.",
    "recall_floor": "Rule: find at least this share of the positive class, then do the best for "
    "--then. Floors go together, and clopper-pearson promises them unless --curve says otherwise.",
    "specificity_floor": "Rule: leave at least this share of the negative class alone.",
    "precision_floor": "Rule: at least this share of flagged rows is positive.",
    "npv_floor": "Rule: at least this share of rows not flagged is negative.",
    "capacity": "Rule: flag as many as can be handled, 50/400 for 50 of every 400 rows or 2% of "
    "them; in fit also 50 of the table's rows. All of it is used. For a list of exactly 50, use "
    "predict --top 50.",
    "then": "What is best where floors are met: g-mean, or another rule, recall or precision.",
    "prevalence": "Share of the positive class where decisions will be made, if not that of the "
    "rows: 0.001 for one in a thousand. For costs, F1 and the like, precision, NPV and capacity.",
    "confidence": "Confidence of the certificate, and of the curve clopper-pearson.",
    "zone": "Find an unsure zone, two limits between which a person should decide, by the largest "
    "shares of the negative and of the positive class that may be decided wrongly, as 0.05,0.05.",
    "predict zone": "Decide by the two limits in zone.json of the fit, or by those that "
    "`boundshift threshold --zone … --json` found on rows that the model has not seen.",
    "threshold": "Call rows with a score above this positive. Default: the boundary of the fit.",
    "top": "Only this many rows: those with the highest scores, highest first.",
    # The model
    "model": "logistic, svm, forest, boosting, mlp; of several, with commas, the best.",
    "seed": "Seed of everything random.",
    "test": "Rows used for nothing else, with the same columns; they certify the verdict.",
    "test_share": "Set this share of the rows apart as such a test.",
    # What is written
    "case_name": "What a row is, in the plural: customers, patients.",
    "positive_name": "What the positive class is called: 'who churn', 'ill' or 'churners'.",
    "negative_name": "What the negative class is called.",
    "title": "Title of the page.",
    "certify": "Add the certificate to the JSON.",
    "exit_code": "Exit with 3 if there is an alarm.",
    "out": "File or folder to write; of tables - is standard output.",
    "as_json": "Print JSON for machines.",
    "force": "Replace what is there, but never a file that is read or a link.",
    "fit force": "Replace a folder that holds an earlier fit and nothing else.",
}
"""Help of every option by its parameter, or by command and parameter where they differ."""
_RENAMED = {"row_id": "--id", "as_json": "--json"}
_SHARES = ("_floor", "_share", "prevalence", "confidence")


def argument(name: str) -> Any:
    """Return an argument of a command, with its help."""
    return typer.Argument(help=HELP[name], metavar=name.upper(), show_default=False)


def option(
    name: str,
    command: str = "",
    *,
    advanced: bool = False,
    least: float | None = None,
    most: float | None = None,
) -> Any:
    """Return the option of a parameter, with its help; `command` if that has a help of its own."""
    text = HELP[f"{command} {name}"] if command else HELP[name]
    how: dict[str, Any] = {"help": text, "min": least, "max": most}
    if text.startswith(("Column", "Label")):
        how["metavar"] = text.split()[0].upper()
    if name.endswith(_SHARES):
        how |= {"parser": read_share, "metavar": "SHARE"}
    if name in ("threshold", "own"):
        how |= {"parser": read_score, "metavar": "NUMBER"}
    if advanced:
        how["rich_help_panel"] = "Advanced"
    return typer.Option(_RENAMED.get(name, f"--{name.replace('_', '-')}"), **how)


@dataclass(frozen=True)
class Called:
    """What rows and classes are called in a report."""

    case_name: str | None = None
    positive_name: str | None = None
    negative_name: str | None = None
    title: str | None = None

    def names(self) -> dict[str, Any]:
        """Return the names as a report takes them."""
        return {name: said for name, said in vars(self).items() if said is not None}


@dataclass(frozen=True)
class Roles:
    """What columns mean."""

    numeric: list[str] | None = None
    category: list[str] | None = None
    drop: list[str] | None = None
    row_id: list[str] | None = None

    def by_column(self) -> dict[str, str]:
        """Return the role of each column that is named; raise if one is named twice."""
        roles: dict[str, str] = {}
        order = ("--numeric", "--category", "--drop", "--id")
        for role, names in zip(order, vars(self).values(), strict=True):
            for name in names or ():
                if roles.setdefault(name, role) != role:
                    raise InvalidInputError(
                        f"A column must have one role, got '{name}' in {roles[name]} and {role}. "
                        "Leave one out."
                    )
        return roles


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


def read_zone_errors(text: str | None) -> tuple[float, float] | None:
    """Return errors written as ``0.05,0.05``; None for no zone."""
    what = "two shares between 0 and 1, of the negative and of the positive class, such as "
    what = f"{what}0.05,0.05, or '0,05;0,05' with decimal commas"
    return None if text is None else _read_pair("--zone", text, 1, what)


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
    capacity: str | None = None
    then: str | None = None
    prevalence: float | None = None
    confidence: float = 0.95

    def claims(self, n_rows: int | None = None) -> tuple[ErrorCurve, Rule]:
        """Return the curve and the rule; a capacity may be a count of so many rows."""
        from boundshift._boundary import choose_claims
        from boundshift.curves._base import ConfidenceCurve

        chosen, by = choose_claims(self.curve, self._rule(n_rows))
        if isinstance(chosen, ConfidenceCurve):
            chosen = replace(chosen, confidence=self.confidence)
        return chosen, by

    def _floors(self, n_rows: int | None) -> dict[str, float]:
        names = ("recall", "specificity", "precision", "npv")
        floors = {name: getattr(self, f"{name}_floor") for name in names}
        if self.capacity is not None:
            part, _, whole = self.capacity.partition("/")
            try:
                is_count = not whole and n_rows is not None and read_number(part) >= 1
                of = str(n_rows) if is_count else whole or "1"
                floors["flagged"] = read_number(part) / read_number(of)
            except (ValueError, ZeroDivisionError):
                floors["flagged"] = math.nan
            if not 0 < floors["flagged"] < 1:
                raise InvalidInputError(
                    f"--capacity must be a part of all rows, got '{self.capacity}'. Use --capacity "
                    "50/400 for 50 of every 400, or 2%; in fit also 50 of the table's rows."
                )
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
