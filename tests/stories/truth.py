"""Ten tables on which advice could go wrong, and what a second program makes of each.

`Second` shares no code with the report: it counts rows, and computes areas, bounds and rates by
scikit-learn and SciPy. `contradictions` reads the structured facts of a page and returns every pair
of statements that cannot both be true. Neither depends on how a sentence is worded.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import gammaln
from scipy.stats import beta
from sklearn import metrics as sk

from boundshift import certify
from tests.stories.recount import DELTA, auc_interval, most, percent, upper


@dataclass
class Story:
    """Scores that choose a threshold, others that judge it, and options of the command."""

    name: str
    choose: tuple
    judge: tuple
    options: list = field(default_factory=list)
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
    """Return the ten tables. The leaking one has claims whose amount is among the columns."""
    y, s, of = visits(300, 120, 2.0, 15)
    y_judge, s_judge, of_judge = visits(300, 120, 2.0, 16)
    probability = {"scale": 0.07, "centre": 0.4}
    return [
        Story("reversed", draw(1800, 200, -1.6, 1), draw(1800, 200, -1.6, 2), own=0.0),
        Story("noise", draw(3000, 1000, 0.0, 3), draw(3000, 1000, 0.0, 4), own=0.0),
        Story("weak", draw(9000, 1000, 0.45, 5), draw(9000, 1000, 0.45, 6), own=0.0),
        Story("leaking", draw(1800, 200, 0.0, 7), draw(1800, 200, 0.0, 8), own=0.5),
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
    """What a second program makes of the rows that judge a threshold."""

    def __init__(self, story, threshold):
        self.story = story
        self.threshold = threshold
        self.y, self.s = (np.asarray(part) for part in story.judge[:2])
        self.n = int(np.sum(self.y == 0)), int(np.sum(self.y == 1))
        self.share = self.n[1] / sum(self.n)

    def wrong(self, threshold):
        flagged = self.s > threshold
        return int(np.sum(flagged & (self.y == 0))), int(np.sum(~flagged & (self.y == 1)))

    def errors(self, threshold):
        return tuple(k / n for k, n in zip(self.wrong(threshold), self.n, strict=True))

    @property
    def averages(self):
        if self.story.cluster is None:
            return self.errors(self.threshold)
        means = []
        for label in (0, 1):
            ids = self.story.cluster[self.y == label]
            is_wrong = (self.s > self.threshold)[self.y == label] != label
            means.append(np.mean([is_wrong[ids == one].mean() for one in np.unique(ids)]))
        return tuple(means)

    @property
    def joint_bounds(self):
        if self.story.cluster is not None:
            return certify(
                self.y == 1, self.s, self.threshold, joint=True, cluster=self.story.cluster
            ).error_bounds
        wrong = self.wrong(self.threshold)
        return [upper(k, n, DELTA / 2) for k, n in zip(wrong, self.n, strict=True)]

    @property
    def area(self):
        return sk.roc_auc_score(self.y, self.s)

    @cached_property
    def area_interval(self):
        sizes = self.n
        if self.story.cluster is not None:
            sizes = []
            for label in (0, 1):
                _, times = np.unique(self.story.cluster[self.y == label], return_counts=True)
                sizes.append(times.sum() ** 2 / np.sum(times**2))
        return auc_interval(self.area, *sizes)

    @property
    def least_error(self):
        alarmed, found, _ = sk.roc_curve(self.y, self.s, drop_intermediate=False)
        return float(np.min(alarmed + 1 - found)) / 2

    def value(self, threshold):
        """Return the goal's value: a cost, to be small, or the G-mean."""
        flagged, missed = self.errors(threshold)
        if self.story.costs:
            alarm, miss = self.story.costs
            return -1000 * ((1 - self.share) * alarm * flagged + self.share * miss * missed)
        return float(np.sqrt((1 - flagged) * (1 - missed)))

    @property
    def without_model(self):
        if self.story.costs:
            alarm, miss = self.story.costs
            return -1000 * min((1 - self.share) * alarm, self.share * miss)
        recall = self.story.floors.get("recall", 0.5)
        return float(np.sqrt(recall * (1 - recall)))

    @cached_property
    def gain(self):
        """Return an interval of the gain over no model, by redrawing rows of each class."""
        rng = np.random.default_rng(5)
        values = []
        for _ in range(1000):
            kept = rng.poisson(1.0, len(self.y))
            flagged = self.s > self.threshold
            u = kept[flagged & (self.y == 0)].sum() / max(kept[self.y == 0].sum(), 1)
            v = kept[~flagged & (self.y == 1)].sum() / max(kept[self.y == 1].sum(), 1)
            if self.story.costs:
                alarm, miss = self.story.costs
                value = -1000 * ((1 - self.share) * alarm * u + self.share * miss * v)
            else:
                value = np.sqrt((1 - u) * (1 - v))
            values.append(value - self.without_model)
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
        floor = self.story.floors.get("recall")
        if floor is None:
            return None
        bound = 1 - upper(self.wrong(self.threshold)[1], self.n[1], DELTA)
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

    def figures(self):
        """Return every figure that the statements at the top of a page may contain."""
        figures = set()
        for threshold in {self.threshold, *([] if self.story.own is None else [self.story.own])}:
            flagged, missed = self.wrong(threshold)
            hits = self.n[1] - missed
            figures |= {f"{k:,}" for k in (flagged, missed, hits, hits + flagged, *self.n)}
            for base in (100, 1000, 10_000):
                shares = (missed / self.n[1], (hits + flagged) / sum(self.n), self.share)
                figures |= {f"{count:,}" for share in shares for count in rounded(base * share)}
                right = rounded(base * hits / sum(self.n))
                alarms = rounded(base * (hits + flagged) / sum(self.n))
                figures |= {f"{count:,}" for count in right} | {f"{base:,}"}
                figures |= {f"{a - b:,}" for a in alarms for b in right}
            figures |= {percent(missed, self.n[1]), percent(self.n[1] - missed, self.n[1])}
            if hits + flagged:
                figures.add(percent(hits, hits + flagged))
            figures |= {f"{abs(self.value(threshold)):.3f}", f"{abs(self.value(threshold)):,.4g}"}
            bounds = [upper(k, n, DELTA) for k, n in zip((flagged, missed), self.n, strict=True)]
            figures |= {most(bound) for bound in bounds}
            figures |= {f"{np.floor(1000 * (1 - bound)) / 10:.1f}%" for bound in bounds}
        flagged, missed = self.wrong(self.threshold)
        figures |= {str(next_limit(missed, self.n[1])), str(next_limit(flagged, self.n[0]))}
        figures |= {f"{abs(self.without_model):.3f}", f"{abs(self.without_model):,.4g}"}
        figures |= {percent(self.least_error), f"{round(100 * self.area)}"}
        low, high = self.area_interval
        figures |= {str(int(np.floor(100 * low))), str(int(np.ceil(100 * high)))}
        figures |= {f"{100 * floor:g}%" for floor in self.story.floors.values()}
        if self.story.costs:
            figures |= {str(cost) for cost in self.story.costs} | {percent(self.n[1], sum(self.n))}
            prices = np.array([1 - self.share, self.share]) * self.story.costs
            bounds = beta.isf(DELTA / 2, np.array(self.wrong(self.threshold)) + 1,
                              np.array(self.n) - self.wrong(self.threshold))  # fmt: skip
            top = 1000 * float(prices @ bounds)
            figures.add(f"{np.ceil(10 * top) / 10:,.4g}")
        if self.story.cluster is not None:
            figures |= self._cluster_figures()
        return figures | {"95%", "100", "50", "1,000", f"{sum(self.n):,}"}

    def _cluster_figures(self):
        ids = self.story.cluster
        figures = {f"{len(np.unique(ids[self.y == label])):,}" for label in (0, 1)}
        figures.add(f"{len(np.unique(ids)):,}")
        for threshold in (self.threshold, self.story.own):
            found = certify(self.y == 1, self.s, threshold, cluster=ids)
            figures |= {most(bound) for bound in found.error_bounds}
            is_wrong = (self.s > threshold) != (self.y == 1)
            for label in (0, 1):
                mine = ids[self.y == label]
                wrong = is_wrong[self.y == label]
                figures.add(
                    percent(np.mean([wrong[mine == one].mean() for one in np.unique(mine)]))
                )
        return figures


