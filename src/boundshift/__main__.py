"""``python -m boundshift`` and the command ``boundshift``."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say which extra it needs."""
    try:
        from boundshift.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        from boundshift.exceptions import MissingExtraError

        sys.exit(str(MissingExtraError(error.name, "cli")))
    app()


if __name__ == "__main__":
    main()
