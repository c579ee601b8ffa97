"""What the JSON of each command contains; the documentation prints these tables."""

from __future__ import annotations

_VERDICT = {
    "goal": "the goal and what is reached, in a sentence; null without one",
    "goal_state": "missed, reached, met, better, unsure, worse or alone; null without a goal",
    "verdict": "what the threshold misses and flags, in sentences",
    "advice": "what to do next",
}
_TABLE = {
    "columns": "list of name, read_as and why",
    "suspects": "list of column and evidence: columns that may give the target away",
    "notes": "list of sentences",
}

SCHEMA: dict[str, dict[str, str]] = {
    "fit": {
        "files": "paths that were written",
        "target": "column that is predicted",
        "labels": "the negative and the positive label",
        "n_samples": "rows of each class",
        "model": "model that is used",
        "models": "list of metrics of each model on the test rows, and its loss in training",
        "threshold": "rows with a score above it are positive",
        **_VERDICT,
        "certificate": "record of a certificate, on the test rows",
        "comparison": "list of metrics of each method on the test rows",
        "importance": "list of column, mean, low and high: the loss if it is shuffled",
        **_TABLE,
    },
    "doctor": {
        "labels": "the negative and the positive label",
        "n_samples": "rows of each class",
        "dates": "columns of dates",
        "cluster": "column of ids that repeat; null if there is none",
        "prospects": "list of rate, floor, is_possible, rows, missing, of_class and remark",
        **_TABLE,
    },
    "doctor --score": {
        "labels": "the negative and the positive label",
        "n_samples": "rows of each class",
        "auc": "area under the ROC curve",
        "ranking": "separates, chance or reversed: whether the positive class has the higher "
        "scores",
        "prospects": "list of rate, floor, is_possible, rows, missing, of_class and remark",
        "doubt": "why nothing can be guaranteed by rows; empty if it can",
    },
    "predict": {
        "file": "path that was written",
        "positive": "the positive label",
        "rows": "number of rows",
        "flagged": "rows that are predicted positive",
        "unsure": "rows between the limits of a zone",
        "notes": "list of sentences",
    },
    "threshold": {
        "certificate": "record of a certificate, on the same rows",
        "is_met": "whether the exit code is 0",
        "rates": "list of threshold, recall, precision, flagged_per_1000 and cost_per_1000, of "
        "this threshold and of the model's own",
    },
    "threshold --zone": {},
    "certify": {},
    "report": {
        "file": "path that was written",
        "labels": "the negative and the positive label",
        "n_samples": "rows of each class that judge",
        "threshold": "rows with a score above it are positive",
        **_VERDICT,
        "certificate": "status, reason, errors, error_bounds and wrong, on the rows that judge",
    },
    "monitor": {
        "kept": "whether there is no alarm",
        "verdict": "what the monitor says",
        "e_value_needed": "evidence at which an alarm is raised",
        "months": "counts and evidence by month, with --when",
        "classes": "list of label, n_samples, wrong, error, error_interval, error_bound and "
        "e_value",
        "alarms": "list of alarms",
        "notes": "list of sentences",
    },
    "datasets": {"datasets": "list of name, rows, columns, classes, rarest_class, imbalance"},
    "datasets NAME": {
        "file": "path that was written",
        "rows": "number of rows",
        "classes": "rows of each class",
    },
}
"""Fields by command; see `RECORDS` for those that print a record."""

RECORDS = {"threshold": "Boundary", "threshold --zone": "Zone", "certify": "Certificate"}
"""Commands whose JSON is a record of the library, with the fields above beside it."""
