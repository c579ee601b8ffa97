import datetime
import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from boundshift import BoundaryWarning, InvalidInputError, Monitor, certify
from boundshift._guarantees.bets import ODDS_RATIOS, Bet
from boundshift._guarantees.certificate import certify_counts

CERTIFICATE = certify(
    [0] * 90 + [1] * 60, [0.1] * 88 + [0.9] * 2 + [0.9] * 55 + [0.2] * 5, threshold=0.5
)


def draw(rng, n, rates=(0.05, 0.1), prevalence=0.4):
    """Return labels and scores whose error rates at the threshold are known."""
    y = (rng.random(n) < prevalence).astype(int)
    is_wrong = rng.random(n) < np.array(rates)[y]
    return y, np.where(is_wrong != (y == 1), 0.9, 0.1)


def evidence_by_hand(is_wrong, bound, first):
    """Sum over all starts of batches and all rates, as the formula is written."""
    rates = [o * bound / (1 - bound + o * bound) for o in ODDS_RATIOS]
    total = 1 / (1 + math.log(len(first) + 1))
    for j, start in enumerate(first, 1):
        weight = 1 / (1 + math.log(j)) - 1 / (1 + math.log(j + 1))
        for q in rates:
            ratios = (q / bound if x else (1 - q) / (1 - bound) for x in is_wrong[start:])
            total += weight * math.prod(ratios) / len(rates)
    return total


class TestEvidence:
    @pytest.mark.parametrize("bound", [0.01, 0.2, 0.7])
    def test_is_the_sum_of_the_formula_row_by_row_and_batch_by_batch(self, bound):
        is_wrong = np.random.default_rng(0).random(60) < 1.5 * bound
        log_e = Bet(bound).extend(is_wrong)
        expected = [evidence_by_hand(is_wrong[:n], bound, range(n)) for n in range(1, 61)]
        np.testing.assert_allclose(np.exp(log_e), expected, rtol=1e-9)
        batches = np.array([0, 10, 11, 36])
        found = math.exp(Bet(bound).extend(is_wrong, batches)[-1])
        assert found == pytest.approx(evidence_by_hand(is_wrong, bound, batches))

    @pytest.mark.parametrize("bound", [0.02, 0.3])
    def test_has_a_mean_of_one_at_the_bound_and_less_below(self, bound):
        # All 2^10 streams, each with its probability: exact, not simulated.
        for rate, is_fair in ((bound, True), (bound / 2, False)):
            mean = 0.0
            for stream in itertools.product([False, True], repeat=10):
                k = sum(stream)
                log_e = Bet(bound).extend(np.array(stream))
                mean += rate**k * (1 - rate) ** (10 - k) * math.exp(log_e[-1])
            assert mean == pytest.approx(1, abs=1e-9) if is_fair else mean < 1

    def test_calm_years_do_not_delay_the_alarm_by_much(self):
        rng = np.random.default_rng(0)
        late = Bet(0.1)
        assert np.isfinite(late.extend(rng.random(1_000_000) < 0.08)).all()
        worse = rng.random(2000) < 0.25
        delays = [int(np.argmax(bet.extend(worse) > math.log(40))) for bet in (Bet(0.1), late)]
        assert delays[0] < delays[1] < delays[0] + 150


