"""Tables out of files: CSV, TSV, Parquet, Feather, JSON lines, plain or compressed, or a pipe."""

from boundshift.app.tables.frames import read_frame
from boundshift.app.tables.score_file import LabelledScores, read_scores
from boundshift.app.tables.writing import write_frame
from boundshift.streaming.sources.batches import column_names

__all__ = ["LabelledScores", "column_names", "read_frame", "read_scores", "write_frame"]
