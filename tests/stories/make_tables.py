"""Write the tables of four stories, as messy as those that people have.

``python tests/stories/make_tables.py FOLDER`` writes fraud.csv, churn.csv, screening.csv, calls.csv
and next_week.csv.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd


def make_fraud(n=4000, seed=1):
    """Payments with ids, amounts with a currency, gaps, and a rare fraud."""
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.03
    amount = np.exp(rng.normal(3.5 + 1.2 * fraud, 1.0))
    hour = np.where(fraud, rng.choice([1, 2, 3, 4, 14], n), rng.integers(6, 23, n))
    return pd.DataFrame(
        {
            "payment_id": [f"TX-{i:07d}" for i in rng.permutation(10 * n)[:n]],
            "amount": [f"€{a:,.2f}" for a in amount],
            "hour": hour,
            "country": np.where(rng.random(n) < 0.04, "", rng.choice(["DE", "FR", "PL"], n)),
            "new_card": np.where(rng.random(n) < 0.3 + 0.4 * fraud, "true", "false"),
            "currency": "EUR",
            "fraud": fraud.astype(int),
        }
    )


def make_churn(n=2500, seed=2):
    """Customers with dates, decimal commas, and labels that are missing for some."""
    rng = np.random.default_rng(seed)
    left = rng.random(n) < 0.12
    minutes = np.clip(rng.normal(220 - 90 * left, 60), 0, None)
    since = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D")
    label = np.where(left, "gone", "stayed").astype(object)
    label[rng.random(n) < 0.02] = ""
    return pd.DataFrame(
        {
            "customer no": np.arange(70_000, 70_000 + n),
            "since": since.strftime("%d.%m.%Y"),
            "minutes": [f"{m:.1f}".replace(".", ",") for m in minutes],
            "plan": rng.choice(["basic", "family", "premium"], n, p=[0.6, 0.3, 0.1]),
            "complaints": np.where(rng.random(n) < 0.1, "NA", rng.poisson(0.3 + 1.4 * left)),
            "state": label,
        }
    )


def make_screening(n=20_000, seed=3):
    """Patients of whom one in two hundred is ill."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.005
    marker = np.exp(rng.normal(1.5 * ill, 0.6))
    return pd.DataFrame(
        {
            "MRN": rng.permutation(10**6)[:n] + 10**6,
            "age": np.clip(rng.normal(55 + 9 * ill, 12), 18, 95).round(),
            "marker": np.where(rng.random(n) < 0.03, np.nan, marker.round(3)),
            "sex": rng.choice(["f", "m"], n),
            "ill": np.where(ill, "yes", "no"),
        }
    )


def make_calls(n=2000, seed=4):
    """Donors, some of whom will give again."""
    rng = np.random.default_rng(seed)
    gives = rng.random(n) < 0.1
    return pd.DataFrame(
        {
            "donor_id": [f"D{i:05d}" for i in rng.permutation(n)],
            "last_gift": np.exp(rng.normal(3 + 0.8 * gives, 0.7)).round(2),
            "years": rng.poisson(2 + 2 * gives),
            "channel": rng.choice(["mail", "phone", "web"], n),
            "gives": gives,
        }
    )


def write_tables(folder):
    """Write every table of the stories."""
    folder = Path(folder)
    make_fraud().to_csv(folder / "fraud.csv", index=False)
    make_churn().to_csv(folder / "churn.csv", index=False, sep=";")
    make_screening().to_csv(folder / "screening.csv", index=False)
    make_calls().to_csv(folder / "calls.csv", index=False)
    make_calls(600, seed=5).drop(columns="gives").to_csv(folder / "next_week.csv", index=False)


if __name__ == "__main__":
    write_tables(sys.argv[1])