class TestAlarm:
    def test_false_alarms_are_at_most_nominal(self):
        # At the bounds themselves, the worst case; each of 2000 rows is a look.
        rng = np.random.default_rng(1)
        n_streams = 300
        alarms = 0
        for _ in range(n_streams):
            rows = draw(rng, 2000, CERTIFICATE.error_bounds)
            watched = Monitor(CERTIFICATE, confidence=0.8).update(*rows, when=np.arange(2000))
            alarms += watched.alarm is not None
        assert alarms / n_streams <= 0.2

    @pytest.mark.parametrize(("size", "correlation"), [(1, 0.0), (10, 0.5)])
    def test_rows_sorted_by_error_raise_no_more_false_alarms(self, size, correlation):
        """Single rows or clusters at the bound, ten batches, the wrong ones last in each."""
        rng = np.random.default_rng(5)
        alarms = 0
        y = [0] * 90 + [1] * 60
        s = [0.1] * 88 + [0.9] * 57 + [0.2] * 5
        certificate = certify(y, s, 0.5, cluster=np.arange(150))
        bound = certificate.error_bounds[0]
        rest = (1 - correlation) / correlation if correlation else 1e9
        for _ in range(100):
            monitor = Monitor(certificate, confidence=0.9)
            for _ in range(10):
                rates = rng.beta(rest * bound, rest * (1 - bound), (60, 1))
                wrong = rng.random((60, size)) < rates
                wrong = wrong[np.argsort(wrong.mean(axis=1))].ravel()
                ids = np.repeat(np.arange(60), size)
                monitor.update(np.zeros(len(ids)), np.where(wrong, 0.9, 0.1), cluster=ids)
            alarms += monitor.alarm is not None
        assert stats.binom.sf(alarms - 1, 100, 0.1) > 1e-3

    def test_a_doubled_error_is_found(self):
        rng = np.random.default_rng(2)
        monitor = Monitor(CERTIFICATE)
        monitor.update(*draw(rng, 500), when=np.arange(500))
        assert monitor.alarm is None
        doubled = tuple(2 * b for b in CERTIFICATE.error_bounds)
        monitor.update(*draw(rng, 1000, doubled), when=np.arange(500, 1500))
        assert monitor.alarm is not None
        assert monitor.alarm.when == monitor.alarm.row - 1
        assert 450 < monitor.alarm.since_row < monitor.alarm.row
        assert monitor.alarm.wrong / monitor.alarm.n_samples > monitor.alarm.bound

    def test_a_class_that_keeps_its_bound_raises_none_and_an_alarm_stays(self):
        monitor = Monitor(CERTIFICATE).update(*draw(np.random.default_rng(3), 3000, (0.01, 0.6)))
        assert [alarm.label for alarm in monitor.alarms] == [1]
        for text in ("Alarm for class 1", "From row", "where the excess probably began"):
            assert text in str(monitor)
        first = monitor.alarm
        assert monitor.update([1] * 5000, [0.9] * 5000, when=8).alarm == first

    def test_a_class_without_a_bound_cannot_fail(self):
        empty = certify_counts((0, 0), (50, 0), (0, 1), threshold=0.5)
        monitor = Monitor(empty).update([1] * 500, [0.0] * 500)
        assert monitor.alarm is None
        assert "Class 1 has no bound to watch" in str(monitor)


class TestAlarmTexts:
    """The alarm names dates, counts and rates that can be recounted from the rows."""

    @staticmethod
    def stream(seed, n_days=400, a_day=5, changed=300):
        """Return labels, scores and days of a class that errs often from a day on."""
        rng = np.random.default_rng(seed)
        day = np.repeat(np.arange(n_days), a_day)
        rates = np.where(day < changed, 0.05, 0.45)
        scores = np.where(rng.random(len(day)) < rates, 0.1, 0.9)
        dates = np.datetime64("2025-01-01") + day
        return np.ones(len(day), dtype=int), scores, dates

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("per_update", [1, 3, 2000])
    def test_counts_are_those_of_all_rows_between_the_dates_named(self, seed, per_update):
        y, s, dates = self.stream(seed)
        monitor = Monitor(CERTIFICATE)
        for start in range(0, len(y), per_update):
            rows = slice(start, start + per_update)
            monitor.update(y[rows], s[rows], dates[rows])
        alarm = monitor.alarm
        if alarm.since is None:
            is_meant = np.arange(len(y)) + 1 >= alarm.since_row
        else:
            is_meant = dates >= np.datetime64(alarm.since)
        is_meant &= np.arange(len(y)) < alarm.row
        assert alarm.n_samples == np.sum(is_meant)
        assert alarm.wrong == np.sum(s[is_meant] < 0.5)
        assert alarm.error == alarm.wrong / alarm.n_samples > alarm.bound
        assert f"{alarm.wrong} of {alarm.n_samples} rows were wrong" in str(alarm)

    def test_a_recovered_class_is_described_in_the_past_with_its_rate_since(self):
        monitor = Monitor(CERTIFICATE)
        monitor.update([1] * 40, [0.9] * 15 + [0.1] * 25, "2026-03-01")
        assert "No rows of this class came after the alarm." in monitor.verdict
        monitor.update([1] * 200, [0.9] * 190 + [0.1] * 10, "2026-04-01")
        text = monitor.verdict
        assert "exceeded the guaranteed 16.8%" in text
        assert "25 of 40 rows were wrong, an observed error rate of 62.5%" in text
        after = "After the alarm, 10 of 200 rows were wrong, an observed error rate of 5.0%"
        assert f"{after} (95% interval 2.4% to 9.0%), within the guaranteed 16.8%." in text
        assert "exceeds" not in text
        monitor.update([1] * 100, [0.1] * 100, "2026-05-01")
        assert "110 of 300 rows were wrong" in monitor.verdict
        assert "above the guaranteed 16.8%" in monitor.verdict

    def test_the_observed_rate_and_its_interval_stand_beside_the_bound(self):
        monitor = Monitor(CERTIFICATE).update([1] * 200, [0.9] * 188 + [0.1] * 12)
        interval = stats.binomtest(12, 200).proportion_ci()
        low, high = monitor.error_intervals[1]
        assert (low, high) == pytest.approx((interval.low, interval.high))
        assert monitor.error_intervals[0] is None
        line = str(monitor).splitlines()[-1].split()
        bound = f"{CERTIFICATE.error_bounds[1]:.4f}"
        assert line[2:7] == ["200", "12", "0.0600", f"{low:.4f}–{high:.4f}", bound]

    def test_clusters_show_their_average(self):
        y = [0] * 90 + [1] * 60
        s = [0.1] * 88 + [0.9] * 57 + [0.2] * 5
        certificate = certify(y, s, 0.5, cluster=np.arange(150))
        monitor = Monitor(certificate).update([1] * 11, [0.1] * 10 + [0.9], cluster=[0] * 10 + [1])
        assert monitor.errors[1] == 0.5
        assert monitor.error_intervals == (None, None)
        monitor.update([1] * 200, [0.1] * 200, cluster=np.repeat(np.arange(40), 5))
        assert monitor.errors[1] == pytest.approx(41 / 42)
        assert (monitor.alarm.since_row, monitor.alarm.error) == (12, 1.0)


