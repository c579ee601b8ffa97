"""The application: how commands are added, what they print, and how mistakes are answered."""

from __future__ import annotations

import inspect
import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from boundshift._app.progress import draw_bars
from boundshift._writing import is_special
from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError

_KEYWORD = inspect.Parameter.KEYWORD_ONLY
Show = Callable[[str, int, int], None]

# Characters by which a label could move the cursor, change colours or reverse the text: control
# characters, marks of right-to-left text, and bytes of a file name that are not UTF-8.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
# Options that set an argument in Python.
_OPTIONS = {"pos_label": "--positive", "row_cost": "--cost-column", "flagged": "--capacity"}
_OPTIONS |= {"y_score": "--score", "y_true": "--label"}
_OPTIONS |= dict.fromkeys(("false_negative", "false_positive"), "--costs")
_OPTIONS |= {name: f"--{name}-floor" for name in ("recall", "specificity", "precision", "npv")}
_SAME = "by cluster confidence curve keep metric prevalence rule then threshold top zone"
_OPTIONS |= {name: f"--{name}" for name in _SAME.split()}

app = typer.Typer(
    name="boundshift",
    epilog=(
        "Exit codes: 0 done, and the goal is met; 1 the data or a file is wrong (a sentence says "
        "what); 2 the command was not understood; 3 the goal is missed, the advice is not to use "
        "the model or to check results too good to be trusted, nothing is certified, a monitor "
        "raises an alarm, or columns may give the target away. Results go to standard output, all "
        "else to standard error. Shell completion: boundshift --install-completion."
    ),
    context_settings={"help_option_names": ["--help", "-h"]},
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode="rich",
)