def next_limit(wrong, n, m=100):
    """Return the most wrong rows among m more, by hypergeometric sums in logarithms."""

    def log_ways(total, part):
        return gammaln(total + 1) - gammaln(part + 1) - gammaln(total - part + 1)

    limit = 0
    for more in range(1, m + 1):
        first = np.arange(max(0, wrong + more - m), wrong + 1)
        ways = log_ways(n, first) + log_ways(m, wrong + more - first)
        if np.exp(ways - log_ways(n + m, wrong + more)).sum() > DELTA:
            limit = more
    return limit


def rounded(value):
    """Return a value as a whole number; of a tie both neighbours."""
    return {round(value - 1e-9), round(value + 1e-9)}


RANDOM = re.compile(r"The (difference|gain) lies between \S+ and \S+ \(95%, by resampling\)")


def figures_in(text):
    """Return the figures of a text, without intervals by resampling."""
    return set(re.findall(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?%?", RANDOM.sub(" ", text)))


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
    pieces = [*verdict["parts"], *([] if goal is None else goal["parts"])]
    is_nominal = verdict["status"] == "nominal"
    own = facts["old"]["threshold"]
    wrong = {
        "used, and not shown to be useful": is_used and not proof.startswith("shown"),
        "used, and reversed": is_used and ranking == "reversed",
        "used, and nothing is certified": is_used and is_nominal,
        "used, and the goal is missed": is_used and state == "missed",
        "used, and worse than the own threshold": is_used and state == "worse",
        "praised, and too good": advice == "use"
        and judgement["separation"]["strength"] == "perfect",
        "not shown, and a good proof": not proof.startswith("shown")
        and findings["proof"]["level"] == "good",
        "shown, and a bad proof": proof.startswith("shown") and findings["proof"]["level"] == "bad",
        "reversed, and not called so": (ranking == "reversed")
        != (findings["separation"]["title"] == "The scores are reversed"),
        "bad scores, and a useful decision": findings["separation"]["level"] == "bad"
        and proof.startswith("shown")
        and ranking != "reversed",
        "enough rows, and more are wanted": judgement["asks_for_rows"]
        and findings.get("rows", {}).get("level") == "good",
        "the colour is not that of the advice": (diagnosis["level"] == "good") != (advice == "use"),
        "nothing is certified, and a bound is": is_nominal
        and any(piece["status"] == "certified" for piece in pieces),
        "nothing is certified, and something is good": is_nominal
        and "good" in {finding["level"] for finding in diagnosis["findings"]},
        "rates are not those of the counts": certificate["errors"]
        != [k / n for k, n in zip(certificate["wrong"], facts["n"], strict=True)],
        "rows missed are not those counted": judgement["missed_rows"]
        != [certificate["wrong"][1], facts["n"][1]],
        "the share missed is another one": facts["clusters"] is None
        and judgement["missed"] != certificate["errors"][1],
        "the slider counts otherwise": [
            counts[facts["stops"]["marks"]["shifted"]] for counts in facts["stops"]["wrong"]
        ]
        != certificate["wrong"],
        "an own threshold that is not known": own is None
        and ("old" in facts["stops"]["marks"] or judgement["missed_before"] is not None),
        "met, and the bound is below": goal is not None
        and any(
            floor["state"] == "met"
            and not floor["is_guaranteed"]
            and floor["shown"] < floor["asked"]
            for floor in goal["floors"]
        ),
    }
    return [pair for pair, holds in wrong.items() if holds]
