"""The application, how it prints, and the options that several commands share."""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError
from boundshift.streaming.driver import draw_bars
from boundshift.writing import is_special

if TYPE_CHECKING:
    from boundshift.curves import ErrorCurve
    from boundshift.rules import Rule

Show = Callable[[str, int, int], None]

# Characters by which a label could move the cursor, change colours or reverse the text: control
# characters, marks of right-to-left text, and bytes of a file name that are not UTF-8.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)

# Arguments in Python whose option has another name.
_OPTIONS = {
    "false_negative": "costs",
    "false_positive": "costs",
    "flagged": "max-flagged",
    "npv": "npv-floor",
    "pos_label": "positive",
    "precision": "precision-floor",
    "recall": "recall-floor",
    "row_cost": "cost-column",
    "sample_weight": "weight",
    "specificity": "specificity-floor",
    "y_score": "score",
    "y_true": "label",
}
_SAME = "by confidence curve keep metric prevalence rule then threshold top unsure zone"
_OPTIONS |= {name: name for name in _SAME.split()}


class Command(TyperCommand):
    """A command whose help is wrapped by the terminal, not by the source code."""

    def __init__(self, *args: Any, help: str | None = None, **options: Any) -> None:
        paragraphs = (help or "").split("\n\n")
        joined = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        super().__init__(*args, help=joined or None, **options)


app = typer.Typer(
    name="boundshift",
    help="Move a classifier's decision boundary to where both classes' errors are best balanced.",
    epilog=(
        "Exit codes: 0 done, 1 something in the data or files is wrong (a sentence says what), "
        "2 the command was not understood, 3 an alarm (monitor --exit-code). Results go to "
        "standard output, all else to standard error. Shell completion: boundshift "
        "--install-completion."
    ),
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode="rich",
)


