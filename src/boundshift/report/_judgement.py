"""What the evidence amounts to: verdict and diagnosis as facts, from which sentences are made."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from boundshift._guarantees.certificate import Certificate
from boundshift._guarantees.planning import rows_needed
from boundshift._ranking import area_under_curve, auc_interval
from boundshift._result.boundary import Boundary
from boundshift._status import QUIET, Status
from boundshift._typing import BoolArray, FloatArray
from boundshift._view import error_band, least_balanced_error
from boundshift.exceptions import InvalidInputError
from boundshift.report._evidence import Evidence
from boundshift.report._goal import OF_CLASS, Aim, Floor, Goal, State, judge_goal, keeps, rates_at

# Least mean of both error rates, over all thresholds. The limits describe the scores; they do not
# decide whether to use them.
_PERFECT = 0.005
_STRONG = 0.1
_FAIR = 0.3
_NEAR_CHANCE = 0.55  # of the interval of the area under the curve
_CLAIM = 0.05  # the error rate for which the rows needed are stated
_VERY_FEW = 0.2
_MOST_GROUPS, _FEWEST_ROWS = 10, 20  # of a calibration
_N_SHARES = 101  # flagged at random


# --- The scores -----------------------------------------------------------------------------------


class Ranking(StrEnum):
    """Whether positives have higher scores, by an interval of the area under the curve."""

    SEPARATES = "separates"
    CHANCE = "chance"  # the interval covers one half
    REVERSED = "reversed"


class Strength(StrEnum):
    """How well the best threshold could separate the classes."""

    PERFECT = "perfect"
    STRONG = "strong"
    FAIR = "fair"
    WEAK = "weak"


@dataclass(frozen=True)
class Separation:
    """How well scores separate the classes, whatever the threshold."""

    auc: float
    low: float
    high: float
    least_error: float
    ranking: Ranking
    strength: Strength

    @property
    def is_near_chance(self) -> bool:
        """Whether there are enough rows to see that little is to be gained from the scores."""
        return self.high <= _NEAR_CHANCE


def judge_separation(evidence: Evidence) -> Separation:
    """Return the area under the curve with its interval, and the least balanced error."""
    auc = area_under_curve(evidence.sample)
    low, high = auc_interval(auc, *_independent_rows(evidence), evidence.confidence)
    ranking = Ranking.CHANCE
    if low > 0.5:
        ranking = Ranking.SEPARATES
    elif high < 0.5:
        ranking = Ranking.REVERSED
    least = least_balanced_error(evidence.sample)
    limits = ((_PERFECT, Strength.PERFECT), (_STRONG, Strength.STRONG), (_FAIR, Strength.FAIR))
    strength = next((name for limit, name in limits if least <= limit), Strength.WEAK)
    return Separation(auc, low, high, least, ranking, strength)


def _independent_rows(evidence: Evidence) -> tuple[float, float]:
    """Return the rows of each class, or of clusters Kish's effective number of them."""
    negative, positive = evidence.sample.n_samples
    if not evidence.is_clustered:
        return negative, positive
    cluster = np.asarray(evidence.details.cluster)
    is_positive = evidence.rows.is_positive
    return _effective(cluster[~is_positive]), _effective(cluster[is_positive])


def _effective(cluster: np.ndarray) -> float:
    sizes = np.unique(cluster, return_counts=True)[1].astype(np.float64)
    return float(sizes.sum() ** 2 / np.sum(sizes**2))


# --- The decision ---------------------------------------------------------------------------------


class Policy(StrEnum):
    """The best decision without any model."""

    NOBODY = "nobody"
    EVERYONE = "everyone"
    AT_RANDOM = "at random"


class Proof(StrEnum):
    """Whether decisions are shown to be better than those without a model."""

    SHOWN = "shown"
    NOT_SHOWN = "not shown"
    WORSE = "worse"
    NOTHING = "nothing is certified"


@dataclass(frozen=True)
class Baseline:
    """The best decision without a model, among those that keep the floors."""

    policy: Policy
    share: float  # flagged
    value: float


