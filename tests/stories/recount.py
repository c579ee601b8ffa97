"""A second program: what a report must say first, from the files alone.

It knows the table, the scores that `boundshift predict` wrote, and the threshold in boundary.json.
Three rows in ten of each class judge, by scikit-learn's split; bounds are quantiles of SciPy's beta
distribution. It shares no code with the package.
"""

import csv
import json
import math
from pathlib import Path

import numpy as np
from scipy.stats import beta
from sklearn.model_selection import train_test_split


def read_column(path, name, separator=","):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return np.array([row[name] for row in csv.DictReader(file, delimiter=separator)])


def upper(wrong, n, delta):
    return 1.0 if wrong >= n else float(beta.isf(delta, wrong + 1, n - wrong))


class Judged:
    """Labels, scores and thresholds of the rows that judge."""

    def __init__(self, table, scores, folder, target, positive, separator=","):
        labels = read_column(table, target, separator)
        known = labels != ""
        y = (labels == positive)[known]
        s = read_column(scores, "score").astype(float)[known]
        _, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)
        self.y, self.s = y[test], s[test]
        boundary = json.loads((Path(folder) / "boundary.json").read_text(encoding="utf-8"))
        self.threshold = boundary["threshold"]
        self.n = int(np.sum(~self.y)), int(np.sum(self.y))
        self.share = self.n[1] / sum(self.n)

    def wrong(self, threshold):
        flagged = self.s > threshold
        return int(np.sum(flagged & ~self.y)), int(np.sum(~flagged & self.y))

    def verdict(self, positives, unit):
        """Return the two sentences of a verdict."""
        (flagged, missed), (flagged_before, missed_before) = map(self.wrong, (self.threshold, 0.0))
        n = self.n[1]
        base = 100
        while any(0 < k / n * base < 0.95 for k in (missed, missed_before)):
            base *= 10
        change = f"instead of {round(base * missed_before / n)}"
        if round(base * missed / n) == round(base * missed_before / n):
            change = "as before"
        most = math.ceil(1000 * upper(missed, n, 0.05)) / 10
        rows = sum(self.n)
        hits, hits_before = n - missed, n - missed_before
        alarms = round(1000 * (hits + flagged) / rows)
        alarms_before = round(1000 * (hits_before + flagged_before) / rows)
        right = round(1000 * hits / rows)
        return (
            f"Of {base:,} {positives} the shifted model is expected to miss "
            f"{round(base * missed / n)} {change}, in the long run at most {most:.1f}% with 95% "
            f"confidence. Of 1,000 {unit}, with {round(1000 * self.share)} {positives} among them, "
            f"it flags {alarms} instead of {alarms_before}: {right} hits and {alarms - right} "
            f"false alarms, a precision of {100 * hits / (hits + flagged):.1f}% instead of "
            f"{100 * hits_before / (hits_before + flagged_before):.1f}%."
        )

    def recall_goal(self, floor, positives):
        """Return the sentence of a recall floor."""
        missed, n = self.wrong(self.threshold)[1], self.n[1]
        found = f"{100 * (n - missed) / n:.1f}% on the test rows"
        low = math.floor(1000 * (1 - upper(missed, n, 0.05))) / 10
        wish = f"Goal: find at least {100 * floor:g}% of {positives}."
        claim = f"in the long run at least {low:.1f}% with 95% confidence"
        if low >= 100 * floor:
            return f"{wish} Met: {found}; {claim}, {low - 100 * floor:.1f} points above the goal."
        word, side = "Missed", "below"
        if (n - missed) / n >= floor:
            word, side = "Reached, not proved", "above"
        points = abs(math.floor(1000 * (n - missed) / n) / 10 - 100 * floor)
        return f"{wish} {word}: {found}, {points:.1f} points {side} the goal; {claim}."

    def cost_goal(self, alarm, miss):
        """Return the beginning of the sentence of a cost: what is wished, spent and bounded."""
        spent = []
        for t in (self.threshold, 0.0):
            flagged, missed = self.wrong(t)
            spent.append(1000 * (alarm * flagged + miss * missed) / sum(self.n))
        flagged, missed = self.wrong(self.threshold)
        most = 1000 * (
            alarm * (1 - self.share) * upper(flagged, self.n[0], 0.05 / 3)
            + miss * self.share * upper(missed, self.n[1], 0.05 / 3)
        )
        digits = 10.0 ** (math.floor(math.log10(most)) - 3)
        most = math.ceil(most / digits) * digits
        less = 100 * abs(spent[1] - spent[0]) / spent[1]
        word = "Met" if self._cheaper(alarm, miss) else "Not proved"
        return (
            f"Goal: the least cost, where a miss costs {miss} and a false alarm {alarm}. {word}: "
            f"1,000 decisions cost {amount(spent[0])} instead of {amount(spent[1])}, {less:.1f}% "
            f"{'less' if spent[0] < spent[1] else 'more'}, in the long run at most {amount(most)} "
            "with 95% confidence."
        )

    def _cheaper(self, alarm, miss):
        """Return whether the rows that both decide otherwise show a lower cost."""
        now, before = (self.s > t for t in (self.threshold, 0.0))
        bound = 0.0
        for of_class, weight in ((~self.y, alarm * (1 - self.share)), (self.y, miss * self.share)):
            wrong_now, wrong_before = (made[of_class] != self.y[of_class] for made in (now, before))
            n = int(of_class.sum())
            broken = upper(int(np.sum(wrong_now & ~wrong_before)), n, 0.05 / 8)
            mended = int(np.sum(wrong_before & ~wrong_now))
            bound += weight * (broken - (1 - upper(n - mended, n, 0.05 / 8)))
        return bound < 0


def amount(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
