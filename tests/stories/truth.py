"""Nine tables of scores on which advice could go wrong, and what a second program makes of each.

`Second` shares no code with the report: it counts rows, and computes areas, bounds and rates by
scikit-learn and SciPy. For each statement of a page it has the figures that may stand in it.
`contradictions` reads the structured facts of a page and returns every pair of statements that
cannot both be true. Neither depends on how a sentence is worded.

An interval by resampling is drawn with other rows than those of the report, so that its ends are
only near. The bounds of averages over clusters are those of `certify`, which has its own tests.
"""

import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.stats import beta, norm
from sklearn import metrics as sk

from boundshift import certify

DELTA = 0.05


def upper(wrong, n, delta=DELTA):
    return 1.0 if wrong >= n else float(beta.isf(delta, wrong + 1, n - wrong))


def percent(part, whole=1):
    """Return a share in percent: of counts exactly, ties to even."""
    exact = isinstance(part, int | np.integer) and isinstance(whole, int | np.integer)
    share = Fraction(int(part), int(whole)) if exact else part / whole
    return f"{round(1000 * share) / 10:.1f}%"


def most(bound):
    return f"{math.ceil(1000 * bound - 1e-9) / 10:.1f}%"


def least(bound):
    return f"{math.floor(1000 * bound + 1e-9) / 10:.1f}%"


def amount(value):
    return f"{abs(value):{',.0f' if abs(value) >= 1000 else '.4g'}}"


def rounded(value):
    """Return a value as a whole number; of a tie both neighbours."""
    return {f"{round(value - 1e-9):,}", f"{round(value + 1e-9):,}"}


def auc_interval(area, m, n):
    """Return the values whose score test, with the variance of Hanley and McNeil, keeps the area.

    Each pair of rows that share a row adds a covariance: with equal scores of both classes spread
    as exponentials, two positives outscore one negative with probability a / (2 - a), and one
    positive outscores two negatives with 2 a^2 / (1 + a).
    """
    grid = np.linspace(0, 1, 200_001)[1:-1]
    both = (m + n) / 2 - 1
    shared = grid / (2 - grid) - grid**2, 2 * grid**2 / (1 + grid) - grid**2
    spread = np.sqrt((grid * (1 - grid) + both * sum(shared)) / (m * n))
    kept = grid[np.abs(area - grid) <= norm.isf(DELTA / 2) * spread]
    return kept[0], kept[-1]


@dataclass
class Story:
    """Scores that choose a threshold, others that judge it, and options of the command."""

    name: str
    choose: tuple
    judge: tuple
    own: float | None = None
    cluster: np.ndarray | None = None
    floors: dict = field(default_factory=dict)
    costs: tuple | None = None  # of a false alarm and a miss


def draw(n_negative, n_positive, gap, seed, scale=1.0, centre=0.0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n_negative, n_positive])
    return y, np.round(centre + scale * rng.normal(gap * y), 6)


