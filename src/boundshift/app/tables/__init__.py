"""Tables out of files: CSV, TSV, Parquet, Feather, JSON lines, plain or compressed, or a pipe."""

from boundshift.app.tables.files import column_names
from boundshift.app.tables.frames import read_frame
from boundshift.app.tables.scores import LabelledScores, read_scores
from boundshift.app.tables.writing import write_frame

__all__ = ["LabelledScores", "column_names", "read_frame", "read_scores", "write_frame"]
