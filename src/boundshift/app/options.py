"""The options that several commands share, each declared once."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boundshift.app.columns import Role
    from boundshift.curves import ErrorCurve
    from boundshift.rules import Rule


class ScaleName(StrEnum):
    """What scores are."""

    auto = "auto"
    probability = "probability"
    raw = "raw"


class Origin(StrEnum):
    """Where scores come from."""

    held_out = "held-out"
    out_of_fold = "out-of-fold"
    training = "training"


def optional(text: str, metavar: str | None = None) -> Any:
    """Return an option without a default to show."""
    return typer.Option(help=text, metavar=metavar, show_default=False)


_COLUMN, _SHARE = "COLUMN", "SHARE"
_KINDS = "CSV, TSV, Parquet, Feather, JSON lines (also .gz, .bz2, .zst) or Excel; - reads a pipe."
_Columns = list[str] | None
TableArgument = Annotated[Path, typer.Argument(help=_KINDS, metavar="FILE", show_default=False)]
TablesArgument = Annotated[
    list[Path], typer.Argument(help=_KINDS, metavar="FILE...", show_default=False)
]
PositiveOption = Annotated[
    str | None,
    optional(
        "Label of the positive class. Default: the greater of 0 and 1, -1 and 1, false and true; "
        "of any other two the rarer."
    ),
]
SeedOption = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")]
ByOption = Annotated[
    _Columns,
    optional(
        "Column with few values, for the report's table of groups, all decided by one boundary; "
        "may be repeated. Boundaries by group: threshold --by.",
        _COLUMN,
    ),
]
WeightOption = Annotated[
    str | None,
    optional(
        "Column of weights: how often each row counts. Certificates count each row once.", _COLUMN
    ),
]
CostColumnOption = Annotated[
    str | None,
    optional(
        "Column of what is lost if the row is decided wrongly; with no rule or curve.", _COLUMN
    ),
]
ZoneOption = Annotated[
    str | None,
    optional(
        "Find an unsure zone: two limits between which nobody should decide by the score alone. "
        "Largest shares of the negative and of the positive class that may be decided wrongly, as "
        "0.05,0.05.",
        "A,B",
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option("--trust", help="The model's file is your own: a pickle, or of another library."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


@dataclass(frozen=True)
class Scored:
    """Options that say which columns hold labelled scores, and what these are."""

    score: Annotated[str, optional("Column of scores, higher for the positive class.")]
    label: Annotated[str, optional("Column of labels.")]
    positive: PositiveOption = None
    scale: Annotated[
        ScaleName,
        typer.Option(
            help="What the scores are. Probabilities are decided on their log-odds; auto takes "
            "scores for probabilities if all lie in [0, 1]."
        ),
    ] = ScaleName.auto
    scores: Annotated[Origin, typer.Option(help="Whether the model has seen the rows.")] = (
        Origin.held_out
    )


@dataclass(frozen=True)
class Called:
    """Options that say what rows and classes are called in a report."""

    unit: Annotated[str | None, optional("What a row is, in the plural: patients, loans.")] = None
    positive_name: Annotated[str | None, optional("What the positive class is called.")] = None
    negative_name: Annotated[str | None, optional("What the negative class is called.")] = None

    def names(self) -> dict[str, str | None]:
        """Return the names as a report takes them."""
        return {
            "unit": self.unit,
            "positive": self.positive_name,
            "negative": self.negative_name,
        }


@dataclass(frozen=True)
class Roles:
    """Options that say what columns mean."""

    numeric: Annotated[
        _Columns, optional("Column of numbers, whatever it looks like; may be repeated.", _COLUMN)
    ] = None
    category: Annotated[
        _Columns, optional("Column of categories, such as codes; may be repeated.", _COLUMN)
    ] = None
    drop: Annotated[_Columns, optional("Column not to learn from; may be repeated.", _COLUMN)] = (
        None
    )
    row_id: Annotated[
        _Columns,
        typer.Option("--id", help="Column that identifies rows; may be repeated.", metavar=_COLUMN),
    ] = None

    def by_column(self) -> dict[str, Role]:
        """Return the role of each column that is named; raise if one has two."""
        from boundshift.app.columns import Role

        named = zip(
            (Role.NUMBER, Role.CATEGORY, Role.DROP, Role.ID),
            (self.numeric, self.category, self.drop, self.row_id),
            strict=True,
        )
        roles: dict[str, Role] = {}
        for role, names in named:
            for name in names or ():
                if roles.setdefault(name, role) != role:
                    raise InvalidInputError(
                        f"A column must have one role, got '{name}' in two of --numeric, "
                        "--category, --drop and --id. Leave one out."
                    )
        return roles


def read_pair(option: str, text: str, what: str, example: str) -> tuple[float, float]:
    """Return two numbers written as ``1,20``."""
    try:
        first, second = (float(part) for part in text.replace(":", ",").split(","))
    except ValueError:
        raise InvalidInputError(
            f"{option} must be {what}, got '{text}'. Use {option} {example}, for example."
        ) from None
    return first, second


def read_zone_errors(text: str | None) -> tuple[float, float] | None:
    """Return errors written as ``0.05,0.05``; None for no zone."""
    if text is None:
        return None
    from boundshift.promises.zone import as_errors

    what = "two shares, of the negative and of the positive class"
    return as_errors(read_pair("--zone", text, what, "0.05,0.05"))


CURVES = (
    "blend, smoothed, logistic, empirical, student-t, kth-point, clopper-pearson, dkw, bernstein, "
    "support, paper, authors"
)
RULES = "g-mean, sum, minimax, cost, f0.5, f1, f2, mcc, kappa, youden, informedness, markedness"


@dataclass(frozen=True)
class Goal:
    """What the options of a command ask of a boundary.

    Examples
    --------
    >>> Goal(costs="1,20").claims()
    (Blend(rows=10.0), Cost(false_positive=1.0, false_negative=20.0, prevalence=None))
    >>> Goal(recall_floor=0.9, max_flagged=0.02, confidence=0.99).claims()
    (ClopperPearson(confidence=0.99), Floors(recall=0.9, flagged=0.02))
    """

    curve: Annotated[
        str | None,
        typer.Option(
            help=f"Claim on each class's error: {CURVES}. The last two are support with the "
            "settings of the paper's text and of its tables.",
            autocompletion=lambda: CURVES.split(", "),
            show_default="the rule's own, else blend",
        ),
    ] = None
    rule: Annotated[
        str | None,
        typer.Option(
            help=f"What to minimise, or of a metric to maximise: {RULES}.",
            autocompletion=lambda: RULES.split(", "),
            show_default="the curve's own, else g-mean",
        ),
    ] = None
    metric: Annotated[
        str | None,
        optional("Rule: the best value of a scikit-learn scorer, such as jaccard.", "NAME"),
    ] = None
    costs: Annotated[
        str | None,
        optional("Rule: the least expected cost, of a false alarm and of a miss, as 1,20.", "A,B"),
    ] = None
    recall_floor: Annotated[
        float | None,
        optional(
            "Rule: find at least this share of the positive class, then do the best for --then. "
            "Floors go together; the curve is clopper-pearson, and they are promised, unless "
            "--curve says otherwise.",
            _SHARE,
        ),
    ] = None
    specificity_floor: Annotated[
        float | None,
        optional("Rule: leave at least this share of the negative class alone.", _SHARE),
    ] = None
    precision_floor: Annotated[
        float | None, optional("Rule: at least this share of flagged rows is positive.", _SHARE)
    ] = None
    npv_floor: Annotated[
        float | None, optional("Rule: at least this share of rows not flagged is negative.", _SHARE)
    ] = None
    max_flagged: Annotated[
        float | None, optional("Rule: flag at most this share of all rows, such as 0.02.", _SHARE)
    ] = None
    then: Annotated[
        str | None,
        typer.Option(
            help="What is best where all floors are met: a rule, recall, specificity or precision.",
            metavar="NAME",
            autocompletion=lambda: [*RULES.split(", "), "recall", "specificity", "precision"],
            show_default="g-mean",
        ),
    ] = None
    prevalence: Annotated[
        float | None,
        optional(
            "Share of the positive class where decisions will be made, if it differs from that of "
            "the rows: 0.001 for one in a thousand. For costs, F1 and the like, precision, NPV and "
            "the share flagged; also where negatives were thinned out.",
            _SHARE,
        ),
    ] = None
    confidence: Annotated[
        float,
        typer.Option(
            help="Confidence of the certificate, and of curves that have one (clopper-pearson, "
            "dkw, bernstein); between 0 and 1."
        ),
    ] = 0.95

    @property
    def is_open(self) -> bool:
        """Whether nothing is asked of the boundary, so that costs by row may decide."""
        return self == Goal(confidence=self.confidence)

    def check_costs_by_row(self, cost_column: str | None) -> None:
        """Raise if costs by row are to go with a rule or a curve."""
        if cost_column is not None and not self.is_open:
            raise InvalidInputError(
                f"--cost-column must go without a rule or a curve, got '{cost_column}' with one: "
                "every row has its own cost. Leave them out."
            )

    def claims(self) -> tuple[ErrorCurve, Rule]:
        """Return the curve and the rule, as `find_boundary` takes them."""
        from boundshift.boundary import choose_claims
        from boundshift.curves.counts import ConfidenceCurve

        chosen, by = choose_claims(self.curve, self._rule())
        if isinstance(chosen, ConfidenceCurve):
            chosen = replace(chosen, confidence=self.confidence)
        return chosen, by

    def _rule(self) -> Rule | None:
        """Return the rule, None for that of the curve."""
        from boundshift.rules import Cost, Floors, Metric, as_rule

        floors = {
            "recall": self.recall_floor,
            "specificity": self.specificity_floor,
            "precision": self.precision_floor,
            "npv": self.npv_floor,
            "flagged": self.max_flagged,
        }
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
            alarm, miss = read_pair("--costs", self.costs, what, "1,20")
            wanted = Cost(false_positive=alarm, false_negative=miss)
        elif self.rule is not None:
            wanted = as_rule(self.rule)
        if self.prevalence is None:
            return wanted
        if wanted is None or "prevalence" not in {f.name for f in fields(wanted)}:
            raise InvalidInputError(
                "--prevalence must go with a rule that depends on it, got "
                f"{'none' if wanted is None else repr(wanted.name)}. Use --costs, --rule f1 or "
                "mcc, --metric, or a floor of precision, NPV or the share flagged."
            )
        return replace(wanted, prevalence=self.prevalence)  # type: ignore[call-arg]