@dataclass(frozen=True)
class Usefulness:
    """A decision compared with the best one that needs no model, by the goal.

    It is shown to be better if both error rates are bounded, together, below those of chance, and
    if the interval of the gain lies above 0.
    """

    value: float
    baseline: Baseline | None  # None if no decision without a model keeps the floors
    gain: tuple[float, float] | None  # greater is better; None for clusters
    sum_of_bounds: float
    proof: Proof

    @property
    def policy(self) -> Policy:
        """The decision without a model to compare with."""
        return Policy.AT_RANDOM if self.baseline is None else self.baseline.policy


def judge_usefulness(evidence: Evidence) -> Usefulness:
    """Compare the decisions with those that need no model."""
    aim = Aim(evidence)
    value = aim.at(evidence.rows.errors())
    baseline = _decide_without_model(aim, evidence)
    is_gain = baseline is None or aim.is_better(value, baseline.value)
    gain = None
    if baseline is not None and not evidence.is_clustered:
        gain = _gain_interval(aim, baseline, evidence)
        is_gain = gain[0] > 0
    total = sum(evidence.joint_bounds)
    proof = Proof.SHOWN
    if not evidence.certificate.certified:
        proof = Proof.NOTHING
    elif gain is not None and gain[1] < 0:
        proof = Proof.WORSE
    elif total >= 1 or not is_gain:
        proof = Proof.NOT_SHOWN
    return Usefulness(value, baseline, gain, total, proof)


def _decide_without_model(aim: Aim, evidence: Evidence) -> Baseline | None:
    """Return the best share of rows to flag at random, among those that keep the floors."""
    rows = evidence.rows
    if rows.cost is not None:  # the cost is linear in the share flagged
        everyone = aim.at(rows.errors(np.ones_like(rows.flagged)))
        nobody = aim.at(rows.errors(np.zeros_like(rows.flagged)))
        if everyone < nobody:
            return Baseline(Policy.EVERYONE, 1.0, everyone)
        return Baseline(Policy.NOBODY, 0.0, nobody)
    asked = dict(aim.asked)
    if "flagged" in asked:  # as many as the model flags
        asked["flagged"] = max(asked["flagged"], rates_at(rows.errors(), aim.prevalence)["flagged"])
    ends = [share for limit in asked.values() for share in (limit, 1 - limit)]
    shares = np.unique([*np.linspace(0, 1, _N_SHARES), *ends])
    allowed = [share for share in shares.tolist() if _allows(asked, share, aim.prevalence)]
    if not allowed:
        return None
    values = np.atleast_1d(aim.of(np.array(allowed), 1 - np.array(allowed)))
    best = int(np.argmax(values) if aim.is_maximised else np.argmin(values))
    share = allowed[best]
    policy = Policy.AT_RANDOM
    if np.ptp(values) > 1e-12 and share in (0.0, 1.0):
        policy = Policy.EVERYONE if share else Policy.NOBODY
    return Baseline(policy, share, float(values[best]))


def _allows(asked: dict[str, float], share: float, prevalence: float) -> bool:
    rates = rates_at((share, 1 - share), prevalence)
    return all(keeps(name, limit, rates[name]) for name, limit in asked.items())


def _gain_interval(aim: Aim, baseline: Baseline, evidence: Evidence) -> tuple[float, float]:
    rows = evidence.rows
    sign = 1 if aim.is_maximised else -1
    if rows.cost is None:
        ends = rows.interval(aim.of, evidence.confidence, aim.n_draws)
        gains = [sign * (end - baseline.value) for end in ends]
    else:
        flagged = np.full(len(rows.flagged), bool(baseline.share))
        ends = rows.interval(aim.of, evidence.confidence, aim.n_draws, flagged)
        gains = [sign * end for end in ends]
    return min(gains), max(gains)


# --- The verdict ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Alarms:
    """Shares of all rows that are flagged, and rightly so, where decisions are made."""

    flagged: float
    hits: float

    @property
    def precision(self) -> float | None:
        """Share of alarms that are right; None without alarms."""
        return self.hits / self.flagged if self.flagged > 0 else None


def count_alarms(errors: tuple[float, ...], prevalence: float) -> Alarms:
    """Return the shares flagged at both error rates."""
    hits = prevalence * (1 - errors[1])
    return Alarms(hits + (1 - prevalence) * errors[0], hits)


