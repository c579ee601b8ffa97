"""A file like the one that users of MIMIC-III have."""

import csv

import numpy as np

from lab.data.paper import MIMIC_FEATURES

HEADER = ["icustay_id", *MIMIC_FEATURES, "cohort", "age", "sex", "bmi", "los", "outcome"]


def write_mimic(path, outcomes, header=HEADER):
    """Write stays; the airway column holds the row's number, the other signs show the outcome."""
    rng = np.random.default_rng(0)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for stay, outcome in enumerate(outcomes):
            signs = rng.normal(50 + 15 * outcome, 10, len(HEADER)).round(2).tolist()
            row = dict(zip(HEADER, signs, strict=True))
            row |= {"icustay_id": stay, "outcome": outcome, "airway": stay, "cohort": "MIMIC"}
            writer.writerow([row[name] for name in header])
    return path
