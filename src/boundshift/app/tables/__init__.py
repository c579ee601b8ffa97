"""Tables out of files: CSV, TSV, Parquet, Feather, JSON lines, Excel, or out of a pipe."""

from boundshift.app.tables.cells import Spelling, find_spelling, read_cells
from boundshift.app.tables.frames import read_frame, write_frame
from boundshift.app.tables.score_file import read_scores
from boundshift.streaming.sources.batches import column_names

__all__ = [
    "Spelling",
    "column_names",
    "find_spelling",
    "read_cells",
    "read_frame",
    "read_scores",
    "write_frame",
]
