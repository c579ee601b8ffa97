"""Write the tables of the stories, as messy as those that people have.

``python tests/stories/make_tables.py FOLDER`` writes them.
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


def make_screening(n=20_000, seed=3, share=0.005):
    """Patients of whom one in two hundred is ill, or another share."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < share
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


def make_german():
    """The customers as a German export has them: umlauts, and words for classes."""
    german = {"gone": "gekündigt", "stayed": "treu", "family": "Familie", "premium": "Prämie"}
    names = ["Kundennr", "Kunde seit", "Gesprächsminuten", "Tarif", "Beschwerden", "Kündigung"]
    return make_churn().replace(german).set_axis(names, axis=1)


def make_named(n=2000, seed=4):
    """Donors with their names."""
    rng = np.random.default_rng(seed + 1000)
    first = rng.choice(["Ayşe", "Jörg", "Mary", "Zoë"], n)
    return make_calls(n, seed).assign(
        name=[f"{a} {b}" for a, b in zip(first, range(n), strict=True)]
    )


def make_machines(n=1500, seed=6):
    """Machines of which some were written twice, and some were never inspected."""
    rng = np.random.default_rng(seed)
    broken = rng.random(n) < 0.15
    state = np.where(broken, "broken", "fine").astype(object)
    state[rng.random(n) < 0.08] = "not inspected"
    table = pd.DataFrame(
        {
            "heat": rng.normal(60 + 14 * broken, 9).round(2),
            "noise": np.where(rng.random(n) < 0.05, np.nan, rng.normal(1.0 * broken).round(3)),
            "site": rng.choice(["north", "south"], n),
            "state": state,
        }
    )
    return pd.concat([table, table.sample(400, random_state=seed)], ignore_index=True)


def write_tables(folder):
    """Write every table of the stories."""
    folder = Path(folder)
    make_fraud().to_csv(folder / "fraud.csv", index=False)
    make_churn().to_csv(folder / "churn.csv", index=False, sep=";")
    make_screening().to_csv(folder / "screening.csv", index=False)
    make_calls().to_csv(folder / "calls.csv", index=False)
    make_calls(600, seed=5).drop(columns="gives").to_csv(folder / "next_week.csv", index=False)


def write_stories(folder):
    """Write the tables of the five stories told in test_stories.py."""
    folder = Path(folder)
    make_german().to_csv(folder / "kunden.csv", index=False, sep=";", encoding="cp1252")
    with pd.ExcelWriter(folder / "machines.xlsx") as book:
        make_machines().to_excel(book, sheet_name="Inspections", index=False, startrow=2)
        book.sheets["Inspections"].cell(1, 1, "Machines inspected in 2025")
        pd.DataFrame({"note": ["heat in °C"]}).to_excel(book, sheet_name="Notes", index=False)
    make_named().to_csv(folder / "donors.csv", index=False)
    make_named(600, seed=5).drop(columns="gives").to_csv(folder / "next_week.csv", index=False)
    make_screening(3000, seed=8, share=0.12).to_csv(folder / "clinic.csv", index=False)


if __name__ == "__main__":
    write_tables(sys.argv[1])
    write_stories(sys.argv[1])
