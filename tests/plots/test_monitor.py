import numpy as np
import pytest

from boundshift import InvalidInputError, Monitor
from boundshift._guarantees.certificate import certify_counts
from boundshift.plots import MonitorDisplay

CERTIFICATE = certify_counts((5, 5), (100, 100), ("no", "yes"), threshold=0.5)


@pytest.mark.parametrize("dated", [True, False])
def test_evidence_limit_and_alarm_are_drawn(dated):
    monitor = Monitor(CERTIFICATE)
    for month, wrong in enumerate((0, 1, 15), 1):
        scores = [0.1] * 30 + [0.9] * (30 - wrong) + [0.2] * wrong
        monitor.update(["no"] * 30 + ["yes"] * 30, scores, f"2026-0{month}" if dated else None)
    ax = MonitorDisplay.from_monitor(monitor).ax_
    no, yes, alarm, limit = ax.lines
    for line, path in zip((no, yes), monitor.paths, strict=True):
        np.testing.assert_allclose(line.get_ydata(), np.exp(path.log_e_values))
        x = np.array(["2026-01", "2026-02", "2026-03"], "datetime64[s]") if dated else path.rows
        np.testing.assert_array_equal(line.get_xdata(), x)
    assert yes.get_ydata()[-1] == pytest.approx(monitor.e_values[1])
    assert limit.get_ydata() == pytest.approx([40, 40])
    assert alarm.get_xdata()[0] == x[2]
    assert ax.get_title() == "Alarm: class yes exceeded the guaranteed error rate"
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "class yes: 17.8% (10.5% to 27.3%),\nguaranteed at most 10.3%" in legend
    assert ax.get_xlabel() == ("date" if dated else "rows seen")


def test_one_class_alone_is_drawn_and_a_monitor_without_rows_refused():
    assert MonitorDisplay.from_monitor(Monitor(CERTIFICATE).update(["no"], [0.1])).ax_.lines
    with pytest.raises(InvalidInputError, match="must have seen rows"):
        MonitorDisplay.from_monitor(Monitor(CERTIFICATE))
