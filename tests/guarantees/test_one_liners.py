"""Natural calls that try to get a false certificate, guarantee or optimum; none succeeds.

They were written from the README alone, before the code was read.
"""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boundshift as b
from boundshift import BoundShiftClassifier as Shift
from boundshift import Floors, streaming
from tests.problems import two_normals

X, Y = make_classification(400, n_features=6, weights=[0.8], flip_y=0.2, random_state=1)
DF = pd.DataFrame(X, columns=list("abcdef"))
YS, S = two_normals(400, 100, 1.0)
NOISE = np.random.default_rng(0).normal(size=(60, 2))
FIRST = np.arange(12) % 2
UNSEEN = np.random.default_rng(1).normal(size=500)
TWICE = (np.tile(YS, 2), np.tile(S, 2))
# Each positive row five times, as before training.
UPSAMPLED = np.repeat(np.arange(500), 1 + 4 * YS)


def forest():
    return RandomForestClassifier(20, random_state=0)


def answered(audit, labels):
    return audit.add(labels[audit.next_rows(len(labels))])


with warnings.catch_warnings(action="ignore"):
    M = Shift(forest()).fit(DF, Y)
    LOGISTIC = Shift(LogisticRegression()).fit(X, Y)
    BD = b.find_boundary(YS, S)
    FLOORS = b.find_boundary(YS, S, rule=Floors(recall=0.8))
    TALLY = streaming.Tally.of([(YS, S)])

