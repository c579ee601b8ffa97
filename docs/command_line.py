"""Writes the page of commands out of the application itself, before the pages are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["as_markdown", "setup"]

PAGE = Path(__file__).parent / "generated" / "commands.md"


def as_markdown() -> str:
    """Return every command with its arguments, options and examples."""
    import typer

    from boundshift._app import app

    group: Any = typer.main.get_command(app)
    commands = [_command(name, group.commands[name]) for name in sorted(group.commands)]
    return "\n".join([*commands, _fields()])


def _fields() -> str:
    """Return the fields of the JSON of every command."""
    from boundshift._app.schema import RECORDS, SCHEMA

    lines = ["## Fields of the JSON", ""]
    for command, fields in SCHEMA.items():
        if command in RECORDS:
            record = f"the fields of a [`{RECORDS[command]}`](../reference/file_formats.md)"
            lines += [f"`{command} --json` prints {record}{', and:' if fields else '.'}", ""]
        else:
            lines += [f"`{command} --json` prints:", ""]
        if fields:
            lines += ["| field | content |", "|---|---|"]
            lines += [f"| `{name}` | {content} |" for name, content in fields.items()]
            lines.append("")
    return "\n".join(lines)


def _command(name: str, command: Any) -> str:
    """Return one command."""
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join(command.collect_usage_pieces(context))
    examples = (command.epilog or "").split("\n\n")[1:]
    lines = [f"## {name}", "", f"`boundshift {name} {usage}`", ""]
    lines += [" ".join(part.split()) + "\n" for part in (command.help or "").split("\n\n")]
    lines += ["```console", *(f"$ {line}".replace("\\[", "[") for line in examples), "```", ""]
    lines += ["| | | default |", "|---|---|---|"]
    lines += [_row(parameter) for parameter in command.params if parameter.name != "help"]
    return "\n".join(lines) + "\n"


def _row(parameter: Any) -> str:
    """Return one argument or option."""
    argument = parameter.param_type_name == "argument"
    names = [parameter.metavar or parameter.name.upper()] if argument else parameter.opts
    shown = ", ".join(f"`{name}`" for name in names)
    default = parameter.default
    said = getattr(parameter, "show_default", None)
    if isinstance(said, str):
        default = said
    elif parameter.required:
        default = "required"
    elif default is None or callable(default) or said is False:
        default = ""
    default = getattr(default, "value", default)
    text = (parameter.help or "").replace("|", "\\|")
    return f"| {shown} | {text} | {default} |"


def _write(app: Any) -> None:
    PAGE.parent.mkdir(exist_ok=True)
    text = as_markdown()
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        PAGE.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Join the build."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True}
