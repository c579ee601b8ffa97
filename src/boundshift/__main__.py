"""``python -m boundshift`` and the command ``boundshift``."""

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say which extra it needs."""
    try:
        from boundshift._app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        from boundshift.exceptions import MissingExtraError

        sys.exit(str(MissingExtraError(error.name, "cli")))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A letter that the terminal's encoding lacks is written out instead of a traceback.
            stream.reconfigure(errors="backslashreplace")
    code: object = 0
    try:
        app()
    except SystemExit as end:
        code = end.code
    except OSError as error:
        code = _say(error)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        code = _say(error)
    sys.exit(code)  # type: ignore[arg-type]


def _say(error: OSError) -> int:
    """Say that the answer could not be written, and give up standard output for lost."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if not isinstance(error, BrokenPipeError):
        print(f"The answer could not be written: {error.strerror or error}.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
