"""Error rates after deployment beside what certificates say, and the evidence against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from boundshift._promises.monitor import Alarm, ClassPath, Monitor
from boundshift._words import error_text
from boundshift.exceptions import InvalidInputError
from boundshift.plots._canvas import (
    DASHES,
    Display,
    Palette,
    add_legend,
    line_key,
    percent_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class MonitorDisplay(Display):
    """Error rates after deployment, and the evidence against the certificate.

    Above, the share of each class on the wrong side among all its rows so far, beside its
    stated bound (thin line). Below, the evidence against each bound, which raises an alarm
    where it reaches the upper line; a dot is an alarm, and the shaded strip begins where the
    errors became too many. The horizontal axis has dates if every batch has one.

    Parameters
    ----------
    paths : tuple of ClassPath
        From a monitor's :attr:`~boundshift.Monitor.paths`.
    e_value_needed : float
        The evidence at which an alarm is raised.
    alarms : tuple of Alarm, default=()
        Those that were raised.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        Error rates above, evidence below.

    See Also
    --------
    MonitorDisplay.from_monitor : Draw a `Monitor`.

    Examples
    --------
    >>> from boundshift import Monitor, certify
    >>> from boundshift.plots import MonitorDisplay
    >>> certificate = certify([0] * 90 + [1] * 60, [0.1] * 90 + [0.9] * 60, 0.5)
    >>> monitor = Monitor(certificate).update([0, 1] * 50, [0.2, 0.8] * 50)
    >>> MonitorDisplay.from_monitor(monitor).axes_[1].get_ylabel()
    'evidence'
    """

    size = (8.0, 5.2)
    panels = 2
    heights = (1.6, 1)

    paths: tuple[ClassPath, ...]
    e_value_needed: float
    alarms: tuple[Alarm, ...] = ()

    @classmethod
    def from_monitor(cls, monitor: Monitor, *, ax: Axes | None = None) -> Self:
        """Draw a monitor.

        Parameters
        ----------
        monitor : Monitor
            With rows of one class at least.
        ax
            As in :meth:`plot`.

        Returns
        -------
        display : the display, drawn
        """
        if not any(len(path.rows) for path in monitor.paths):
            raise InvalidInputError(
                "`monitor` must have seen rows to be drawn, got none. Call update first."
            )
        return cls(monitor.paths, monitor.e_value_needed, monitor.alarms).plot(ax)

    def _draw(self, palette: Palette) -> None:
        top, bottom = self.axes_
        keys = []
        for i, path in enumerate(self.paths):
            style = self._style(i, palette)
            keys.append(line_key(f"class {path.label}, at most {error_text(path.bound)}", **style))
            if not len(path.rows):
                continue
            x = self._places(path.when, path.rows)
            style["marker"] = "o" if len(x) == 1 else ""
            top.plot(x, path.wrong / path.n_samples, **style)
            if path.bound < 1:
                top.axhline(path.bound, **(style | {"lw": 1}))
                bottom.plot(x, np.exp(np.minimum(path.log_e_values, 300)), **style)
        bottom.set_yscale("log")
        bottom.axhline(self.e_value_needed, color=palette.ink, lw=1.2)
        bottom.set_ylabel("evidence")
        # A certificate that is kept for long has evidence of nearly zero: that much is not drawn.
        seen = [path.log_e_values.max() for path in self.paths if len(path.rows)]
        bottom.set_ylim(0.01, max(3 * self.e_value_needed, 2 * float(np.exp(min(max(seen), 300)))))
        top.set_ylim(bottom=0)
        top.set_ylabel("error rate")
        percent_axis(top.yaxis)
        top.tick_params(labelbottom=False)
        bottom.set_xlabel("date" if self._has_dates else "rows seen")
        if self._has_dates:
            from matplotlib import dates

            locator = dates.AutoDateLocator(maxticks=7)  # type: ignore[no-untyped-call]
            bottom.xaxis.set_major_locator(locator)
            bottom.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
        for alarm in self.alarms:
            self._draw_alarm(alarm, palette)
        labels = ", ".join(str(alarm.label) for alarm in self.alarms)
        told = f"Errors of class {labels} exceed the certificate"
        top.set_title(told if self.alarms else "No evidence against the certificate")
        keys.append(line_key("enough for an alarm", color=palette.ink, lw=1.2))
        add_legend(bottom, keys, palette, below=0.3)

    def _draw_alarm(self, alarm: Alarm, palette: Palette) -> None:
        """Mark an alarm, and shade from where its errors began."""
        ends = self._places((alarm.since, alarm.when), np.array([alarm.since_row, alarm.row]))
        place = [path.label for path in self.paths].index(alarm.label)
        color = self._style(place, palette)["color"]
        for axes in self.axes_:
            axes.axvspan(ends[0], ends[1], color=color, alpha=0.12, lw=0)
        self.axes_[1].plot(
            ends[1:], [self.e_value_needed], "o", color=color, ms=9, mec=palette.surface, mew=1.5
        )

    @property
    def _has_dates(self) -> bool:
        return all(_as_date(when) is not None for path in self.paths for when in path.when)

    def _places(self, when: tuple[Any, ...], rows: NDArray[np.int64]) -> NDArray[Any]:
        return np.array([_as_date(w) for w in when]) if self._has_dates else rows

    @staticmethod
    def _style(i: int, palette: Palette) -> dict[str, Any]:
        """Return the look of a class's lines; those after the second differ by their dashes."""
        color = (*palette.classes, palette.soft)[min(i, 2)]
        return {"color": color, "ls": DASHES[i % 4], "lw": 2}


def _as_date(when: object) -> np.datetime64 | None:
    """Return a date written as such; None for anything else."""
    if not isinstance(when, str):
        return None
    try:
        date = np.datetime64(when)
    except ValueError:
        return None
    return None if np.isnat(date) else date.astype("datetime64[s]")
