import numpy as np
import pytest
from matplotlib import pyplot

from boundshift import InvalidInputError, Monitor
from boundshift._promises.certificate import certify_counts
from boundshift.plots import MonitorDisplay

CERTIFICATE = certify_counts((5, 5), (100, 100), ("no", "yes"), threshold=0.5)


def test_draws_running_errors_and_evidence():
    scores = [0.1, 0.9] * 29 + [0.8, 0.2]
    monitor = Monitor(CERTIFICATE).update(["no", "yes"] * 30, scores, when=np.arange(60))
    top, bottom = MonitorDisplay.from_monitor(monitor).axes_
    drawn = {len(line.get_ydata()): line for line in top.lines}
    np.testing.assert_allclose(drawn[30].get_ydata()[-1], 1 / 30)
    evidence = [line.get_ydata() for line in bottom.lines if len(line.get_ydata()) == 30]
    np.testing.assert_allclose([e[-1] for e in evidence], monitor.e_values)
    assert top.get_title() == "No evidence against the certificate"
    assert bottom.get_xlabel() == "rows seen"


def test_an_alarm_is_named_and_marked():
    monitor = Monitor(CERTIFICATE)
    monitor.update(["no", "yes"] * 30, [0.1, 0.9] * 30, when="2026-01-31")
    monitor.update(["yes"] * 30, [0.1] * 30, when="2026-02-28")
    display = MonitorDisplay.from_monitor(monitor)
    assert display.axes_[0].get_title() == "Errors of class yes exceed the certificate"
    assert display.axes_[1].get_xlabel() == "date"
    assert display.axes_[0].patches


def test_one_class_alone_and_many_classes_are_drawn():
    MonitorDisplay.from_monitor(Monitor(CERTIFICATE).update(["no"] * 5, [0.1] * 5))
    many = certify_counts((1,) * 5, (50,) * 5, tuple("abcde"))
    monitor = Monitor(many).update_predictions(list("abcde") * 9, list("abcdd") * 9)
    MonitorDisplay.from_monitor(monitor, ax=pyplot.subplots()[1])


def test_a_monitor_without_rows_is_refused():
    with pytest.raises(InvalidInputError, match="must have seen rows"):
        MonitorDisplay.from_monitor(Monitor(CERTIFICATE))