def visits(n_negative, n_positive, gap, seed):
    """Return patients with one to eight visits: those who come often are found more easily."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n_negative, n_positive])
    times = rng.integers(1, 9, len(y))
    own = rng.normal((gap * (0.4 + 0.2 * times)) * y)
    of = np.repeat(np.arange(len(y)), times)
    return y[of], np.round(own[of] + 0.2 * rng.normal(size=len(of)), 6), of


def make_stories():
    """Return the nine tables."""
    y, s, of = visits(300, 120, 2.0, 15)
    y_judge, s_judge, of_judge = visits(300, 120, 2.0, 16)
    probability = {"scale": 0.07, "centre": 0.4}
    return [
        Story("reversed", draw(1800, 200, -1.6, 1), draw(1800, 200, -1.6, 2), own=0.0),
        Story("noise", draw(3000, 1000, 0.0, 3), draw(3000, 1000, 0.0, 4), own=0.0),
        Story("weak", draw(9000, 1000, 0.45, 5), draw(9000, 1000, 0.45, 6), own=0.0),
        Story("perfect", draw(1800, 200, 14.0, 9), draw(1800, 200, 14.0, 10)),
        Story("clustered", (y, s, of), (y_judge, s_judge, of_judge + 1000), own=0.0,
              cluster=of_judge),
        Story("unknown", draw(1800, 200, 2.0, 11, 10, 50), draw(1800, 200, 2.0, 12, 10, 50)),
        Story("few", draw(60, 8, 1.5, 13, **probability), draw(60, 8, 1.5, 14, **probability),
              own=0.5),
        Story("missed", draw(1800, 200, 2.0, 17), draw(1800, 200, 1.2, 18), own=0.0,
              floors={"recall": 0.9}),
        Story("cost", draw(9000, 1000, 1.2, 19), draw(9000, 1000, 1.2, 20), own=0.0,
              costs=(1, 20)),
    ]  # fmt: skip


class Second:
    """What a second program makes of the rows that judge a threshold.

    `others` are thresholds of other methods, which are compared with ours.
    """

    def __init__(self, y, s, threshold, *, own=None, cluster=None, floors=(), costs=None,
                 probability=None, others=()):  # fmt: skip
        self.y = np.asarray(y).astype(int)
        self.s = np.asarray(s)
        self.threshold = threshold
        self.own = own
        self.cluster = cluster
        self.floors = dict(floors)
        self.costs = costs
        self.probability = probability
        self.others = list(others) or [own]
        self.n = int(np.sum(self.y == 0)), int(np.sum(self.y == 1))
        self.share = self.n[1] / sum(self.n)

    def wrong(self, threshold):
        flagged = self.s > threshold
        return int(np.sum(flagged & (self.y == 0))), int(np.sum(~flagged & (self.y == 1)))

    def errors(self, threshold):
        return tuple(k / n for k, n in zip(self.wrong(threshold), self.n, strict=True))

    def averages(self, threshold):
        """Return the error rate of each class; of clusters the mean of their shares."""
        if self.cluster is None:
            return self.errors(threshold)
        means = []
        for label in (0, 1):
            ids = self.cluster[self.y == label]
            is_wrong = (self.s > threshold)[self.y == label] != label
            means.append(np.mean([is_wrong[ids == one].mean() for one in np.unique(ids)]))
        return tuple(means)

    def certificate(self, threshold, **options):
        return certify(self.y == 1, self.s, threshold, cluster=self.cluster, **options)

    @property
    def joint_bounds(self):
        if self.cluster is not None:
            return self.certificate(self.threshold, joint=True).error_bounds
        wrong = self.wrong(self.threshold)
        return [upper(k, n, DELTA / 2) for k, n in zip(wrong, self.n, strict=True)]

    @property
    def area(self):
        return sk.roc_auc_score(self.y, self.s)

    @cached_property
    def area_interval(self):
        sizes = self.n
        if self.cluster is not None:
            sizes = []
            for label in (0, 1):
                _, times = np.unique(self.cluster[self.y == label], return_counts=True)
                sizes.append(times.sum() ** 2 / np.sum(times**2))
        return auc_interval(self.area, *sizes)

    @property
    def least_error(self):
        alarmed, found, _ = sk.roc_curve(self.y, self.s, drop_intermediate=False)
        return float(np.min(alarmed + 1 - found)) / 2

    def value_of(self, flagged, missed):
        """Return the goal's value of error rates: a negated cost, a recall or the G-mean."""
        if self.costs:
            alarm, miss = self.costs
            return -1000 * ((1 - self.share) * alarm * flagged + self.share * miss * missed)
        return 1 - missed if "flagged" in self.floors else np.sqrt((1 - flagged) * (1 - missed))

    def value(self, threshold):
        return float(self.value_of(*self.errors(threshold)))

    @property
    def without_model(self):
        if self.costs:
            return max(self.value_of(1, 0), self.value_of(0, 1))
        if "flagged" in self.floors:
            return max(self.floors["flagged"], np.mean(self.s > self.threshold))
        recall = self.floors.get("recall", 0.5)
        return float(np.sqrt(recall * (1 - recall)))

    @cached_property
    def gain(self):
        """Return an interval of the gain over no model, by redrawing rows of each class."""
        rng = np.random.default_rng(5)
        values = []
        flagged = self.s > self.threshold
        for _ in range(1000):
            kept = rng.poisson(1.0, len(self.y))
            u = kept[flagged & (self.y == 0)].sum() / max(kept[self.y == 0].sum(), 1)
            v = kept[~flagged & (self.y == 1)].sum() / max(kept[self.y == 1].sum(), 1)
            values.append(self.value_of(u, v) - self.without_model)
        return np.percentile(values, [2.5, 97.5])

    @property
    def proof(self):
        low, high = self.gain
        if high < 0:
            return "worse"
        return "shown" if low > 0 and sum(self.joint_bounds) < 1 else "not shown"

    @property
    def ranking(self):
        low, high = self.area_interval
        return "separates" if low > 0.5 else "reversed" if high < 0.5 else "chance"

    @property
    def goal_state(self):
        floor = self.floors.get("recall")
        if floor is None:
            return None
        bound = 1 - upper(self.wrong(self.threshold)[1], self.n[1])
        reached = 1 - self.errors(self.threshold)[1]
        return "met" if bound >= floor else "reached" if reached >= floor else "missed"

    @property
    def advice(self):
        """Return the advice that follows from the facts alone."""
        if self.proof != "shown":
            return {"reversed": "reverse", "chance": "chance"}.get(self.ranking, "not shown")
        if self.least_error <= 0.005:
            return "check"
        if self.goal_state == "missed":
            return "missed"
        if self.least_error > 0.3:
            return "weak"
        few = 1 - DELTA ** (1 / min(self.n)) > 0.2
        return "care" if few or self.least_error > 0.1 else "use"

    # --- Figures of each statement ----------------------------------------------------------------

    def figures_of(self, statement):
        """Return every figure that a statement may contain, by the key of the statement."""
        return getattr(self, f"{statement}_figures")() | {"95%", "100"}

    @property
    def _thresholds(self):
        return [self.threshold] if self.own is None else [self.threshold, self.own]

    def errors_figures(self):
        """What is missed and flagged, before and after, and both bounds."""
        bases = (100, 1000, 10_000)
        figures = {f"{base:,}" for base in bases}
        for threshold in self._thresholds:
            errors = self.averages(threshold)
            figures |= {text for base in bases for e in errors for text in rounded(base * e)}
            if self.cluster is not None:
                figures |= {percent(e) for e in (*errors, *self.errors(threshold))}
        if self.cluster is None:
            wrong = zip(self.wrong(self.threshold), self.n, strict=True)
            return figures | {most(upper(k, n)) for k, n in wrong}
        figures |= {most(bound) for bound in self.certificate(self.threshold).error_bounds}
        return figures | {f"{len(np.unique(self.cluster[self.y == i])):,}" for i in (0, 1)}

    def alarms_figures(self):
        """How many alarms are right, before and after."""
        rows = sum(self.n)
        figures = {"1,000", *rounded(1000 * self.share), f"{rows:,}"}
        if self.probability is not None:
            figures |= self._calibration
        for threshold in self._thresholds:
            flagged, missed = self.wrong(threshold)
            hits = self.n[1] - missed
            alarms = round(1000 * (hits + flagged) / rows)
            right = rounded(1000 * hits / rows)
            figures |= {f"{alarms:,}", f"{hits + flagged:,}", f"{hits:,}", *right}
            figures |= {f"{alarms - int(text.replace(',', '')):,}" for text in right}
            if hits + flagged:
                figures.add(percent(hits, hits + flagged))
                figures.add(f"{100 - round(100 * hits / (hits + flagged))}")
        return figures

    def note_figures(self):
        """Rows and clusters that judge."""
        clusters = 0 if self.cluster is None else len(np.unique(self.cluster))
        return {f"{sum(self.n):,}", f"{clusters:,}"}

    def separation_figures(self):
        """Pairs that are ranked rightly, and the least error of any threshold."""
        low, high = self.area_interval
        ends = {str(math.floor(100 * low)), str(math.ceil(100 * high))}
        return ends | {"50", f"{round(100 * self.area)}", percent(self.least_error)}

    def proof_figures(self):
        """The value reached, that without a model, and the sum of both bounds."""
        values = (self.value(self.threshold), self.without_model)
        if self.costs:
            texts = {amount(value) for value in values} | {"1,000"}
        elif "flagged" in self.floors:
            texts = {percent(value) for value in values}
        else:
            texts = {f"{value:.3f}" for value in values}
        return texts | {most(sum(self.joint_bounds)), "100%"}

    def goal_figures(self):
        """What was asked for, is reached and shown."""
        flagged, missed = self.wrong(self.threshold)
        n_flagged = flagged + self.n[1] - missed
        rows = sum(self.n)
        figures = {"1,000"}
        for name, asked in self.floors.items():
            wrong, n = (n_flagged, rows) if name == "flagged" else (missed, self.n[1])
            bound = upper(wrong, n)
            figures |= {f"{100 * asked:.4g}%", percent(wrong, n), percent(n - wrong, n)}
            figures |= {most(bound), least(1 - bound)}
            figures |= {f"{n_flagged:,}", f"{rows:,}", f"{int(asked * rows + 1e-9):,}"}
        if self.costs:
            figures |= {amount(self.value(t)) for t in self._thresholds}
            figures |= {str(cost) for cost in self.costs} | {percent(self.n[1], rows)}
            bounds = [
                upper(k, n, DELTA / 2) for k, n in ((flagged, self.n[0]), (missed, self.n[1]))
            ]
            top = -self.value_of(*bounds)
            digits = 10.0 ** (math.floor(math.log10(top)) - 3)
            figures.add(amount(math.ceil(top / digits - 1e-9) * digits))
        return figures

    def rows_figures(self):
        """What the smallest class can show, and how many rows would show the goal."""
        sizes = self.n
        bounds = [1 - DELTA ** (1 / n) for n in self.n]
        if self.cluster is not None:
            sizes = [len(np.unique(self.cluster[self.y == i])) for i in (0, 1)]
            bounds = self.certificate(self.threshold).lowest_bounds
        i = int(np.argmin(sizes))
        needed = next(n for n in range(1, 1000) if 1 - DELTA ** (1 / n) <= 0.05)
        figures = {f"{sizes[i]:,}", most(bounds[i]), f"{needed}", "5%"}
        if self.goal_state == "reached":
            figures |= self.goal_figures() | {f"{self._needed_for_recall():,}"}
        return figures

    def _needed_for_recall(self):
        """Return the fewest positives that would show the floor at the share that is missed."""
        n = self.n[1]
        missed = k = self.wrong(self.threshold)[1]
        most_missed = 1 - self.floors["recall"]
        while upper(k, math.floor(k * n / missed)) > most_missed:
            k += 1
        fewest = math.floor(k * n / missed)
        while upper(k, fewest - 1) <= most_missed:
            fewest -= 1
        return fewest

    @property
    def _calibration(self):
        order = np.argsort(self.probability, kind="stable")
        said = self.probability[order]
        true = self.y[order]
        count = min(max(len(said) // 20, 1), 10)
        off = 0
        for here in np.array_split(np.arange(len(said)), count):
            k = int(true[here].sum())
            low = 1 - upper(len(here) - k, len(here), DELTA / 2)
            off += not low <= said[here].mean() <= upper(k, len(here), DELTA / 2)
        return {percent(said.mean()), percent(self.n[1], sum(self.n)), str(off), str(count)}

    def calibration_figures(self):
        """The mean probability beside the share of positives, and the groups that are off."""
        return self._calibration

    def lead_figures(self):
        """How far ours is from the others."""
        figures = {f"{n:,}" for n in self.n}
        flagged, missed = self.wrong(self.threshold)
        reach = [t for t in self.others if self._keeps_floors(t)]
        figures |= {str(len(reach)), str(len(self.others)), "1,000"}
        values = [self.value(t) for t in (self.threshold, *self.others)]
        if self.costs:
            figures |= {amount(value) for value in values}
        elif "flagged" in self.floors:
            figures |= {percent(value) for value in values}
        else:
            figures |= {f"{value:.3f}" for value in values}
        for threshold in self.others:
            theirs = self.wrong(threshold)
            figures |= {f"{abs(theirs[0] - flagged):,}", f"{abs(theirs[1] - missed):,}"}
        return figures

    def _keeps_floors(self, threshold):
        flagged = np.mean(self.s > threshold)
        reached = {"recall": 1 - self.errors(threshold)[1], "flagged": -flagged}
        limits = {"recall": 1, "flagged": -1}
        return all(reached[name] >= limits[name] * asked for name, asked in self.floors.items())

    def status_figures(self):
        """The level of an interval alone."""
        return {"0.5"}

    def advice_figures(self):
        """The reason of an advice: any of the judgements."""
        keys = ("goal", "separation", "proof", "rows")
        return set().union(*(self.figures_of(key) for key in keys))


RANDOM = re.compile(r"The (difference|gain) lies between \S+ and \S+ \(95%, by resampling\)")


def figures_in(text):
    """Return the figures of a text, without intervals by resampling."""
    return set(re.findall(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?%?", RANDOM.sub(" ", text)))


def statements(facts):
    """Yield every statement of a page, with the key of the second computation of its figures."""
    verdict = facts["verdict"]
    yield from zip(("errors", "alarms"), verdict["sentences"], strict=True)
    yield "note", verdict["note"]
    yield "advice", facts["diagnosis"]["next"]
    if facts["goal"]:
        yield "goal", facts["goal"]["sentence"]
    if facts["comparison"]["lead"]:
        yield "lead", facts["comparison"]["lead"]
    for finding in facts["diagnosis"]["findings"]:
        if finding["key"] != "stability":  # whose interval is random
            yield finding["key"], f"{finding['title']}. {finding['text']} {finding['advice']}"


def unexplained(facts, second):
    """Return the figures of a page that the second computation does not have."""
    told = {}
    for key, text in statements(facts):
        left = figures_in(text) - second.figures_of(key)
        if left:
            told[text] = left
    return told


def contradictions(facts):
    """Return every pair of statements on a page that cannot both be true."""
    judgement = facts["judgement"]
    diagnosis = facts["diagnosis"]
    goal = facts["goal"]
    findings = {finding["key"]: finding for finding in diagnosis["findings"]}
    advice = judgement["advice"]
    proof = judgement["usefulness"]["proof"]
    ranking = judgement["separation"]["ranking"]
    certificate = facts["certificate"]
    verdict = facts["verdict"]
    is_used = advice in ("use", "care", "weak")
    state = None if goal is None else goal["state"]
    pieces = [part for bullet in verdict["bullets"] for part in bullet]
    pieces += [] if goal is None else goal["parts"]
    is_nominal = verdict["status"] == "nominal"
    is_shown = proof == "shown"
    proof_level = findings["proof"]["level"] if "proof" in findings else None
    own = facts["old"]["threshold"]
    rates = (judgement["flagged"], judgement["missed"])
    wrong = {
        "used, and not shown to be useful": is_used and not is_shown,
        "used, and reversed": is_used and ranking == "reversed",
        "used, and nothing is certified": is_used and is_nominal,
        "used, and the goal is missed": is_used and state == "missed",
        "used, and worse than the own threshold": is_used and state == "worse",
        "praised, and too good": advice == "use"
        and judgement["separation"]["strength"] == "perfect",
        "a proof of another colour": proof_level
        != {"shown": "good", "nothing is certified": None}.get(proof, "bad"),
        "reversed, and not called so": (ranking == "reversed")
        != (findings["separation"]["title"] == "The scores are reversed"),
        "bad scores, and a useful decision": findings["separation"]["level"] == "bad"
        and is_shown
        and ranking != "reversed",
        "the colour is not that of the advice": (diagnosis["level"] == "good") != (advice == "use"),
        "nothing is certified, and a bound is": is_nominal
        and any(piece["status"] == "certified" for piece in pieces),
        "nothing is certified, and something is good": is_nominal
        and "good" in {finding["level"] for finding in diagnosis["findings"]},
        "rates are not those of the counts": certificate["errors"]
        != [k / n for k, n in zip(certificate["wrong"], facts["n"], strict=True)],
        "rows that are wrong are not those counted": [rate["wrong"] for rate in rates]
        != certificate["wrong"],
        "the share that is wrong is another one": facts["clusters"] is None
        and [rate["share"] for rate in rates] != certificate["errors"],
        "the slider counts otherwise": [
            counts[facts["stops"]["marks"]["shifted"]] for counts in facts["stops"]["wrong"]
        ]
        != certificate["wrong"],
        "an own threshold that is not known": own is None
        and ("old" in facts["stops"]["marks"] or judgement["missed"]["before"] is not None),
        "met, and the bound is below": goal is not None
        and any(
            floor["state"] == "met"
            and not floor["is_guaranteed"]
            and floor["shown"] < floor["asked"]
            for floor in goal["floors"]
        ),
    }
    return [pair for pair, holds in wrong.items() if holds]