@dataclass(frozen=True)
class ClassErrors:
    """How many rows of a class are decided wrongly, before and after."""

    share: float  # of clusters the average
    before: float | None  # at the model's own threshold; None if it is not known
    bound: float | None  # None unless certified
    wrong: int  # each row counted once
    n: int


@dataclass(frozen=True)
class Verdict:
    """What changes for both classes; only bounds are certified."""

    missed: ClassErrors
    flagged: ClassErrors
    alarms: Alarms
    alarms_before: Alarms | None


def reach_verdict(evidence: Evidence) -> Verdict:
    """Return what is missed and flagged, before and after."""
    own = evidence.own_errors
    return Verdict(
        missed=_errors_of_class(1, evidence),
        flagged=_errors_of_class(0, evidence),
        alarms=count_alarms(evidence.by_row.errors, evidence.prevalence),
        alarms_before=None if own is None else count_alarms(own, evidence.prevalence),
    )


def _errors_of_class(place: int, evidence: Evidence) -> ClassErrors:
    claimed = evidence.certificate
    before: tuple[float, ...] | None = evidence.own_errors
    if evidence.own_certificate is not None:
        before = evidence.own_certificate.errors
    return ClassErrors(
        share=claimed.errors[place],
        before=None if before is None else before[place],
        bound=claimed.error_bounds[place] if claimed.certified else None,
        wrong=evidence.by_row.wrong[place],
        n=evidence.by_row.n_samples[place],
    )


# --- Rows, shift, calibration ---------------------------------------------------------------------


@dataclass(frozen=True)
class RowCount:
    """What the smallest class can show at best, and what a goal that is reached would take."""

    place: int  # of the smallest class
    n: int
    least_bound: float  # without a single error
    needed: int  # in a test, for a bound of 5% without an error
    unproved: Floor | None = None  # reached here, and not shown
    needed_for_floor: int | None = None  # of its class; None if no number is known

    @property
    def is_enough(self) -> bool:
        """Whether an error rate of 5% could be shown."""
        return self.least_bound <= _CLAIM

    @property
    def is_very_few(self) -> bool:
        """Whether not even an error rate of 20% could be shown."""
        return self.least_bound > _VERY_FEW


def count_rows(
    certificate: Certificate, floors: Sequence[Floor], of_class: Sequence[str]
) -> RowCount:
    """Return what rows can show; `of_class` names the floors that concern one class."""
    counts = certificate.n_clusters or certificate.n_samples
    place = int(np.argmin(counts))
    n_bounds = sum(floor.shown is not None for floor in floors)
    parts = len(certificate.labels) if certificate.joint else max(n_bounds, 1)
    confidence = 1 - (1 - certificate.confidence) / parts
    needed = rows_needed(_CLAIM, confidence if certificate.joint else certificate.confidence)
    # A cap is used up, so no number of rows proves it.
    unproved = next(
        (f for f in floors if f.state == State.REACHED and f.shown and f.name != "flagged"), None
    )
    more = None
    if unproved is not None and unproved.name in of_class:
        with suppress(InvalidInputError):  # what is seen is too close to the goal
            more = rows_needed(1 - unproved.asked, confidence, wrong_share=1 - unproved.reached)
    return RowCount(
        place=place,
        n=counts[place],
        least_bound=certificate.lowest_bounds[place],
        needed=needed,
        unproved=unproved,
        needed_for_floor=more,
    )


def is_shift_uncertain(evidence: Evidence) -> bool:
    """Return whether the model's own threshold lies where ours may fall with other rows."""
    own = evidence.own_threshold
    if evidence.interval is None or own is None or own == evidence.boundary.threshold:
        return False
    low, high = evidence.interval
    return low <= own <= high


@dataclass(frozen=True)
class Calibration:
    """The model's own probabilities beside outcomes, in groups of about equal size."""

    mean: float
    share: float  # of positives
    n_groups: int
    n_off: int