CALLS = [
    lambda: M.certify(DF, Y),
    lambda: M.certify(DF[:100], Y[:100]),
    lambda: M.certify(DF, Y, origin="held-out"),
    lambda: M.certify(DF.astype("float32"), Y),
    lambda: M.certify(DF.astype("Float64"), Y),
    lambda: M.certify(DF.set_axis(np.arange(400)[::-1]), Y),
    lambda: M.certify(DF[list("fedcba")], Y),
    lambda: M.certify(DF.assign(z=1), Y),
    lambda: M.certify(pl.DataFrame(X, schema=list("abcdef")), Y),
    lambda: M.certify(DF, np.where(Y, 1.0, np.nan)),
    lambda: M.certify(pd.concat([DF, DF]), np.tile(Y, 2)),
    lambda: M.certify(
        DF.sample(frac=1, random_state=0), pd.Series(Y).sample(frac=1, random_state=0)
    ),
    lambda: copy.deepcopy(M).set_params(cv="prefit").certify(DF, Y, chosen_here=True),
    lambda: pickle.loads(pickle.dumps(M)).certify(DF, Y),
    lambda: M.find_zone(DF, Y, errors=0.3),
    lambda: LOGISTIC.certify(sparse.csr_matrix(X), Y),
    lambda: b.certify(Y, M.positive_scores(DF), M.boundary_),
    lambda: b.certify(Y, LOGISTIC.positive_scores(X), LOGISTIC.boundary_),
    lambda: b.certify(Y[::2], LOGISTIC.positive_scores(X[::2]), LOGISTIC.boundary_),
    lambda: Shift(forest(), ensemble=True).fit(X, Y).certify(X, Y),
    lambda: Shift(forest(), cv=None).fit(X, Y).certify(X, Y),
    lambda: Shift(forest(), rule=Floors(recall=0.8)).fit(X, Y).certify(X, Y),
    lambda: Shift(forest()).fit(X, Y, sample_weight=np.ones(400)).certify(X, Y),
    lambda: Shift(M.estimator_, cv="prefit").fit(DF, Y).certify(DF, Y),
    lambda: Shift(M, cv="prefit", rule=Floors(recall=0.8)).fit(DF, Y).boundary_,
    lambda: Shift(forest(), cv="prefit", rule=Floors(recall=0.8)).fit(DF, Y).boundary_,
    lambda: Shift(forest(), cv=None, rule=Floors(recall=0.8)).fit(X, Y).boundary_,
    lambda: (
        Shift(forest(), rule=Floors(recall=0.8), cv=KFold(3))
        .fit(X[Y.argsort()], np.sort(Y))
        .boundary_
    ),
    lambda: (
        GridSearchCV(Shift(forest()), {"rule": ["f1"]}, cv=2)
        .fit(X, Y)
        .best_estimator_.certify(X, Y)
    ),
    lambda: (
        make_pipeline(StandardScaler(), Shift(forest()))
        .fit(X, Y)[-1]
        .certify(StandardScaler().fit_transform(X), Y)
    ),
    lambda: Shift(CalibratedClassifierCV(forest(), cv=2)).fit(X, Y).certify(X, Y),
    lambda: b.certify(YS, S, BD),
    lambda: b.certify(YS[::-1], S[::-1], BD),
    lambda: b.certify(YS, S.astype("float32"), BD),
    lambda: b.certify(YS.tolist() * 2, S.tolist() * 2, BD),
    lambda: b.certify(YS[100:], S[100:], BD),
    lambda: b.certify(YS, S, b.find_boundary(YS[::2], S[::2])),
    lambda: b.certify(YS, S, FLOORS),
    lambda: b.certify(YS, S, pickle.loads(pickle.dumps(BD))),
    lambda: b.certify(YS, S, b.Boundary.from_json(BD.to_json())),
    lambda: b.certify(YS, S, BD, cluster=np.arange(500)),
    lambda: b.certify(YS, S, BD, probability=np.full(500, 0.5), least_probability=0.5),
    lambda: b.certify(YS, S, BD, sample_weight=np.full(500, 50.0)),
    lambda: b.certify(YS, expit(S), BD),
    lambda: b.certify(np.where(YS, "sick", "cured"), S, BD),
    lambda: b.certify(YS, S, b.find_boundaries(YS, S, np.arange(500) % 2)[0]),
    lambda: TALLY.certify(BD),
    lambda: TALLY.certify(TALLY.find_boundary()),
    lambda: streaming.scan_certificate(pl.DataFrame({"label": YS, "score": S}), BD),
    lambda: b.Certificate.from_json(
        b.certify(YS, S, 0.5).to_json().replace('"confidence": 0.95', '"confidence": 0.99')
    ),
    lambda: b.Boundary.from_json(FLOORS.to_json().replace('"recall": 0.8', '"recall": 0.95')),
    lambda: b.find_boundary(YS, S, rule=Floors(recall=0.95, precision=0.9)),
    lambda: b.find_boundary(YS[398:404], S[398:404], rule=Floors(recall=0.8)),
    lambda: b.find_boundary(YS, S, rule=Floors(recall=0.8), cluster=np.zeros(500)),
    lambda: b.find_boundary(YS, S, rule=Floors(recall=0.8), sample_weight=np.full(500, 100.0)),
    lambda: b.find_boundary(FIRST, NOISE[:12, 0]),
    lambda: b.find_boundary(np.tile([0, 1], 30), NOISE[:, 1]),
    # Rows that look like copies of each other.
    lambda: b.certify(*TWICE, 0.5, cluster=np.arange(1000)),
    lambda: b.certify(*TWICE, 0.5, probability=(1.0, 1.0)),
    lambda: b.certify(*TWICE, 0.5, probability=np.ones(1000), least_probability=1.0),
    lambda: b.certify(YS[UPSAMPLED], S[UPSAMPLED], 0.5),
    lambda: b.find_zone(*TWICE, errors=0.3),
    lambda: b.find_zone(YS[UPSAMPLED], S[UPSAMPLED], errors=0.3),
    lambda: b.find_zone(*TWICE, precision=0.3, npv=0.7),
    lambda: b.find_boundary(*TWICE, rule=Floors(recall=0.8)),
    lambda: b.find_boundary(YS[UPSAMPLED], S[UPSAMPLED], rule=Floors(recall=0.8)),
    lambda: b.estimate_rate(*TWICE, NOISE[:, 0]),
    lambda: b.compare_boundaries(*TWICE, 0.5, TWICE[1], 0.7, cost=b.Cost()),
    lambda: streaming.Tally.of([(YS, S), (YS, S)]).certify(0.5),
    # Scores that were rounded on their way through a file.
    lambda: b.certify(YS, S.round(4), BD),
    lambda: b.certify(YS, [float(f"{score:.6g}") for score in S], BD),
    lambda: b.certify(YS, S.astype("float16"), BD),
    lambda: b.certify(YS, expit(S).round(4), b.find_boundary(YS, expit(S))),
    lambda: M.certify(DF.round(4), Y),
    lambda: LOGISTIC.certify(X.round(3), Y),
    # Rows with a label among those without one.
    lambda: b.estimate_rate(YS, S, S),
    lambda: b.certify(YS, S, 0.5, unlabelled=np.append(S, UNSEEN)),
    # The positive class of labels 1 and 2 is not known.
    lambda: answered(b.Audit(S, 0.0, Floors(specificity=0.2)), YS + 1),
    lambda: b.certify(YS, S, 0.5, chosen_here=None),
    lambda: b.certify_counts((1, 1), (40, 10), (0, 0)),
    lambda: b.compare_boundaries(
        Y, LOGISTIC.positive_scores(X), LOGISTIC.boundary_, X[:, 0], 0.0, cost=b.Cost()
    ),
    lambda: b.Zone.from_json(b.find_zone(YS, S, 0.3).to_json().replace("0.3", "0.001")),
    lambda: b.Zone.from_json(
        b.find_zone(YS[395:405], S[395:405], 0.5, 0.5).to_json().replace(": 0.5", ": 0.999")
    ),
]


@pytest.mark.parametrize("call", CALLS)
def test_no_natural_call_claims_what_is_false(call):
    with warnings.catch_warnings(action="ignore"):
        try:
            found = call()
        except ValueError:  # with a sentence, as other tests show
            return
    if isinstance(found, b.Boundary):
        assert found.status != "OPTIMAL"
        assert not found.guaranteed
    else:
        # For every threshold at once: the price of a choice by these rows.
        is_paid = getattr(found, "method", None) == "uniform" and "chosen on these" in found.reason
        assert is_paid or found.status == "nominal"
