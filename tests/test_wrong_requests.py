"""Wrong requests get a sentence that names the argument, the value and the remedy."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer

from boundshift import (
    BoundShiftClassifier,
    ClassFloors,
    Cost,
    CostMatrix,
    FBeta,
    Floors,
    InvalidInputError,
    Metric,
    Status,
    SupportRadius,
    certify,
    certify_counts,
    compare_boundaries,
    estimate_prevalence,
    find_boundaries,
    find_boundary,
    find_zone,
    streaming,
    threshold_interval,
)
from boundshift.curves import Blend, ClopperPearson, as_curve
from boundshift.metrics import metrics_at
from boundshift.rules import Sum, as_rule
from boundshift.streaming import Tally

N = 60
Y = np.tile([0, 0, 1], 20)
S = np.arange(60) / 60
WORDS = np.array(["good", "bad"])[Y]
Y10 = np.repeat([0, 1], [6, 4])
S10 = np.arange(10.0)
TALLY = Tally.of([(Y, S)])
WEIGHTED_TALLY = Tally.of([(Y, S, S + 1.0)])
COSTS = [[0.0, 1.0, 4.0], [5.0, 0.0, 3.0], [50.0, 10.0, 0.0]]
ABC = ("a", "b", "c")
FITTED = find_boundary([0, 0, 0, 1, 1], [0.1, 0.7, 1.3, 4.1, 5.7])


def ask(y=Y, s=S, **options):
    return find_boundary(y, s, **options)


def rows(y=Y10, s=S10, **options):
    return find_boundary(y, s, **options)


def paper(**settings):
    return rows(curve=SupportRadius(**settings))


def sql(labels=(0, 1), column="s", dialect="ansi"):
    return replace(FITTED, labels=labels).to_sql(column, dialect=dialect)


def fit(**settings):
    return BoundShiftClassifier(LogisticRegression(), **settings)


WRONG = {
    # Floors.
    "a floor of 1.2": (lambda: Floors(recall=1.2), "`recall` must be at most 1, got 1.2. Use 0.9"),
    "a floor of 0": (lambda: Floors(precision=0), "`precision` must be a positive"),
    "no floor": (lambda: Floors(), "at least one of recall"),
    "a cap of 1": (lambda: Floors(flagged=1), "`flagged` must be between 0 and 1, got 1. Use 0.02"),
    "a confidence of 1": (lambda: Floors(recall=0.9, confidence=1), "between 0 and 1, got 1"),
    "a share for recall": (lambda: Floors(recall=0.9, prevalence=0.1), "must be left out"),
    "floors by name": (lambda: Floors(recall=0.9, then="floors"), "Use Floors(recall=0.9)"),
    "floors in floors": (
        lambda: Floors(recall=0.9, then=Floors(recall=0.5)).objective,
        "`then` must be an objective",
    ),
    "an estimate by a bound": (
        lambda: ask(curve="clopper-pearson", rule=Floors(recall=0.9, confidence=None)),
        "got None",
    ),
    "a promise by an estimate": (
        lambda: ask(curve="smoothed", rule=Floors(recall=0.8, confidence=0.9)),
        "guarantees nothing",
    ),
    "two confidences": (
        lambda: ask(curve="clopper-pearson", rule=Floors(recall=0.8, confidence=0.9)),
        "the same in Floors and in the curve",
    ),
    # Other rules.
    "a prevalence of 0": (lambda: Cost(prevalence=0), "got 0. Use 0.001 for one in a thousand"),
    "a prevalence of 1": (lambda: FBeta(prevalence=1), "between 0 and 1, got 1"),
    "a cost below 0": (lambda: Cost(false_negative=-1), "got -1. Use Cost"),
    "two costs in one": (lambda: Cost(false_positive=(1, 20)), "`false_positive` must be"),
    "a name that is nearly one": (lambda: ask(rule="minmax"), "Did you mean 'minimax'"),
    "another spelling": (lambda: ask(rule="F1"), "'f1'"),
    "no rule": (lambda: as_rule("least"), "class Rule or one of 'g-mean'"),
    "a class for an object": (lambda: as_rule(Sum), "Use Sum()."),
    "no curve": (lambda: as_curve("hoeffding"), "'clopper-pearson'"),
    "a curve's confidence": (lambda: ClopperPearson(1), "`confidence` must be"),
    "no beta": (lambda: as_rule("fbeta_score"), "Use FBeta(3)"),
    "a function as a rule": (lambda: ask(rule=f1_score), "Use Metric(f1_score)"),
    "a metric's name as a rule": (lambda: ask(rule="jaccard"), "Use Metric('jaccard')"),
    "a ranking's name as a rule": (lambda: ask(rule="roc_auc"), "same at every threshold"),
    "a floor's name as a rule": (lambda: ask(rule="recall"), "Use Floors(recall=0.9)"),
    "a cap's name as a rule": (lambda: ask(rule="flagged"), "Use Floors(flagged=0.1)"),
    "a curve as a rule": (lambda: ask(rule=Blend()), "Use curve=Blend(prior_rows=10.0)."),
    "a class with settings": (lambda: as_rule(Floors), "Use Floors(recall=0.9)."),
    "a rule as a curve": (lambda: ask(curve=Sum()), "Use rule=Sum()."),
    "a function as a curve": (lambda: ask(curve=f1_score), "Use rule=Metric(function)"),
    "a rule's name as a curve": (lambda: ask(curve="g-mean"), "Use rule='g-mean'"),
    "a curve's name as a rule": (lambda: ask(rule="blend"), "Use curve='blend'"),
    "scoring for a rule": (lambda: ask(scoring="f1"), "Use `rule`"),
    "scoring of a model": (lambda: fit(scoring="f1"), "Use `rule`"),
    "scoring of groups": (lambda: find_boundaries(Y, S, Y, scoring="f1"), "Use `rule`"),
    "scoring of an interval": (lambda: threshold_interval(Y, S, scoring="f1"), "Use `rule`"),
    "scoring of a scan": (lambda: streaming.scan_boundary(TALLY, scoring="f1"), "Use `rule`"),
    "words without a positive class": (
        lambda: find_boundary(["well", "ill"] * 20, np.arange(40.0)),
        "Use 'well', for example",
    ),
    "no metric": (lambda: as_rule("metric"), "Use Metric('jaccard')"),
    "a metric of rankings": (lambda: Metric("roc_auc"), "have no boundary. Use 'f1'"),
    "a metric that is nearly one": (lambda: Metric("f1x"), "Did you mean 'f1'"),
    "a number as metric": (lambda: Metric(3), "must be a function of labels and predictions"),
    "a metric without weights": (lambda: Metric(lambda y, p: 0.0), "must take sample_weight"),
    "a metric with a label": (
        lambda: Metric(make_scorer(f1_score, pos_label="ill")),
        "must not name pos_label",
    ),
    "a metric of two numbers": (
        lambda: ask(rule=Metric(lambda y, p, sample_weight: [1])),
        "must give one number",
    ),
    # Rules of many classes.
    "two labels": (lambda: CostMatrix(COSTS, ("a", "b")), "three or more distinct classes"),
    "a label twice": (lambda: CostMatrix(COSTS, ("a", "b", "b")), "three or more distinct"),
    "a small matrix": (lambda: CostMatrix([[0, 1], [1, 0]], ABC), "with 3 rows and columns"),
    "NaN costs": (lambda: CostMatrix(np.full((3, 3), np.nan), ABC), "finite numbers"),
    "equal costs": (lambda: CostMatrix(np.ones((3, 3)), ABC), "differ within a row"),
    "two shares": (lambda: CostMatrix(COSTS, ABC, [0.5, 0.5]), "for each of 3 labels"),
    "a share below 0": (lambda: CostMatrix(COSTS, ABC, [1.2, -0.1, -0.1]), "above 0 for each"),
    "no class named": (lambda: ClassFloors(), "must be a mapping from labels to floors"),
    "one floor for all": (lambda: ClassFloors(recall=0.9), "must be a mapping from labels"),
    "a class floor of 1": (lambda: ClassFloors(recall={"a": 1.0}), "must be below 1"),
    "a class floor of 0": (lambda: ClassFloors(recall={"a": 0.0}), "must be a positive"),
    "another objective": (lambda: ClassFloors(recall={"a": 0.5}, then="f1"), "`then` must be"),
    "many for two": (lambda: ask(rule=CostMatrix(COSTS, ABC)), "about two classes here"),
    # Weights and costs of rows.
    "negative weights": (lambda: ask(sample_weight=np.full(N, -1)), "got -1 and 59 more"),
    "weights of another length": (lambda: ask(sample_weight=[1]), "each of 60 rows"),
    "weights for a promise": (
        lambda: ask(sample_weight=np.ones(N), curve="clopper-pearson"),
        "counts rows",
    ),
    "another rule for the paper": (lambda: ask(curve="paper", rule="f1"), "`rule` must be 'sum'"),
    "weights for the paper": (lambda: ask(sample_weight=np.ones(N), curve="paper"), "'support'"),
    "masked weights": (lambda: ask(sample_weight=np.ma.array(S, mask=Y)), "`sample_weight` must"),
    "no weight": (lambda: ask(sample_weight=np.zeros(N)), "got 0 for every row"),
    "costs below 0": (lambda: ask(row_cost=np.full(N, -2)), "at least 0 and at most 1e+100"),
    "costs of NaN": (lambda: ask(row_cost=np.full((N, 2), np.nan)), "got nan"),
    "costs of 0": (lambda: ask(row_cost=np.zeros(N)), "must not be all 0"),
    "costs with a rule": (lambda: ask(row_cost=np.ones(N), rule="f1"), "another rule than 'cost'"),
    "costs with a curve": (lambda: ask(row_cost=np.ones(N), curve="blend"), "cannot be combined"),
    "costs with weights": (lambda: ask(row_cost=S, sample_weight=S), "cannot be combined"),
    "three columns of costs": (lambda: ask(row_cost=np.ones((N, 3))), "got the shape (60, 3)"),
    "no group": (lambda: find_boundaries(Y, S, np.full(N, np.nan)), "the group of every row"),
    "a shrinkage below 0": (
        lambda: find_boundaries(Y, S, Y, prior_rows=-1),
        "`prior_rows` must be a finite",
    ),
    "groups of another length": (lambda: find_boundaries(Y, S, [1]), "each of 60 rows"),
    # Rows.
    "nine classes": (lambda: rows(range(10)), "got 10: 0, 1, 2, 3, 4, …"),
    "lengths": (lambda: rows(s=S10[1:]), "each of 10 rows, got 9. Pass the decision"),
    "two columns": (lambda: rows(s=np.c_[S10, S10]), "(10, 2)"),
    "no sequence": (lambda: rows(s=3.0), "`proba[:, 1]`"),
    "dates": (lambda: rows(s=S10.astype("M8[D]")), "datetime64"),
    "objects": (lambda: rows(s=[0.5, None, {}, *S10[3:]]), "got object values (float"),
    "a score beyond floats": (lambda: rows(s=[*S10[:9], 10**400]), "`y_score` must be"),
    "missing labels": (lambda: rows(np.where(Y10, np.nan, 0)), "4 missing (NaN, NaT or None)"),
    "NaN among words": (lambda: rows(["a"] * 9 + [np.nan]), "1 missing"),
    "NA among words": (lambda: rows(["a"] * 9 + [pd.NA]), "1 missing"),
    "missing to fit": (lambda: fit().fit(S10[:, None], ["a"] * 9 + [None]), "1 missing"),
    "words and numbers": (lambda: fit().fit(np.eye(4), ["a", 1, "a", 1]), "labels of one kind"),
    "blanks to fit": (lambda: fit().fit(np.eye(4), ["a", "a ", "a", "a "]), "blanks or case"),
    "another pos_label": (lambda: rows(pos_label=2), "got 2. Use pos_label=None"),
    "NA as pos_label": (lambda: rows(pos_label=pd.NA), "`pos_label` must be one of"),
    "an array as pos_label": (lambda: rows(pos_label=np.array([0, 1])), "must be one of"),
    "labels of another coding": (lambda: certify(Y + 1, S, FITTED), "0 and 1, got 2. Name the"),
    "words for numbers": (lambda: metrics_at(np.array(["no", "yes"])[Y], S, FITTED), "got 'no'"),
    "a number for words": (lambda: certify(WORDS, S, 0.5), "`pos_label` must name the positive"),
    "numbers for words": (lambda: compare_boundaries(WORDS, S, 0, S, 1, cost=Cost()), "must name"),
    "a share of words": (lambda: estimate_prevalence(WORDS, S, S), "must name the positive class"),
    "counts that are shares": (lambda: certify_counts((0.1, 0.2), (10, 10)), "number of rows"),
    "more wrong than rows": (lambda: certify_counts((11, 2), (10, 10)), "got 11 of 10 rows"),
    "counts of one class": (lambda: certify_counts((1,), (10,)), "for each class"),
    "the paper in passes": (
        lambda: streaming.scan_boundary([(Y, S)], curve="paper"),
        "must be smooth or count rows",
    ),
    "a dialect of tallies": (
        lambda: streaming.tally_sql("y", "s", "t", dialect="sybase"),
        "`dialect` must be one of",
    ),
    "a tally as rows": (
        lambda: find_boundary(TALLY),
        r"must be the labels of rows, got a Tally. Call its own method: tally.find_boundary(...).",
    ),
    "a tally to certify": (lambda: certify(TALLY, 0.5), "tally.certify(...)"),
    "a tally for a zone": (lambda: find_zone(TALLY), "tally.find_zone(...)"),
    "a tally for metrics": (lambda: metrics_at(TALLY, 0.5), "tally.metrics_at(...)"),
    "a tally to scan": (lambda: streaming.scan_boundary(TALLY), "tally.find_boundary()"),
    "weights for a certificate": (lambda: WEIGHTED_TALLY.certify(0.5), "must be without weights"),
    "weights for a zone": (lambda: WEIGHTED_TALLY.find_zone(), "must be without weights"),
    "a tally of one class": (lambda: Tally.of([(Y * 0, S)]).find_boundary(), "must hold two class"),
    "words in passes": (lambda: streaming.scan_certificate([(WORDS, S)], 0.5), "must name the"),
    "a threshold in words": (lambda: certify(Y, S, "0.5"), "`threshold` must be"),
    "a threshold of money": (lambda: certify(Y, S, Decimal("0.5")), "`threshold` must be"),
    # The paper's settings.
    "alpha 0": (lambda: paper(alpha=0), "got 0. Use alpha=1"),
    "alpha triple": (lambda: paper(alpha=(1, 2, 3)), "got (1, 2, 3). Use alpha=1"),
    "budget share": (lambda: paper(budget=1.5), "got 1.5"),
    "budget bool": (lambda: paper(budget=True), "budget='all'"),
    "constant": (lambda: paper(constant=-1), "The paper has 2"),
    "radius": (lambda: paper(radius="x"), "'one-sided', 'two-sided'"),
    "slack": (lambda: paper(slack="x"), "'binary', 'continuous'"),
    "penalty": (lambda: paper(penalty="x"), "'proportional', 'count'"),
    "centre": (lambda: paper(centre="x"), "'median', 'mean'"),
    "fallback": (lambda: paper(fallback="x"), "`fallback` must be 'edges', 'means' or a finite"),
    # SQL.
    "a dialect": (lambda: sql(dialect="orcale"), "`dialect` must be one of"),
    "no column": (lambda: sql(column=""), "`column` must be a name"),
    "NUL in a column": (lambda: sql(column="a\0b"), "`column` must be text"),
    "a setting of Spark": (lambda: sql(column="${x}", dialect="spark"), "`column` must be text"),
    "a backslash": (lambda: sql(("no", "a\\b")), "`labels` must be text without backslashes"),
    "an infinite label": (
        lambda: sql((0, np.inf)),
        "must be strings, finite numbers",
    ),
    "dates as labels": (lambda: sql((np.datetime64("2020"), np.datetime64("2021"))), "in SQL"),
    # Records and settings.
    "a threshold of NaN": (lambda: replace(FITTED, threshold=np.nan), "`threshold` must be"),
    "a setting of no rule": (lambda: fit().set_params(rule__beta=2), "`rule` must be an object"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_request_gets_a_sentence(wrong):
    make, words = WRONG[wrong]
    with pytest.raises(InvalidInputError) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_floors_that_contradict_are_answered_with_what_is_reached():
    found = ask(rule=Floors(recall=0.9, precision=0.9), curve="empirical")
    assert found.status is Status.UNMET
    assert "instead of at least 0.9" in found.message
    assert "Ask for another recall or precision" in found.message
