"""Files as a source of passes: paths, globs and folders."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from os import PathLike
from pathlib import Path

from boundshift._tables import (
    OpenTable,
    arrow,
    check_names,
    name_format,
    open_table,
    read_batches,
    readable,
    unknown_ending,
)
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._read import ROWS_AT_ONCE, Chunk, Part, PartSource, Roles, table_chunk

Unlabelled = dict[tuple[Path, int], int]
"""Number of rows without a label, by file and row group."""
Files = str | PathLike[str] | Sequence[str | PathLike[str]]

Opener = Callable[[Path], AbstractContextManager[OpenTable]]


def files_columns(
    files: Files,
    roles: Roles,
    *,
    as_text: bool = False,
    opener: Opener = open_table,
    unlabelled: Unlabelled | None = None,
) -> PartSource:
    """Return the source of some columns of files; with `as_text`, labels of CSV are text.

    Rows without a label are skipped and counted in `unlabelled`, or else refused later.
    """
    parts: list[Part] = []
    for path in find_files(files):
        with opener(path) as opened:
            in_path = [name for name in roles.values() if f"{name}=" in str(path)]
            if in_path:
                raise InvalidInputError(
                    f"Column '{in_path[0]}' must be in the files, got it in the path '{path}'. "
                    "Pass pyarrow.dataset.dataset(folder, partitioning='hive') or DuckDB."
                )
            check_names(path.name, opened.header, roles.values())
            # Row groups are read one without the other; text has to be read from its start.
            groups = range(opened.stream.num_row_groups) if opened.format == "parquet" else [0]
        parts += [
            partial(_read_part, opener, path, group, roles, as_text, unlabelled) for group in groups
        ]
    return PartSource(parts)


def _read_part(
    opener: Opener,
    path: Path,
    group: int,
    roles: Roles,
    as_text: bool,
    unlabelled: Unlabelled | None,
) -> Iterator[Chunk]:
    pa = arrow()
    with opener(path) as opened, readable(opened):
        if opened.format == "parquet":
            columns = list(dict.fromkeys(roles.values()))
            how = {"row_groups": [group], "columns": columns, "use_threads": False}
            batches = opened.stream.iter_batches(ROWS_AT_ONCE, **how)
        else:
            types = dict.fromkeys(roles.values(), pa.float64())
            types[roles["label"]] = pa.string() if as_text else None
            if "by" in roles:
                types[roles["by"]] = None
            batches = read_batches(opened, types)
        n_unlabelled = 0
        for batch in batches:
            if unlabelled is not None:
                n_unlabelled += batch.column(roles["label"]).null_count
                batch = batch.filter(batch.column(roles["label"]).is_valid())
            yield table_chunk(batch, roles, path.name)
        if unlabelled is not None:
            unlabelled[path, group] = n_unlabelled


def are_text(files: Files) -> bool:
    """Return whether all files are CSV or TSV, whose values have no types."""
    return all(name_format(path) == "csv" for path in find_files(files))


def find_files(files: Files) -> list[Path]:
    """Return the files of paths, globs and folders, in order."""
    found: list[Path] = []
    for name in [files] if isinstance(files, str | PathLike) else files:
        paths = _expand(os.fspath(name))
        if "://" in os.fspath(name):
            raise InvalidInputError(
                f"must name files on this machine, got {os.fspath(name)!r}. Pass "
                "pyarrow.dataset.dataset(...) or a DuckDB relation, which read remote files.",
                argument="data",
            )
        if not paths:
            raise InvalidInputError(
                f"must name files, got {os.fspath(name)!r}, which matches none. Check the "
                "folder and the ending.",
                argument="data",
            )
        found += paths
    for path in found:
        if name_format(path) is None:
            raise unknown_ending(path)
    return found


def _expand(name: str) -> list[Path]:
    """Return the files of a name, a folder or a glob.

    In folders and globs, names that begin with . or _ are checkpoints, logs and work under way, as
    Spark and Arrow have it. Folders before the first wildcard were written out by the user.
    """
    path = Path(name)
    if path.is_file():
        return [path]
    is_folder = path.is_dir()
    root = path if is_folder else Path(re.split(r"[*?[]", name)[0] + "x").parent
    pattern = "**" if is_folder else str(path.relative_to(root))
    inside = map(Path, glob.glob(pattern, root_dir=root, recursive=True))  # noqa: PTH207
    seen = [root / p for p in inside if not any(part[0] == "_" for part in p.parts)]
    return sorted(p for p in seen if p.is_file() and (name_format(p) or not is_folder))
