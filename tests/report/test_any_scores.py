"""Whatever the scores, a report can be made and its numbers are right."""

import json
import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from boundshift import BoundaryWarning, find_boundary
from boundshift.report import collect_facts, render_report

ordinary = st.integers(-5, 5).map(float)
# Beside huge scores, tiny ones count as zero.
wild = st.floats(-1e280, 1e280).filter(lambda x: x == 0 or abs(x) > 1e-9)
shares = st.floats(0, 1)


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from([ordinary, wild, shares]).flatmap(
        lambda kind: st.tuples(
            st.lists(kind, min_size=1, max_size=12), st.lists(kind, min_size=1, max_size=12)
        )
    ),
    st.booleans(),
    st.sampled_from(["support", "logistic", "smoothed", "clopper-pearson"]),
)
def test_a_report_can_be_made_of_any_scores(scores, tested, curve):
    negative, positive = map(np.array, scores)
    y = np.repeat([0, 1], [len(negative), len(positive)])
    s = np.concatenate([negative, positive])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        boundary = find_boundary(y, s, curve=curve)
    known = collect_facts(y, s, boundary=boundary, test=(y, s) if tested else None)
    json.dumps(known, allow_nan=False)
    assert render_report(known).endswith("</html>")
    stops = known["stops"]
    thresholds = np.array(stops["threshold"])
    assert np.all(np.diff(thresholds) >= 0)
    assert np.all(np.diff(stops["at"]) >= 0)
    assert thresholds[stops["marks"]["shifted"]] == boundary.threshold
    assert thresholds[stops["marks"]["old"]] == known["old"]["threshold"]
    for i in (0, 500, 1000, stops["marks"]["shifted"]):
        assert stops["wrong"][0][i] == np.sum(negative > thresholds[i])
        assert stops["wrong"][1][i] == np.sum(positive <= thresholds[i])
    for i, values in enumerate((negative, positive)):
        assert sum(known["projection"]["classes"][i]["counts"]) == len(values)