def judge_calibration(evidence: Evidence) -> Calibration | None:
    """Count groups of rows in which probabilities do not come true."""
    if evidence.details.probability is None:
        return None
    probability: FloatArray = np.asarray(evidence.details.probability)
    is_positive: BoolArray = evidence.rows.is_positive
    n_groups = int(np.clip(len(probability) // _FEWEST_ROWS, 1, _MOST_GROUPS))
    n_off = 0
    for group in np.array_split(np.argsort(probability, kind="stable"), n_groups):
        band = error_band(is_positive[group].sum(), len(group), evidence.confidence)
        n_off += not band.low <= probability[group].mean() <= band.high
    return Calibration(float(probability.mean()), float(is_positive.mean()), n_groups, n_off)


# --- The diagnosis --------------------------------------------------------------------------------


class Advice(StrEnum):
    """What to do next. The first that applies is given."""

    TEST = "test"  # nothing is certified on these rows
    NO_METHOD = "no method"  # the search fell back
    REVERSE = "reverse"
    CHANCE = "chance"
    NO_MODEL = "no model"  # deciding without a model is better
    NOT_SHOWN = "not shown"
    ADD_ROWS = "add rows"  # of a class without any
    CHECK = "check"  # too good
    MISSED = "missed"
    OWN_THRESHOLD = "own threshold"
    OTHER_METHOD = "other method"
    WEAK = "weak"
    CARE = "care"
    USE = "use"


@dataclass(frozen=True)
class Diagnosis:
    """Strong and weak points as facts, and the advice that follows from them."""

    advice: Advice
    goal: Goal | None
    separation: Separation
    usefulness: Usefulness
    rows: RowCount
    is_shift_uncertain: bool
    calibration: Calibration | None
    doubts: tuple[Status, ...]  # about the choice of the threshold
    better_method: str | None


def diagnose(evidence: Evidence, better_method: str | None = None) -> Diagnosis:
    """Weigh the evidence; `better_method` names one that does better by the goal."""
    goal = judge_goal(evidence)
    separation = judge_separation(evidence)
    usefulness = judge_usefulness(evidence)
    floors = [] if goal is None else goal.floors
    of_class = () if evidence.is_clustered else OF_CLASS
    doubts = _doubts_of(evidence.boundary, separation)
    rows = count_rows(evidence.certificate, floors, of_class)
    advice = _advise(goal, separation, usefulness, rows, doubts, better_method)
    return Diagnosis(
        advice=advice,
        goal=goal,
        separation=separation,
        usefulness=usefulness,
        rows=rows,
        is_shift_uncertain=is_shift_uncertain(evidence),
        calibration=judge_calibration(evidence),
        doubts=doubts,
        better_method=better_method,
    )


OF_RANKING = (Status.REVERSED, Status.CHANCE)
"""What the rows that judge say of the scores instead, unless these separate the classes there."""


def _doubts_of(boundary: Boundary, separation: Separation) -> tuple[Status, ...]:
    """Return what was doubtful on the rows that decided.

    Whether scores are reversed or no better than chance is seen on the rows that judge.
    """
    loud = [status for status in boundary.statuses if status not in QUIET]
    if separation.ranking != Ranking.SEPARATES:
        loud = [status for status in loud if status not in OF_RANKING]
    return tuple(loud)


def _advise(
    goal: Goal | None,
    separation: Separation,
    usefulness: Usefulness,
    rows: RowCount,
    doubts: tuple[Status, ...],
    better_method: str | None,
) -> Advice:
    state = None if goal is None else goal.state
    is_shown = usefulness.proof == Proof.SHOWN
    cases = (
        (usefulness.proof == Proof.NOTHING, Advice.TEST),
        (not all(status.solved for status in doubts), Advice.NO_METHOD),
        (not is_shown and separation.ranking == Ranking.REVERSED, Advice.REVERSE),
        (not is_shown and separation.ranking == Ranking.CHANCE, Advice.CHANCE),
        (usefulness.proof == Proof.WORSE, Advice.NO_MODEL),
        (not is_shown, Advice.NOT_SHOWN),
        (separation.strength == Strength.PERFECT, Advice.CHECK),
        (state == State.MISSED, Advice.MISSED),
        (state == State.WORSE, Advice.OWN_THRESHOLD),
        (better_method is not None, Advice.OTHER_METHOD),
        (separation.strength == Strength.WEAK, Advice.WEAK),
        (separation.strength == Strength.FAIR, Advice.CARE),
        (rows.is_very_few or bool(doubts), Advice.CARE),
    )
    return next((advice for applies, advice in cases if applies), Advice.USE)
