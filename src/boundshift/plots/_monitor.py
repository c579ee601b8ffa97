"""The evidence against a certificate as labelled rows arrive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from boundshift._guarantees.monitor import Alarm, ClassPath, Monitor
from boundshift._words import at_most, percent
from boundshift.exceptions import InvalidInputError
from boundshift.plots._canvas import DASHES, Display, Palette, add_legend, line_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Evidence outside is drawn at these.
_LEAST = 0.01
_GREATEST = 1e100


@dataclass(eq=False, repr=False)
class MonitorDisplay(Display):
    """The evidence against a certificate, as labelled rows arrive after deployment.

    Each class has a line. An alarm is raised where it reaches the limit; a dot marks it, and the
    shaded strip begins where the errors probably became too many. The legend shows the observed
    error rate of all rows, with its 95% interval, beside the guaranteed one. The horizontal axis
    has dates if every batch has one.

    Parameters
    ----------
    paths : tuple of ClassPath
        From a monitor's :attr:`~boundshift.Monitor.paths`.
    e_value_needed : float
        The evidence at which an alarm is raised.
    alarms : tuple of Alarm, default=()
        Those that were raised.

    See Also
    --------
    MonitorDisplay.from_monitor : Draw a `Monitor`.

    Examples
    --------
    >>> from boundshift import Monitor, certify
    >>> from boundshift.plots import MonitorDisplay
    >>> certificate = certify([0] * 90 + [1] * 60, [0.1] * 90 + [0.9] * 60, 0.5)
    >>> monitor = Monitor(certificate).update([0, 1] * 50, [0.2, 0.8] * 50)
    >>> MonitorDisplay.from_monitor(monitor).ax_.get_title()
    'No evidence against the certificate'
    """

    size = (8.0, 4.2)

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
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        display : the display, drawn
        """
        if not monitor.rows:
            raise InvalidInputError(
                "must have seen rows to be drawn, got none. Call update first.", argument="monitor"
            )
        return cls(monitor.paths, monitor.e_value_needed, monitor.alarms).plot(ax)

    def _draw(self, palette: Palette) -> None:
        ax = self.ax_
        has_dates = all(_is_date(when) for path in self.paths for when in path.when)
        keys = []
        colors = {}
        for place, path in enumerate(self.paths):
            # Classes after the second differ by their dashes.
            colors[path.label] = (*palette.classes, palette.soft)[min(place, 2)]
            dashes = DASHES[place % len(DASHES)]
            style: dict[str, Any] = {"color": colors[path.label], "ls": dashes, "lw": 2}
            keys.append(line_key(_describe(path), **style))
            x = _places(path.when, path.rows, has_dates=has_dates)
            marker = "o" if len(x) == 1 else ""
            evidence = np.exp(np.minimum(path.log_e_values, np.log(_GREATEST)))
            ax.plot(x, evidence, marker=marker, **style)
        for alarm in self.alarms:
            self._draw_alarm(alarm, colors[alarm.label], palette, has_dates=has_dates)
        limit: dict[str, Any] = {"color": palette.ink, "lw": 1.2}
        ax.axhline(self.e_value_needed, **limit)
        keys.append(line_key("enough for an alarm", **limit))
        ax.set_yscale("log")
        # A certificate that is kept for long has evidence of nearly zero: that much is not drawn.
        ax.set_ylim(bottom=_LEAST, top=max(3 * self.e_value_needed, ax.get_ylim()[1]))
        ax.set(xlabel="date" if has_dates else "rows seen", ylabel="evidence")
        labels = ", ".join(str(alarm.label) for alarm in self.alarms)
        alarmed = f"Alarm: class {labels} exceeded the guaranteed error rate"
        ax.set_title(alarmed if self.alarms else "No evidence against the certificate")
        if has_dates:
            from matplotlib import dates

            locator = dates.AutoDateLocator(maxticks=7)  # type: ignore[no-untyped-call]
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
        add_legend(ax, keys, palette, below=0.17)

    def _draw_alarm(self, alarm: Alarm, color: Any, palette: Palette, *, has_dates: bool) -> None:
        """Mark the alarm, and shade the rows that it counts."""
        # Excess errors that begin within the rows of a date have none of their own.
        since = alarm.when if alarm.since is None else alarm.since
        rows = np.array([alarm.since_row, alarm.row])
        first, last = _places((since, alarm.when), rows, has_dates=has_dates)
        self.ax_.axvspan(first, last, color=color, alpha=0.12, lw=0)
        mark: dict[str, Any] = {"color": color, "ms": 9, "mec": palette.surface, "mew": 1.5}
        self.ax_.plot([last], [self.e_value_needed], "o", **mark)


def _describe(path: ClassPath) -> str:
    """Return what the legend says of a class: the observed error rate beside the bound."""
    bound = f"guaranteed at most {at_most(path.bound)}"
    if not len(path.rows):
        return f"class {path.label}: no rows,\n{bound}"
    observed = percent(path.error)
    if path.error_interval is not None:
        low, high = map(percent, path.error_interval)
        observed = f"{observed} ({low} to {high})"
    return f"class {path.label}: {observed},\n{bound}"


def _places(when: Any, rows: NDArray[np.int64], *, has_dates: bool) -> NDArray[Any]:
    return np.array(when, dtype="datetime64[s]") if has_dates else rows


def _is_date(when: object) -> bool:
    try:
        return isinstance(when, str) and not np.isnat(np.datetime64(when))
    except ValueError:
        return False