def command(*examples: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a command to the application, with examples at the end of its help."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        # The terminal wraps the paragraphs of the help, not the source code.
        paragraphs = (function.__doc__ or "").split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        app.command(help=text, epilog="\n\n".join(["[bold]Examples[/bold]", *examples]))(
            _with_single_options(function)
        )
        return function

    return add


def _with_single_options(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command in which a parameter that is a dataclass became one option for each field.

    Typer reads options from a signature and knows no groups of them.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in groups:
            options.append(parameter.replace(annotation=hints[name], kind=_KEYWORD))
            continue
        kinds = get_type_hints(groups[name], include_extras=True)
        options += [
            inspect.Parameter(
                each.name, _KEYWORD, default=each.default, annotation=kinds[each.name]
            )
            for each in fields(groups[name])
        ]

    def run(**values: object) -> None:
        for name, group in groups.items():
            values[name] = group(**{each.name: values.pop(each.name) for each in fields(group)})
        function(**values)

    run.__name__ = function.__name__
    run.__annotations__ = {option.name: option.annotation for option in options}
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return run


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
def running(*, stages: bool = False) -> Iterator[Show]:
    """Show bars on a terminal; turn a user's mistake into exit code 1, a warning into a note.

    With `stages`, each stage is a line where there is no terminal.
    """
    said: set[str] = set()

    def say(what: str, done: int, total: int) -> None:
        if what not in said:
            print_line(f"{what} …", stderr=True)
        said.add(what)

    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", BoundaryWarning)
            with draw_bars() as show:
                yield say if stages and not Console(stderr=True).is_terminal else show
    except BrokenPipeError:  # The reader of the pipe has seen enough.
        raise
    except KeyboardInterrupt as error:
        print_line("Stopped; nothing was written.", stderr=True)
        raise typer.Exit(130) from error
    except (InvalidInputError, MissingExtraError, OSError) as error:
        print_line(_explain(error), "red", stderr=True)
        raise typer.Exit(1) from error
    print_notes(dict.fromkeys(str(warning.message) for warning in caught))


def _explain(error: Exception) -> str:
    """Return what is wrong, in terms of the options of a command."""
    if isinstance(error, OSError):
        place = f"'{os.fsdecode(error.filename)}': " if error.filename else ""
        return f"{place}{error.strerror or error}."
    if isinstance(error, InvalidInputError) and error.argument in _OPTIONS:
        return f"{_OPTIONS[error.argument]} {error.problem}"
    return str(error)


def check_new(path: Path, force: bool) -> None:
    """Raise if something is there already and may not be replaced."""
    if os.path.lexists(path) and not force and not is_special(path):
        raise InvalidInputError(
            f"'{path}' exists already and is left as it is. Choose another name, or use --force "
            "to replace it."
        )
    if not is_special(path):
        place = next(each for each in path.absolute().parents if each.exists())
        try:
            tempfile.TemporaryFile(dir=place).close()
        except OSError as error:
            raise InvalidInputError(
                f"'{path}' cannot be written: {error.strerror} in '{place}'. Choose another --out."
            ) from error


def check_output(path: Path, force: bool, *inputs: Path | None, as_json: bool = False) -> None:
    """Raise if a file may not be written: it is there, is read here, or is a link.

    JSON goes to standard output, so that the file must go elsewhere.
    """
    if as_json and str(path) == "-":
        raise InvalidInputError(
            "--json must go with --out, because both would go to standard output. Add --out "
            "table.csv."
        )
    check_new(path, force)
    for source in inputs:
        if source is not None and _is_same_file(path, source):
            raise InvalidInputError(
                f"--out must not be a file that is read here, got '{path}'. It is left as it is: "
                "choose another name."
            )
    if path.is_symlink():
        raise InvalidInputError(
            f"--out must not be a link, got '{path}', which points to '{path.resolve()}'. Nothing "
            "is written through it: name that file itself, or choose another name."
        )


def _is_same_file(path: Path, other: Path) -> bool:
    try:
        return not is_special(path) and path.samefile(other)
    except OSError:
        return False


def visible(text: str) -> str:
    r"""Return a text in which control characters are escaped."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def print_line(text: object, style: str | None = None, *, stderr: bool = False) -> None:
    """Print a line without markup."""
    console = Console(stderr=stderr)
    shown = visible(str(text))
    console.print(shown, style=style, markup=False, highlight=False, soft_wrap=True)


def print_notes(texts: Iterable[str]) -> None:
    """Print notes on the error stream."""
    for text in texts:
        print_line(f"Note: {text}", "yellow", stderr=True)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; names and labels out of a file are never read as markup."""
    table = Table(box=box.SIMPLE)
    lines = [[_cell(value) for value in row] for row in rows]
    for place, name in enumerate(head):
        has_numbers = place > 0 and any(line[place][:1].isdigit() for line in lines)
        side: Any = "right" if has_numbers else "left"
        table.add_column(Text(visible(name)), justify=side, overflow="fold")
    for line in lines:
        table.add_row(*(Text(visible(cell)) for cell in line))
    # A file has no edge at which lines must be broken.
    (Console() if Console().is_terminal else Console(width=200)).print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if type(value) is int else str(value)


def print_json(values: Mapping[str, object]) -> None:
    """Print a JSON object; what it has is listed in `SCHEMA`."""
    typer.echo(json.dumps(values, indent=2))


def exit_unless(is_met: bool) -> None:
    """Exit with code 3 if a goal is missed, nothing is certified or an alarm is raised."""
    if not is_met:
        raise typer.Exit(3)


def is_goal_met(facts: Mapping[str, Any]) -> bool:
    """Return whether the goal of a report is met, as far as it can be missed.

    If the advice is not to use the threshold, or to check it first, no goal is met.
    """
    if facts["diagnosis"]["level"] == "bad" or facts["diagnosis"]["advice"] == "check":
        return False
    goal = facts["goal"]
    return goal is None or goal["state"] not in ("missed", "reached", "worse")


def verdict_fields(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the goal and the verdict of a report for `print_json`."""
    goal = facts["goal"]
    return {
        "goal": goal and goal["sentence"],
        "goal_state": goal and goal["state"],
        "verdict": " ".join(facts["verdict"]["sentences"]),
        "advice": facts["diagnosis"]["next"],
    }


def print_sentences(facts: Mapping[str, Any]) -> None:
    """Print the report's points, its goal and its zone."""
    for text in (*facts["verdict"]["sentences"], facts["diagnosis"]["next"]):
        print_line(f"- {text}")
    for name in ("goal", "zone"):
        if facts[name] is not None:
            print_line(facts[name]["sentence"])
