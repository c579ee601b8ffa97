"""What changes from one boundary to another, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from boundshift._result.rows import describe_range
from boundshift._words import number

if TYPE_CHECKING:
    from boundshift._result.boundary import Boundary


_SETTINGS = {
    "labels": "classes change",
    "scale": "scale on which scores are decided changes",
    "rule": "goal changes",
    "by_row": "use of a cost for each row changes",
    "curve": "curve changes",
}


def describe_changes(old: Boundary, new: Boundary) -> Iterator[str]:
    """Yield a sentence for each change: the decision, its goal, the evidence, then the notes."""
    yield from _describe_decision(old, new)
    yield from _describe_evidence(old, new)
    yield from _describe_scores(old, new)
    for name in dict.fromkeys([*old.metadata, *new.metadata]):
        before = old.metadata.get(name)
        after = new.metadata.get(name)
        if name not in old.metadata:
            yield f"The note {name!r} is new: {after!r}."
        elif name not in new.metadata:
            yield f"The note {name!r} is gone; it was {before!r}."
        elif before != after:
            yield f"The note {name!r} changes from {before!r} to {after!r}."


def _describe_decision(old: Boundary, new: Boundary) -> Iterator[str]:
    if old.threshold != new.threshold:
        verb = "rises" if new.threshold > old.threshold else "falls"
        ends = [f"{each.threshold:.6g}" for each in (old, new)]
        if ends[0] == ends[1]:
            ends = [repr(each.threshold) for each in (old, new)]
        yield f"The threshold {verb} from {' to '.join(ends)}."
    for field, name in _SETTINGS.items():
        before = getattr(old, field)
        after = getattr(new, field)
        if before != after:
            yield f"The {name} from {before} to {after}."
    if old.guaranteed != new.guaranteed and (old.guaranteed or new.guaranteed):
        words = "are now guaranteed" if new.guaranteed else "were guaranteed and are not any more"
        yield f"The floors {words}."
    if old.statuses != new.statuses:
        yield f"The status changes from {old.status.name} to {new.status.name}: {new.message}"


def _describe_evidence(old: Boundary, new: Boundary) -> Iterator[str]:
    for i, label in enumerate(new.labels):
        before = (old.wrong[i], old.n_samples[i])
        after = (new.wrong[i], new.n_samples[i])
        if before != after:
            yield (
                f"Of class {label}, {before[0]:,.6g} of {before[1]:,.6g} rows were on the wrong "
                f"side; now {after[0]:,.6g} of {after[1]:,.6g} are."
            )
        # As text, in which NaN equals NaN.
        claims = [number(each.errors[i]) for each in (old, new)]
        if claims[0] != claims[1]:
            yield f"The claimed error rate of class {label} changes from {' to '.join(claims)}."


def _describe_scores(old: Boundary, new: Boundary) -> Iterator[str]:
    if old.chosen_on is None or new.chosen_on is None:
        return
    pairs = zip(new.labels, old.chosen_on.deciles, new.chosen_on.deciles, strict=True)
    for label, before, after in pairs:
        if before and after and before != after:
            yield (
                f"The scores of class {label} lay {describe_range(before)} and now lie "
                f"{describe_range(after)}."
            )