class TestRowsDrawnWithProbabilities:
    def test_the_evidence_is_that_of_smaller_bets(self):
        monitor = Monitor(CERTIFICATE)
        monitor.update([1] * 3, [0.1, 0.9, 0.1], probability=[0.5, 1, 0.2], least_probability=0.2)
        bound = CERTIFICATE.error_bounds[1]
        odds = np.array(ODDS_RATIOS)
        q_less_bound = odds * bound / (1 - bound + odds * bound) - bound
        factors = [
            1 + weight * q_less_bound * (x - bound) / (bound * (1 - bound))
            for x, weight in ((1, 0.4), (0, 0.2), (1, 1.0))
        ]
        cash = 1 / (1 + math.log(2))
        expected = cash + (1 - cash) * np.mean(np.prod(factors, axis=0))
        assert monitor.e_values[1] == pytest.approx(expected)
        assert monitor.errors[1] == pytest.approx(1.4 / 1.6)
        assert monitor.error_intervals[1] is None
        assert Monitor.from_json(monitor.to_json()) == monitor

    @pytest.mark.parametrize("as_pair", [True, False])
    def test_false_alarms_are_rare_where_a_plain_count_raises_them(self, as_pair):
        """Misses are drawn always, hits in a fifth of the cases; the stream errs at the bound."""
        bound = CERTIFICATE.error_bounds[1]
        alarms = {"drawn": 0, "plain": 0, "worse": 0}
        rng = np.random.default_rng(1)
        for _ in range(40):
            for name in alarms:
                rate = 2 * bound if name == "worse" else bound
                missed = rng.random(3000) < rate
                p = np.where(missed, 1.0, 0.2)
                chosen = rng.random(3000) < p
                design = {"probability": (1.0, 0.2)}
                if not as_pair:
                    design = {"probability": p[chosen], "least_probability": 0.2}
                if name == "plain":
                    design = {}
                rows = np.ones(chosen.sum()), np.where(missed, 0.1, 0.9)[chosen]
                when = np.flatnonzero(chosen) // 100
                alarms[name] += Monitor(CERTIFICATE).update(*rows, when, **design).alarm is not None
        assert alarms["drawn"] <= 3
        assert alarms["plain"] == alarms["worse"] == 40

    @pytest.mark.parametrize(
        ("design", "words"),
        [
            ({}, "must be given with a certificate that was made with it"),
            ({"least_probability": 0.5}, "`probability` must be given with `least"),
            ({"probability": [0.4], "least_probability": 0.5}, "from `least_probability`"),
            ({"probability": [0.5]}, "must be given with `probability`"),
        ],
    )
    @pytest.mark.parametrize(
        "drawn", [{"probability": (0.5, 1.0)}, {"probability": [0.5] * 4, "least_probability": 0.5}]
    )
    def test_probabilities_are_checked(self, drawn, design, words):
        monitor = Monitor(certify([0, 1, 0, 1], [0.1, 0.9, 0.1, 0.2], 0.5, **drawn))
        with pytest.raises(InvalidInputError, match=words):
            monitor.update([0], [0.2], **design)
        assert monitor.rows == 0


