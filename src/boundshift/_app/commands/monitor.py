"""The command `boundshift monitor`."""

from __future__ import annotations

from boundshift._app import options as opt
from boundshift._app.cli import command, exit_unless, print_notes, running


@command(
    "boundshift monitor boundshift-fit march.csv --when day",
    "boundshift monitor threshold.json march.csv --score risk --label ill --json",
)
def monitor(
    folder: opt.FolderOrThreshold,
    file: opt.File,
    reading: opt.FileOptions,
    label: opt.LabelOrTarget = None,
    score: opt.ScoreOrModel = None,
    when: opt.When = None,
    cluster: opt.ClusterOfScores = None,
    as_json: opt.AsJson = False,
) -> None:
    """Count labelled rows that came after deployment, and check whether the certificate is kept.

    The state is kept in monitor.json beside the certificate, so that every call goes on where the
    last one ended. Look as often as you like: the confidence holds for all looks together. The
    exit code is 3 if there is an alarm.
    """
    with running():
        from boundshift._app.watch import print_watched, watch_table

        watched = watch_table(
            folder,
            file,
            label=label,
            score=score,
            when=when,
            cluster=cluster,
            reading=reading,
            on_wait=lambda: print_notes(["Another call is counting. This one waits for it."]),
        )
    print_watched(watched, as_json=as_json)
    exit_unless(watched.monitor.alarm is None)
