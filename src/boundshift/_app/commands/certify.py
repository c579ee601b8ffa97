"""The command `boundshift certify`."""

from __future__ import annotations

from boundshift._app import options as opt
from boundshift._app.cli import command, exit_unless, print_json, print_line, print_notes, running


@command(
    "boundshift certify boundshift-fit april.csv --label ill --confidence 0.99 --json",
    "boundshift certify boundshift-fit april.csv --cluster patient",
    "boundshift certify threshold.json april.csv --score risk --label ill",
)
def certify(
    folder: opt.FolderOrThreshold,
    file: opt.File,
    reading: opt.FileOptions,
    label: opt.LabelOrTarget = None,
    score: opt.ScoreOrModel = None,
    confidence: opt.Confidence = 0.95,
    cluster: opt.ClusterOfScores = None,
    as_json: opt.AsJson = False,
) -> None:
    """Certify a model or a threshold on other labelled rows, as of another year or place.

    The rows must have been used neither to train the model nor to choose its threshold.
    """
    with running():
        from boundshift._app.certifying import certify_table
        from boundshift._words import at_most, percent

        found, notes, is_met = certify_table(
            folder,
            file,
            label=label,
            score=score,
            confidence=confidence,
            cluster=cluster,
            reading=reading,
        )
    print_notes(notes)
    if as_json:
        print_json(found.to_dict())
        exit_unless(is_met)
        return
    for place, verb in ((1, "misses"), (0, "flags")):
        k = found.wrong[place]
        n = found.n_samples[place]
        if n == 0:
            print_line(f"There are no rows of class {found.labels[place]}.")
            continue
        label = found.labels[place]
        said = f"Of {n:,} rows of class {label} the model {verb} {k:,} ({percent(k / n)})"
        if found.n_clusters is not None:
            share = percent(found.errors[place])
            ids = found.n_clusters[place]
            said = f"{said}; averaged over {ids:,} clusters, each counting once, it {verb} {share}"
        if found.certified:
            bound = at_most(found.error_bounds[place])
            said = f"{said}, in the long run at most {bound} with {100 * confidence:g}% confidence"
        print_line(f"{said}.")
    print_line(f"{found.status.capitalize()}: {found.reason}.")
    if found.certified and not is_met:
        print_line(
            "The recall or specificity that the threshold was chosen for is not certified on these "
            "rows."
        )
    exit_unless(is_met)