class TestClusters:
    y = np.repeat([0, 1], [300, 300])
    s = np.repeat([0.1, 0.9, 0.2], [300, 280, 20])

    def test_clusters_are_refused_with_a_certificate_of_rows(self):
        monitor = Monitor(certify(self.y, self.s, 0.5))
        with pytest.raises(InvalidInputError, match="`cluster` must be left out"):
            monitor.update(self.y, self.s, cluster=np.repeat(np.arange(60), 10))
        assert monitor.rows == 0

    def test_rows_are_refused_with_a_certificate_of_clusters(self):
        monitor = Monitor(certify(self.y, self.s, 0.5, cluster=np.repeat(np.arange(60), 10)))
        with pytest.raises(InvalidInputError, match="`cluster` must be given"):
            monitor.update(self.y, self.s)
        with pytest.raises(InvalidInputError, match="must go without `cluster`"):
            monitor.update(self.y, self.s, cluster=self.y, probability=(0.5, 1.0))


DAMAGES = [
    ("rows", -3),
    ("confidence", "NaN"),
    ("confidence", 1.5),
    ("threshold", "NaN"),
    ("classes", [{}, {}]),
    ("classes.1.bound", 0.9),
    ("classes.1.bound", "NaN"),
    ("classes.1.steps", 0),
    ("classes.1.steps", 10**400),
    ("classes.1.log_ratios", [0.0] * 7),
    ("classes.1.log_ratios", ["NaN"] * 7),
    ("classes.1.log_ratios", [0.0]),
    ("classes.1.log_starts", ["-Infinity"] * 7),
    ("classes.1.last.2", 999),
    ("classes.1.last.3", 10**6),
    ("classes.1.last.4", 0.0),
    ("classes.1.last.8", "NaN"),
    ("classes.1.points.0.4", "NaN"),
    ("classes.1.points.0.2", 10**5),
    ("classes.1.points.0.0", -5),
    ("classes.1.alarm", None),
    ("classes.1.alarm.0", 10**6),
    ("classes.1.alarm.8", 0.0),
    ("classes.1.alarm.4", 0.1),
]


