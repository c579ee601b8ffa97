"""The verdict: natural frequencies in two sentences, and what each part of them rests on."""

from __future__ import annotations

from typing import Any, Literal

from boundshift.promises.certificate import Certificate
from boundshift.view.words import Names, at_most, choose_base, percent, rows_out_of

__all__ = ["JudgedOn", "count_alarms", "decide_verdict", "part"]

JudgedOn = Literal["test", "deciding"]
"""Rows that a boundary is judged by: used for nothing else, or those that chose it."""

_FEWEST = 1000


def decide_verdict(
    shifted: Certificate, old: Certificate, judged_on: JudgedOn, prevalence: float, names: Names
) -> dict[str, Any]:
    """Say what changes for both classes, in numbers out of a hundred and a thousand.

    Parameters
    ----------
    shifted, old : Certificate
        Of the moved boundary and of the model's own, on the same rows.
    judged_on : {"test", "deciding"}
        Whether those rows were used for nothing else, or chose the boundary.
    prevalence : float
        Share of the positive class where decisions are made.
    names : Names
        Of both classes.

    Returns
    -------
    dict
        ``sentence``, its ``parts`` (text, and status for the one that is claimed), ``status`` of
        the certificate, ``note`` and the numbers of the sentence.

    Examples
    --------
    >>> from boundshift.promises.certificate import certify_counts
    >>> from boundshift.view.words import read_names
    >>> names = read_names(
    ...     {"positive": "sick", "negative": "healthy", "unit": "patients"}, (0, 1)
    ... )
    >>> before = certify_counts((9, 31), (300, 100), (0, 1))
    >>> after = certify_counts((27, 9), (300, 100), (0, 1))
    >>> print(decide_verdict(after, before, "test", 0.1, names)["sentence"])
    Of 100 sick patients the shifted model is expected to miss 9 instead of 31, in the long run at
    most 15.2% with 95% confidence. Of 1,000 patients, with 100 sick patients among them, it flags
    172 instead of 96: 91 hits and 81 false alarms, a precision of 52.9% instead of 71.9%.
    """
    numbers = _numbers(shifted, old)
    alarms, before = (count_alarms(c.errors, prevalence) for c in (shifted, old))
    parts = _parts(numbers, shifted, names)
    parts.append(part(_alarm_sentence(alarms, before, names)))
    return {
        "sentence": " ".join(p["text"] for p in parts),
        "parts": parts,
        "status": shifted.status,
        "note": _note(shifted, judged_on),
        "alarms": alarms,
        "alarms_before": before,
        **numbers,
    }


def part(text: str, status: str | None = None) -> dict[str, Any]:
    """Return a piece of a sentence, with the status of what it claims."""
    return {"text": text, "status": status}


def count_alarms(errors: tuple[float, ...], prevalence: float) -> dict[str, Any]:
    """Return hits and false alarms out of a thousand rows, or of more where hits would vanish.

    Examples
    --------
    >>> count = count_alarms((0.06, 0.09), 0.005)
    >>> [count[key] for key in ("base", "positives", "flagged", "hits", "false")]
    [1000, 5, 64, 5, 59]
    """
    hits, false = prevalence * (1 - errors[1]), (1 - prevalence) * errors[0]
    base = max(_FEWEST, choose_base((prevalence, hits)))
    flagged = rows_out_of(base, hits + false)
    return {
        "base": base,
        "positives": rows_out_of(base, prevalence),
        "flagged": flagged,
        "hits": min(flagged, rows_out_of(base, hits)),
        "false": flagged - min(flagged, rows_out_of(base, hits)),
        "precision": hits / (hits + false) if hits + false > 0 else None,
        "share": hits + false,
    }


def _numbers(shifted: Certificate, old: Certificate) -> dict[str, int]:
    """Return the whole numbers of the first sentence."""
    missed, missed_before = shifted.errors[1], old.errors[1]
    base = choose_base((missed, missed_before))
    return {
        "base": base,
        "missed": rows_out_of(base, missed),
        "missed_before": rows_out_of(base, missed_before),
    }


def _parts(numbers: dict[str, int], shifted: Certificate, names: Names) -> list[dict[str, Any]]:
    """Put the misses into words; only the bound of a rate, not of a count, is claimed."""
    missed, before = numbers["missed"], numbers["missed_before"]
    start = f"Of {numbers['base']:,} {names.positives} the shifted model is expected to miss"
    if shifted.status == "nominal":
        start = f"Of {numbers['base']:,} {names.positives} in training the shifted model misses"
    change = "as before" if missed == before else f"instead of {before:,}"
    if not shifted.certified:
        return [part(f"{start} {missed:,} {change}.")]
    bound = (
        f"in the long run at most {at_most(shifted.error_bounds[1])} with "
        f"{100 * shifted.confidence:.6g}% confidence."
    )
    return [part(f"{start} {missed:,} {change},"), part(bound, "certified")]


def _alarm_sentence(now: dict[str, Any], before: dict[str, Any], names: Names) -> str:
    """Say how many alarms that makes, and how many of them are right."""
    among = f"Of {now['base']:,} {names.unit}, with {now['positives']:,} {names.positives} among"
    old = rows_out_of(now["base"], before["share"])
    change = "" if old == now["flagged"] else f" instead of {old:,}"
    if now["precision"] is None:
        return f"{among} them, it flags none{change}."
    old_precision = "" if before["precision"] is None else percent(before["precision"])
    better = old_precision and old_precision != percent(now["precision"])
    return (
        f"{among} them, it flags {now['flagged']:,}{change}: {_count(now['hits'], 'hit')} and "
        f"{_count(now['false'], 'false alarm')}, a precision of {percent(now['precision'])}"
        f"{f' instead of {old_precision}' if better else ''}."
    )


def _count(number: int, noun: str) -> str:
    """Return a number and what is counted, in the singular where it is one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _note(shifted: Certificate, judged_on: JudgedOn) -> str:
    """Say what the sentences rest on."""
    n = sum(shifted.n_samples)
    if shifted.status == "nominal":
        return (
            f"Nothing here is certified: the model was trained on these {n:,} rows, and their "
            "scores flatter it. Score rows that the model has not seen."
        )
    if shifted.status == "cross-fitted":
        return (
            f"No test rows were given, so this was measured on the {n:,} rows that chose the "
            "boundary, each scored by a model fitted without it. That is about the models of the "
            "folds: nothing is certified of the one that is deployed. Keep rows apart for a test."
        )
    if judged_on == "deciding":
        return (
            f"No test rows were given, so this was measured on the {n:,} rows that chose the "
            "boundary, which flatter it. Only the “at most” is certified, if the model has not "
            "seen these rows: it holds for every threshold, and so for a chosen one."
        )
    return (
        f"Measured on {n:,} test rows. Only the “at most” is certified, if they were used for "
        "nothing else; the other numbers are estimates. The boundary was fixed before the rows "
        "were looked at."
    )
