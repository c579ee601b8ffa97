"""A second program: every figure of a report and of the terminal, from the files alone.

It knows the table, what `boundshift predict` wrote, boundary.json and comparison.csv. Three rows in
ten of each class judge, by scikit-learn's split, copies beside the row that they copy; bounds are
quantiles of SciPy's beta distribution. It shares no code with the package. `explain` takes away
from a page what was recomputed; no figure may be left.

Two intervals by resampling cannot be recomputed from these files. The interval of the threshold
rests on out-of-fold scores of the training rows, which a fit does not write. The interval of a
difference of metrics is a bootstrap: another program draws other rows and ends in other figures.
Their coverage is tested in tests/guarantees/test_interval.py and tests/report.
"""

import csv
import html
import io
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import openpyxl
from scipy.stats import beta, norm
from sklearn import metrics as sk
from sklearn.model_selection import train_test_split

DELTA = 0.05
GAPS = ("", "NA")


def read_column(path, name, separator=","):
    raw = Path(path).read_bytes()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("cp1252")
    lines = io.StringIO(text, newline="")
    return np.array([row[name] for row in csv.DictReader(lines, delimiter=separator)])


def sheet_as_csv(path, sheet, first_row, out):
    """Write the cells of an Excel sheet, from a row on, as CSV."""
    cells = openpyxl.load_workbook(path)[sheet].iter_rows(min_row=first_row, values_only=True)
    with Path(out).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(cells)


def upper(wrong, n, delta):
    return 1.0 if wrong >= n else float(beta.isf(delta, wrong + 1, n - wrong))


def next_wrong(wrong, n, m=100):
    """Return the most wrong rows among m more, by exact hypergeometric sums of whole numbers."""

    def chance(more):
        among = range(max(0, wrong + more - m), wrong + 1)
        ways = sum(math.comb(n, i) * math.comb(m, wrong + more - i) for i in among)
        return Fraction(ways, math.comb(n + m, wrong + more))

    return max((more for more in range(m + 1) if chance(more) > DELTA), default=0)


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


def percent(part, whole=1):
    """Return a share in percent: of counts exactly, ties to even."""
    exact = isinstance(part, int | np.integer) and isinstance(whole, int | np.integer)
    share = Fraction(int(part), int(whole)) if exact else part / whole
    return f"{round(1000 * share) / 10:.1f}%"


def most(bound):
    return f"{math.ceil(1000 * bound - 1e-9) / 10:.1f}%"


def least(bound):
    return f"{math.floor(1000 * bound + 1e-9) / 10:.1f}%"


def number(value):
    return f"{value:.3f}".replace("-", "−")


def amount(value):
    return f"{value:{',.0f' if abs(value) >= 1000 else '.4g'}}".replace("-", "−")


def short(value):
    return f"{value:.4g}".replace("-", "−")