@pytest.mark.parametrize(("path", "value"), DAMAGES)
def test_a_damaged_state_is_refused(path, value):
    y, s = draw(np.random.default_rng(4), 3000, (0.05, 0.3))
    days = (np.datetime64("2026-01-01") + np.arange(3000) // 20).astype("datetime64[D]")
    stored = json.loads(Monitor(CERTIFICATE).update(y, s, days).to_json())
    assert stored["classes"][1]["alarm"]
    *above, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place = stored
    for key in above:
        place = place[key]
    place[last] = value
    with pytest.raises(InvalidInputError, match="must"):
        Monitor.from_dict(stored)


class TestState:
    y, s = draw(np.random.default_rng(4), 3000, (0.05, 0.12))
    days = (np.datetime64("2026-01-01") + np.arange(3000) // 20).astype("datetime64[D]")

    def whole(self):
        return Monitor(CERTIFICATE).update(self.y, self.s, self.days)

    @pytest.mark.parametrize("seed", range(3))
    def test_is_the_same_to_the_last_bit_in_any_order_and_any_splits_by_date(self, seed):
        rng = np.random.default_rng(seed)
        cuts = 20 * np.sort(rng.choice(150, 10 * seed, replace=False))
        monitor = Monitor(CERTIFICATE)
        for part in np.split(np.arange(3000), cuts):
            rows = rng.permutation(part)
            monitor.update(self.y[rows], self.s[rows], self.days[rows])
            monitor = Monitor.from_json(monitor.to_json())
        assert monitor == self.whole()
        assert monitor.alarm == self.whole().alarm

    def test_is_small_however_many_rows(self):
        rng = np.random.default_rng(0)
        monitor = Monitor(CERTIFICATE).update(*draw(rng, 200_000), when=np.arange(200_000))
        assert len(monitor.to_json()) < 200_000
        n = monitor.paths[0].n_samples
        assert n[-1] == monitor.n_samples[0]
        assert np.max(n[1:] / n[:-1]) <= 2.0
        assert np.max(n[65:] / n[64:-1]) < 1.02

    def test_counts_and_paths_are_those_of_the_rows(self):
        monitor = self.whole()
        expected = tuple(int(np.sum((self.y == k) & ((self.s > 0.5) != k))) for k in (0, 1))
        assert monitor.wrong == expected
        assert monitor.n_samples == tuple(np.bincount(self.y).tolist())
        for path, wrong in zip(monitor.paths, expected, strict=True):
            assert path.wrong[-1] == wrong
            assert path.when[-1] == str(self.days[path.rows[-1] - 1])
            assert len(path.when) == len(path.rows) == len(path.log_e_values)


class TestInput:
    def test_predictions_serve_many_classes(self):
        certificate = certify_counts((1, 1, 1), (50, 50, 50), ("a", "b", "c"))
        monitor = Monitor(certificate).update_predictions(["a"] * 9 + ["c"] * 30, ["a"] * 39)
        assert monitor.wrong == (0, 0, 30)
        assert monitor.alarm.label == "c"

    def test_scores_need_two_classes_and_a_threshold(self):
        bare = certify_counts((2, 5), (90, 60), (0, 1))
        for certificate in (bare, certify_counts((1, 1, 1), (50, 50, 50), (0, 1, 2))):
            with pytest.raises(InvalidInputError, match="`threshold` to Monitor, or"):
                Monitor(certificate).update([0], [0.2])
        assert Monitor(bare, threshold=0.5).update([0], [0.7]).wrong == (1, 0)

    @pytest.mark.parametrize(
        ("rows", "words"),
        [
            (([0, 2], [0.1, 0.2]), r"must hold labels of the certificate, \(0, 1\), got 2"),
            (([0, 1], [0.1, np.nan]), "`y_score` must be finite"),
            (([0, 1], [0.1]), "one value for each of 1 rows"),
            (([0, 1], [0.1, 0.2], ["Monday"]), "`when` must have one value for each of 2"),
            (([0], [0.1], np.datetime64("NaT")), "`when` must be dates"),
            (([0], [0.1], [object()]), "`when` must be dates"),
            (([0, 1], [0.1, 0.2], [None, "b"]), "`when` must be dates, text or numbers of one"),
            (([0, 1], [0.1, 0.9], np.ma.masked_array([1, 2], [False, True])), "`when` .* masked"),
        ],
    )
    def test_a_bad_batch_is_refused_whole(self, rows, words):
        monitor = Monitor(CERTIFICATE)
        with pytest.raises(InvalidInputError, match=words):
            monitor.update(*rows)
        assert monitor == Monitor(CERTIFICATE)

    @pytest.mark.parametrize(
        ("when", "stored"),
        [
            (datetime.date(2026, 3, 2), "2026-03-02"),
            (datetime.datetime(2026, 3, 2, 12, 30), "2026-03-02T12:30:00"),
            (np.datetime64("2026-03-02T00:00:00"), "2026-03-02"),
            (np.int64(7), 7),
            (pd.Period("2026-03"), "2026-03-01"),
            (pd.PeriodIndex(["2026-03"], freq="M"), "2026-03-01"),
            ("week 7", "week 7"),
            (None, None),
        ],
    )
    def test_dates_are_kept_as_text_or_number(self, when, stored):
        assert Monitor(CERTIFICATE).update([1], [0.1], when).paths[1].when == (stored,)

    @pytest.mark.parametrize("scores", ["out-of-fold", "training"])
    def test_a_certificate_that_is_none_is_watched_with_a_warning(self, scores):
        certificate = certify([0, 1] * 50, [0.1, 0.9] * 50, 0.5, origin=scores)
        with pytest.warns(BoundaryWarning, match=f"got a {certificate.status} one"):
            monitor = Monitor(certificate)
        assert certificate.reason in monitor.verdict
        alarm = str(monitor.update([1] * 40, [0.1] * 40).alarm)
        assert "certified" not in alarm


def test_the_certificate_is_checked_and_columns_of_the_table_stay_apart():
    with pytest.raises(InvalidInputError, match="must be a Certificate, got float"):
        Monitor(0.1)
    monitor = Monitor(certify([0] * 90 + [1] * 90, [0.1] * 90 + [0.9] * 90, 0.5))
    assert len(str(monitor.update([1] * 300, [0.1] * 300)).splitlines()[-1].split()) == 8
