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
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # standard output is lost
        if not isinstance(error, BrokenPipeError):
            print(f"The answer could not be written: {error.strerror or error}.", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