class Judged:
    """Labels, scores and thresholds of the rows that judge, and what a page must say of them."""

    def __init__(self, table, scores, folder, target, positive, separator=",", *, features=(),
                 ignore=()):  # fmt: skip
        self.table = table
        self.separator = separator
        self.folder = Path(folder)
        labels = read_column(table, target, separator)
        self.known = (labels != "") & ~np.isin(labels, ignore)
        y = (labels == positive)[self.known]
        s = read_column(scores, "score").astype(float)[self.known]
        self.first, self.copied = self._first_of(features, y)
        drawn = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)[1]
        test = np.isin(self.first, drawn)
        self.test = test
        self.y = y[test]
        self.s = s[test]
        self.training = y[~test], s[~test]
        self.probability = read_column(scores, "probability").astype(float)[self.known][test]
        self.boundary = json.loads((self.folder / "boundary.json").read_text(encoding="utf-8"))
        self.threshold = self.boundary["threshold"]
        # The model's own threshold: a probability of one half, or log-odds of 0.
        self.own = 0.5 if s.min() >= 0 and s.max() <= 1 else 0.0
        self.n = int(np.sum(~self.y)), int(np.sum(self.y))
        self.among = self.n[1], sum(self.n)
        self.share = self.n[1] / sum(self.n)

    def _first_of(self, features, y):
        """Return the first row with each row's features, and how many rows are copies."""
        rows = np.arange(len(y))
        cells = [self.column(name)[self.known] for name in features]
        seen = {}
        groups = {}
        for row, key in enumerate(zip(*cells, strict=True)):
            seen.setdefault(key, row)
            groups.setdefault(key, []).append(y[row])
        mixed = sum(len(g) for g in groups.values() if len(set(g)) == 2)
        alike = sum(len(g) for g in groups.values() if len(g) > 1 and len(set(g)) == 1)
        if not features or mixed > alike:
            return rows, 0
        first = np.array([seen[key] for key in zip(*cells, strict=True)])
        return first, int(np.sum(first != rows))

    def column(self, name):
        return read_column(self.table, name, self.separator)

    def wrong(self, threshold):
        flagged = self.s > threshold
        return int(np.sum(flagged & ~self.y)), int(np.sum(~flagged & self.y))

    def verdict(self, positives, negatives, unit):
        """Return the sentences of a verdict."""
        (flagged, missed), (flagged_before, missed_before) = map(
            self.wrong, (self.threshold, self.own)
        )
        n = self.n[1]
        base = 100
        while any(0 < k / n * base < 0.95 for k in (missed, missed_before)):
            base *= 10
        change = f" (the model's own threshold: {round(base * missed_before / n):,})"
        if round(base * missed / n) == round(base * missed_before / n):
            change = ", as the model's own threshold does"
        rows = sum(self.n)
        hits = n - missed
        hits_before = n - missed_before
        alarms = round(1000 * (hits + flagged) / rows)
        alarms_before = round(1000 * (hits_before + flagged_before) / rows)
        right = round(1000 * hits / rows)
        now, before = (
            percent(a, a + b) for a, b in ((hits, flagged), (hits_before, flagged_before))
        )
        own = f"The model's own threshold flags {alarms_before:,}, with a precision of {before}."
        if alarms == alarms_before and now == before:
            own = "The model's own threshold flags as many."
        elif hits_before + flagged_before < 20:
            own = (
                f"The model's own threshold flags {hits_before + flagged_before} of the {rows:,} "
                f"test rows, {hits_before} rightly."
            )
        return (
            f"Out of {base:,} {positives}, the new threshold misses about "
            f"{round(base * missed / n)}{change}, in the long run at most "
            f"{most(upper(missed, n, DELTA))} with 95% confidence. Out of 1,000 {unit}, "
            f"{round(1000 * self.share)} of them {positives}, it flags {alarms}: {right} rightly "
            f"and {alarms - right} wrongly, a precision of {now}. {own} Of the next 100 "
            f"{positives}, at most {next_wrong(missed, n)} will be missed, and of the next 100 "
            f"{negatives}, at most {next_wrong(flagged, self.n[0])} will be flagged, each with 95% "
            "confidence."
        )

    def floor_goal(self, wish, floor, right, n):
        """Return the sentences of one floor on the share of a class that is decided rightly."""
        low = least(1 - upper(n - right, n, DELTA))
        found = f"{percent(right, n)} on the test rows"
        claim = f"in the long run at least {low} with 95% confidence"
        shown = 1 - upper(n - right, n, DELTA) >= floor
        word = "Met" if shown else "Not proved" if right / n >= floor else "Missed"
        return f"Goal: {wish}. {word}: {found}; {claim}."

    def recall_goal(self, floor, positives):
        wish = f"find at least {100 * floor:g}% of {positives} (recall)"
        return self.floor_goal(wish, floor, self.n[1] - self.wrong(self.threshold)[1], self.n[1])

    def cost_goal(self, alarm, miss, positives):
        """Return the sentences of a cost: what is wished, spent and bounded."""
        prices = (alarm * (1 - self.share), miss * self.share)
        wrong = [self.wrong(t) for t in (self.threshold, self.own)]
        spent = [1000 * (alarm * u + miss * v) / sum(self.n) for u, v in wrong]
        top = 1000 * sum(
            price * upper(k, n, DELTA / 2)
            for price, k, n in zip(prices, wrong[0], self.n, strict=True)
        )
        digits = 10.0 ** (math.floor(math.log10(top)) - 3)
        top = math.ceil(top / digits) * digits
        lower = spent[0] < spent[1]
        return (
            f"Goal: the least cost, where a miss costs {miss} and a false alarm {alarm}. "
            f"{'Lower' if lower else 'Higher'} cost: 1,000 decisions cost {amount(spent[0])} "
            f"on the test rows instead of {amount(spent[1])} at the model's own threshold; "
            f"in the long run, where {percent(*self.among)} are "
            f"{positives}, at most {amount(top)} with 95% confidence."
        )

    def findings(self, positives, negatives):
        """Return the sentences below the slider."""
        flagged, missed = self.wrong(self.threshold)
        area = sk.roc_auc_score(self.y, self.s)
        low, high = auc_interval(area, *self.n)
        interval = f"(95% interval: {math.floor(100 * low)} to {math.ceil(100 * high)})"
        yield f"in {round(100 * area)} of 100 such pairs"
        yield f"the first the higher score {interval}"
        yield f"It ranks {round(100 * area)} of 100 pairs"
        yield f"it ranks {round(100 * area)} of 100 pairs"
        yield f"one row of each class rightly {interval}; chance ranks 50"
        yield "By chance it would in 50"
        alarmed, found, _ = sk.roc_curve(self.y, self.s, drop_intermediate=False)
        best = float(np.min(alarmed + 1 - found)) / 2
        yield f"No threshold does better than {percent(best)} errors"
        both = upper(flagged, self.n[0], DELTA / 2) + upper(missed, self.n[1], DELTA / 2)
        yield (
            "With 95% confidence, the shares of each class decided wrongly add up to at most "
            f"{most(both)} in the long run. By chance they add up to 100%"
        )
        right = (self.n[1] - missed) / (self.n[1] - missed + flagged)
        base = 100 if right >= 0.0095 else 1000
        yield f"Of {base:,} alarms about {base - round(base * right):,} are false"
        i = int(np.argmin(self.n))
        floor = 1 - DELTA ** (1 / self.n[i])
        yield f"With {self.n[i]:,} {(negatives, positives)[i]}, no error rate below {most(floor)}"
        needed = next(n for n in range(1, 1000) if 1 - DELTA ** (1 / n) <= 0.05)
        yield f"For a claim of at most 5%, collect {needed} or more"
        yield f"There are enough {(negatives, positives)[i]} to show an error rate of 5%"

    def g_mean_alone(self, recall=0.5):
        """Return the G-mean beside the best one of flagging at random, which keeps a recall."""
        flagged, missed = self.wrong(self.threshold)
        value = math.sqrt((1 - flagged / self.n[0]) * (1 - missed / self.n[1]))
        best = number(math.sqrt(recall * (1 - recall)))
        return f"G-mean is {number(value)} on these rows; chance alone would reach {best}."

    def cost_alone(self, alarm, miss):
        """Return the cost beside that of flagging nobody or everyone."""
        flagged, missed = self.wrong(self.threshold)
        spent, everyone, nobody = (
            1000 * cost / sum(self.n)
            for cost in (alarm * flagged + miss * missed, alarm * self.n[0], miss * self.n[1])
        )
        best = "everyone" if everyone < nobody else "nobody"
        return (
            f"1,000 decisions cost {amount(spent)} on these rows; flagging {best} would cost "
            f"{amount(min(everyone, nobody))}."
        )

    def unproved(self, floor, positives):
        """Return what is said of rows that do not prove the floor on recall that they reach."""
        n = self.n[1]
        missed = self.wrong(self.threshold)[1]
        bound = upper(missed, n, DELTA)
        if missed / n <= 1 - floor < bound:
            k = missed
            while upper(k, fewest := math.floor(k * n / missed), DELTA) > 1 - floor:
                k += 1
            while upper(k, fewest - 1, DELTA) <= 1 - floor:
                fewest -= 1
            yield f"What is seen, {percent(n - missed, n)}, keeps the goal of {100 * floor:g}%"
            yield f"its bound, {least(1 - bound)}, does not"
            yield f"At this rate {fewest:,} {positives} in a test would prove it"

    def held_out(self):
        """Return how many rows a floor keeps out of training."""
        kept = sum(self.boundary["n_samples"])
        rows = len(self.training[0])
        return f"{kept:,} of {rows:,} rows were held out of training to choose it."

    def tiles(self, positives, negatives, unit):
        """Return the tiles, the table of rows and the legends at the shifted boundary."""
        flagged, missed = self.wrong(self.threshold)
        hits = self.n[1] - missed
        rows = sum(self.n)
        alarms = upper(flagged, self.n[0], DELTA / 3)
        misses = upper(missed, self.n[1], DELTA / 3)
        kept = self.share * (1 - misses)
        sure = kept / (kept + (1 - self.share) * alarms)
        deciding = self.boundary["n_samples"]
        wrong = (flagged, missed)
        yield f"threshold chosen on {deciding[1]:,} {positives}, {deciding[0]:,} {negatives}"
        yield f"tested on {rows:,} other {unit}"
        yield f"Measured on {rows:,} test rows."
        if self.copied:
            rows_have = f"{self.copied:,} rows have" if self.copied > 1 else "1 row has"
            yield f"{rows_have} the same features as an earlier row"
        yield f"threshold {short(self.threshold)} the shifted boundary"
        yield (
            f"recall ({positives}) {percent(hits, self.n[1])} "
            f"{percent(missed, self.n[1])} missed, "
            f"at most {most(upper(missed, self.n[1], DELTA))}"
        )
        yield (
            f"specificity ({negatives}) {percent(self.n[0] - flagged, self.n[0])} "
            f"{percent(flagged, self.n[0])} flagged, at most "
            f"{most(upper(flagged, self.n[0], DELTA))}"
        )
        yield (
            f"precision: alarms that are right {percent(hits, hits + flagged)} at least "
            f"{least(sure)}"
        )
        yield f"alarms per 1,000 {unit} {1000 * (hits + flagged) / rows:.1f} hits"
        for i, who in ((1, positives), (0, negatives)):
            yield f"{who} {self.n[i]:,} rows" + (
                f", {wrong[i]:,} on the wrong side" if wrong[i] else ""
            )
        yield f"Shifted boundary {short(self.threshold)}"
        yield f"Model's own {short(self.own)}"
        yield f"--threshold {self.threshold}"
        yield f"What becomes of the {rows:,} test rows"
        yield f"{positives} {hits:,} {missed:,}"
        yield f"{negatives} {flagged:,} {self.n[0] - flagged:,}"

    def calibration(self, positives):
        """Return what is said of the model's own probabilities, in groups of equal size."""
        order = np.argsort(self.probability, kind="stable")
        said = self.probability[order]
        true = self.y[order]
        count = min(max(len(said) // 20, 1), 10)
        off = 0
        for here in np.array_split(np.arange(len(said)), count):
            k = int(true[here].sum())
            n = len(here)
            low = 1 - upper(n - k, n, DELTA / 2)
            high = upper(k, n, DELTA / 2)
            off += not low <= said[here].mean() <= high
        yield (
            f"On average the model's own probability is {percent(said.mean())}, and "
            f"{percent(int(true.sum()), len(true))} are {positives}."
        )
        if off:
            yield f"In {off} of {count} groups of rows"

    def methods(self):
        """Return the rows of the table."""
        negative, positive = self.n
        with (self.folder / "comparison.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.errors = {}
        self.terminal = []
        for row in rows:
            cut = float(row["threshold"])
            flagged, missed = self.errors[row["method"]] = self.wrong(cut)
            cell = [negative - flagged, flagged, missed, positive - missed]
            truth = np.repeat([0, 0, 1, 1], cell)
            made = np.repeat([0, 1, 0, 1], cell)
            each = 1 - flagged / negative, 1 - missed / positive
            gmean = math.sqrt(each[0] * each[1])
            f1 = sk.f1_score(truth, made)
            values = [gmean, sum(each) / 2, f1, sk.accuracy_score(truth, made), each[1], each[0]]
            cells = " ".join(f"{v:.3f}".replace("-", "−") for v in values)
            at = f"{cut:.3f}".replace("-", "−")
            yield f"{row['method']} {cells} {at}"
            self.terminal.append(" ".join([row["method"], *(f"{v:.3f}" for v in
                                           (gmean, f1, each[0], each[1]))]))  # fmt: skip

    def lead(self, title, measure, text, positives, negatives, keeps=None):
        """Return how far ours is from the best of the others; after :meth:`methods`."""
        others = {name: wrong for name, wrong in self.errors.items() if name != "boundshift"}
        if keeps is not None:
            kept = {name: wrong for name, wrong in others.items() if keeps(*wrong)}
            told = f"{len(kept)} of {len(others)} reach this one on these rows; ours"
            is_kept = keeps(*self.errors["boundshift"])
            yield f"{told} {'does' if is_kept else 'does not'}"
            if not kept or not is_kept:
                return
            others = kept
        ours = measure(*self.errors["boundshift"])
        best = max(others, key=lambda name: measure(*others[name]))
        theirs = measure(*others[best])
        place = "level with" if ours == theirs else "ahead of" if ours > theirs else "behind"
        yield f"By {title}, ours is {place} {best}: {text(ours)} against {text(theirs)}."
        found = others[best][1] - self.errors["boundshift"][1]
        more = self.errors["boundshift"][0] - others[best][0]
        if found or more:
            yield (
                f"finds {abs(found):,} {'fewer' if found < 0 else 'more'} of {self.n[1]:,} "
                f"{positives} and flags {abs(more):,} {'fewer' if more < 0 else 'more'} of "
                f"{self.n[0]:,} {negatives}"
            )

    def groups(self, name):
        """Return the rows of a table of groups."""
        values = self.column(name)[self.known][self.test]
        flagged = self.s > self.threshold
        for level in set(values):
            here = values == level
            hits = int(np.sum(self.y & here))
            found = int(np.sum(self.y & here & flagged))
            alarms = int(np.sum(flagged & here))
            rows = int(here.sum())
            shares = [(found, hits), (alarms - found, rows - hits), (found, alarms)]
            cells = " ".join(
                f"{percent(k, n)} {percent(1 - upper(n - k, n, DELTA / 2))} to "
                f"{percent(upper(k, n, DELTA / 2))}"
                for k, n in shares
            )
            yield f"{level or '(missing)'} {rows:,} {hits:,} {cells}"

    def columns(self, names):
        """Return how many cells of each column are missing."""
        for name in names:
            missing = int(np.isin(self.column(name)[self.known], GAPS).sum())
            if missing:
                yield f"{missing:,} of {int(self.known.sum()):,}"

    def details(self):
        """Return the figures that boundary.json has, as the page prints them."""
        found = self.boundary
        yield "rows {:,} {:,}".format(*found["n_samples"])
        yield "on the wrong side {:,} {:,}".format(*found["wrong"])
        yield "claimed error {} {}".format(*map(short, found["errors"]))
        yield f"Threshold {self.threshold}."

    def script(self, page):
        """Check what the slider shows at each of its stops."""
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
        stops = data["stops"]
        for stop in range(0, len(stops["threshold"]), 25):
            counts = self.wrong(stops["threshold"][stop])
            assert counts == (stops["wrong"][0][stop], stops["wrong"][1][stop])
        bounds = [
            upper(k, n, DELTA) for k, n in zip(self.wrong(self.threshold), self.n, strict=True)
        ]
        assert np.allclose(data["certificate"]["error_bounds"], bounds)
        assert math.isclose(data["prevalence"], self.share)


def visible(page):
    """Return the words of a page, without pictures, axes, badges and lines of code."""
    page = page.split("<header>", 1)[1].split("<script", 1)[0]
    page = re.sub(r"<(svg|pre)\b.*?</\1>", " ", page, flags=re.DOTALL)
    page = re.sub(r'<div class="ticks".*?</div>', " ", page, flags=re.DOTALL)
    page = re.sub(r'<span class="(level|badge)[^"]*".*?</span>', " ", page, flags=re.DOTALL)
    text = html.unescape(re.sub("<[^>]*>", " ", page))
    return re.sub(r"\s+([,;.%])(?=\s|$)", r"\1", " ".join(text.split()))


# Said of every page, or random: where the threshold falls, and a difference, by resampling.
FIXED = (
    "alarms per 1,000",
    "F1 accuracy",
    re.compile(r"label \S+ \S+(?= rows)"),
    re.compile(r"'\S+' is [\d.]+"),  # how a cell of the table is read
    re.compile(r"fallen between −?[\d.]+ and −?[\d.]+"),
    re.compile(r"Interval −?[\d.]+ to −?[\d.]+"),
    re.compile(r"The difference lies between \S+ and \S+ \(95%, by resampling\)"),
    re.compile(r"Of 100 .*? about are (missed|flagged), at most in the long run"),
    re.compile(r"The gain lies between \S+ and \S+ \(95%, by resampling\)"),
    re.compile(r"\S+ among 100 \S+"),
    re.compile(r"boundshift \d+\.\d+\S*"),
    "95% confidence allows",
    "with 95% intervals",
    "may be chance (95%, by resampling)",
    re.compile(r", [1-9] beyond the edge"),  # of the picture alone
)


def explain(text, expected, optional=()):
    """Take away what was recomputed; return what is not there, and figures that are left."""

    def pattern(told):
        return told if isinstance(told, re.Pattern) else re.compile(re.escape(told))

    absent = [told for told in expected if not pattern(told).search(text)]
    known = [pattern(told) for told in (*expected, *optional, *FIXED)]
    for told in sorted(known, key=lambda p: -len(p.pattern)):
        text = told.sub(" ", text)
    return absent, re.findall(r"\S*\s*\S*\s*\S*\d\S*", text)