def command(*examples: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a command to the application, with examples at the end of its help."""
    return app.command(cls=Command, epilog=show_examples(*examples))


def show_examples(*lines: str) -> str:
    """Return the end of a command's help: examples, one a line."""
    return "\n\n".join(["[bold]Examples[/bold]", *(line.replace("[", "\\[") for line in lines)])


def _version(asked: bool) -> None:
    if asked:
        from boundshift import __version__

        print_line(f"boundshift {__version__}")
        raise typer.Exit


@app.callback()
def _commands(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Move a classifier's decision boundary to where both classes' errors are best balanced."""


@contextmanager
def errors() -> Iterator[None]:
    """Turn a user's mistake into its message and exit code 1, and a warning into a note."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", BoundaryWarning)
            yield
    except (InvalidInputError, MissingExtraError) as error:
        raise _refuse(in_options(str(error))) from error
    except BrokenPipeError:  # The reader of the pipe has seen enough.
        raise
    except OSError as error:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
        place = f"'{name}': " if name else ""
        raise _refuse(f"{place}{error.strerror or error}.") from error
    except MemoryError as error:
        raise _refuse(
            "There must be memory for the table, and there is not enough. Use fewer rows or "
            "columns, or scores of your own model with `boundshift threshold`."
        ) from error
    print_notes(dict.fromkeys(str(warning.message) for warning in caught))


def _refuse(text: str) -> typer.Exit:
    print_line(text, "red", stderr=True)
    return typer.Exit(1)


def in_options(text: str) -> str:
    """Return a message about arguments in Python in terms of the options of a command.

    Examples
    --------
    >>> in_options("`rule` must be one of 'sum', 'cost': pass the other label as pos_label.")
    "--rule must be one of 'sum', 'cost': pass the other label as --positive."
    """

    def option(found: re.Match[str]) -> str:
        name = _OPTIONS.get(found[1] or found[2])
        return found[0] if name is None else f"--{name}"

    return re.sub(r"`(\w+)`|\b(pos_label)\b", option, text)


def check_new(path: Path, force: bool) -> None:
    """Raise if something is there already and may not be replaced."""
    if os.path.lexists(path) and not force and not is_special(path):
        raise InvalidInputError(
            f"'{path}' exists already and is left as it is. Choose another name, or use --force "
            "to replace it."
        )


def progress() -> AbstractContextManager[Show]:
    """Show bars on the error stream, so that what is piped stays clean."""
    return draw_bars(only_in_terminal=True)


def visible(text: str) -> str:
    r"""Return a text in which control characters are escaped.

    Examples
    --------
    >>> visible("\x1b[2Jfraud")
    '\\x1b[2Jfraud'
    """
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def print_line(text: object, style: str | None = None, *, stderr: bool = False) -> None:
    """Print a line without markup."""
    console, shown = Console(stderr=stderr), visible(str(text))
    console.print(shown, style=style, markup=False, highlight=False, soft_wrap=True)


def print_notes(texts: Iterable[str]) -> None:
    """Print notes on the error stream."""
    for text in texts:
        print_line(f"Note: {in_options(text)}", "yellow", stderr=True)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; names and labels out of a file are never read as markup."""
    table = Table(box=box.SIMPLE)
    for number, name in enumerate(head):
        side: Any = "right" if number else "left"
        table.add_column(Text(visible(name)), justify=side, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    console = Console()
    if not console.is_terminal:  # A file has no edge at which lines must be broken.
        console = Console(width=200)
    console.print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4g}"
    return visible(str(value))


def print_json(values: Mapping[str, Any]) -> None:
    """Print a JSON object; infinity and NaN, which JSON lacks, become null."""
    text = json.dumps(_plain(values), indent=2, ensure_ascii=False)
    typer.echo(_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


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


_COLUMN = "COLUMN"
_SHARE = "SHARE"
_KINDS = "CSV, TSV, Parquet, Feather, JSON lines (also .gz, .bz2, .zst) or Excel; - reads a pipe."
_Columns = list[str] | None
TableArgument = Annotated[Path, typer.Argument(help=_KINDS, metavar="FILE", show_default=False)]
TablesArgument = Annotated[
    list[Path], typer.Argument(help=_KINDS, metavar="FILE...", show_default=False)
]
ScoreOption = Annotated[str, optional("Column of scores, higher for the positive class.")]
LabelOption = Annotated[str, optional("Column of labels.")]
PositiveOption = Annotated[
    str | None,
    optional(
        "Label of the class to be found. Default: the greater of 0 and 1, -1 and 1, false and "
        "true; of any other two the rarer."
    ),
]
ScaleOption = Annotated[
    ScaleName,
    typer.Option(
        help="What the scores are. Probabilities are decided on their log-odds; auto holds them to "
        "be probabilities if all lie in [0, 1]."
    ),
]
OriginOption = Annotated[
    Origin, typer.Option(help="Rows the model has not seen, or those it was trained on.")
]
PositiveNameOption = Annotated[str | None, optional("What the positive class is called.")]
NegativeNameOption = Annotated[str | None, optional("What the negative class is called.")]
SeedOption = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")]
NumericOption = Annotated[
    _Columns, optional("Column of numbers, whatever it looks like; may be repeated.", _COLUMN)
]
CategoryOption = Annotated[
    _Columns, optional("Column of categories, such as codes; may be repeated.", _COLUMN)
]
DropOption = Annotated[_Columns, optional("Column not to learn from; may be repeated.", _COLUMN)]
IdOption = Annotated[
    _Columns, typer.Option("--id", help="Column that names rows; may be repeated.", metavar=_COLUMN)
]
ByOption = Annotated[
    _Columns,
    optional(
        "Column with few values, for the report's table of groups, all decided by one boundary; "
        "may be repeated. Boundaries by group: threshold --by.",
        _COLUMN,
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
        "Also find an unsure zone, two limits between which nobody should decide by the score "
        "alone: most of the negative and of the positive class that may be decided wrongly, as "
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


def read_pair(option: str, text: str, what: str, example: str) -> tuple[float, float]:
    """Return two numbers written as ``1,20``."""
    try:
        first, second = (float(part) for part in text.replace(":", ",").split(","))
    except ValueError:
        raise InvalidInputError(
            f"{option} must be {what}, got '{text}'. Use {option} {example}, for example."
        ) from None
    return first, second


def read_zone_errors(text: str) -> tuple[float, float]:
    """Return errors written as ``0.05,0.05``."""
    from boundshift.promises.zone import as_errors

    what = "two shares, of the negative and of the positive class"
    return as_errors(read_pair("--zone", text, what, "0.05,0.05"))


_CURVES = (
    "blend, smoothed, logistic, empirical, student-t, kth-point, clopper-pearson, dkw, bernstein, "
    "support, paper, authors"
)
_RULES = "g-mean, sum, minimax, cost, f0.5, f1, f2, mcc, kappa, youden, informedness, markedness"
_GOAL_OPTIONS: dict[str, Any] = {
    "curve": typer.Option(
        help=f"Claim on each class's error: {_CURVES}. The last two are support with "
        "the settings of the paper's text and of its tables.",
        autocompletion=lambda: _CURVES.split(", "),
        show_default="the rule's own, else blend",
    ),
    "rule": typer.Option(
        help=f"What to minimise, or of a metric to maximise: {_RULES}.",
        autocompletion=lambda: _RULES.split(", "),
        show_default="the curve's own, else g-mean",
    ),
    "metric": optional(
        "Rule: the best value of a scikit-learn scorer of predictions, such as jaccard.", "NAME"
    ),
    "costs": optional(
        "Rule: the least expected cost, for costs of a false alarm and of a miss, as 1,20.", "A,B"
    ),
    "recall_floor": optional(
        "Rule: find at least this share of the positive class, then do the best for --then. "
        "Floors go together; the curve is clopper-pearson, and they are promised, unless --curve "
        "says otherwise.",
        _SHARE,
    ),
    "specificity_floor": optional(
        "Rule: leave at least this share of the negative class alone.", _SHARE
    ),
    "precision_floor": optional("Rule: at least this share of flagged rows is positive.", _SHARE),
    "npv_floor": optional("Rule: at least this share of rows not flagged is negative.", _SHARE),
    "max_flagged": optional("Rule: flag at most this share of all rows, such as 0.02.", _SHARE),
    "then": typer.Option(
        help="What is best where all floors are met: a rule, recall, specificity or precision.",
        metavar="NAME",
        autocompletion=lambda: [*_RULES.split(", "), "recall", "specificity", "precision"],
        show_default="g-mean",
    ),
    "prevalence": optional(
        "Share of the positive class where decisions will be made, if it is not that of the "
        "rows: 0.001 for one in a thousand. For costs, F1 and the like, precision, NPV and the "
        "share flagged; also where negatives were thinned out.",
        _SHARE,
    ),
    "confidence": typer.Option(
        help="Confidence of the certificate, and of curves that have one (clopper-pearson, dkw, "
        "bernstein); between 0 and 1."
    ),
}


@dataclass(frozen=True)
class Goal:
    """What the options of a command ask of a boundary; each field is an option.

    Examples
    --------
    >>> Goal(costs="1,20").claims()
    (Blend(rows=10.0), Cost(false_positive=1.0, false_negative=20.0, prevalence=None))
    >>> Goal(recall_floor=0.9, max_flagged=0.02, confidence=0.99).claims()
    (ClopperPearson(confidence=0.99), Floors(recall=0.9, flagged=0.02))
    """

    curve: str | None = None
    rule: str | None = None
    metric: str | None = None
    costs: str | None = None
    recall_floor: float | None = None
    specificity_floor: float | None = None
    precision_floor: float | None = None
    npv_floor: float | None = None
    max_flagged: float | None = None
    then: str | None = None
    prevalence: float | None = None
    confidence: float = 0.95

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


def takes_goal(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's parameter `goal` by an option for each field of `Goal`."""
    signature = inspect.signature(command, eval_str=True)
    hints = get_type_hints(Goal)
    by_name = inspect.Parameter.KEYWORD_ONLY
    parameters: list[inspect.Parameter] = []
    for own in signature.parameters.values():
        if own.name != "goal":
            parameters.append(own.replace(kind=by_name))
            continue
        for f in fields(Goal):
            option: Any = Annotated[hints[f.name], _GOAL_OPTIONS[f.name]]
            parameters.append(
                inspect.Parameter(f.name, by_name, default=f.default, annotation=option)
            )

    @wraps(command)
    def read(**given: Any) -> None:
        goal = Goal(**{f.name: given.pop(f.name) for f in fields(Goal)})
        command(**given, goal=goal)

    read.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    read.__annotations__ = {p.name: p.annotation for p in parameters}
    return read
