"""The paper's problems: which data, how split, which classifier."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np

from boundshift.exceptions import InvalidInputError
from lab.data.paper import PaperSplit, load_mimic, paper_split

Protocol = Literal["honest", "paper"]
MimicRows = Literal["paper", "all"]
ClassifierKind = Literal["logistic-regression", "rbf-machine", "network"]


@dataclass(frozen=True)
class Problem:
    """One data set with the classifier that the paper trains on it.

    `data` is what :func:`~lab.data.paper.paper_split` takes; `scale` says whether features are
    scaled to [−1, 1] on the training part.
    """

    name: str
    title: str
    data: Any
    classifier: ClassifierKind = "rbf-machine"
    scale: bool = True

    @property
    def key(self) -> str:
        """Name in the cache; a user's own file is known by its content."""
        if isinstance(self.data, str):
            return self.name
        content = np.ascontiguousarray(np.column_stack([self.data.data, self.data.target]))
        return f"{self.name}-{hashlib.sha256(content.tobytes()).hexdigest()[:12]}"

    def split(self, seed: int, protocol: Protocol) -> PaperSplit:
        """Draw the split of a seed: the authors' own in protocol "paper", else a clean one."""
        kind: Literal["authors", "clean"] = "authors" if protocol == "paper" else "clean"
        return paper_split(self.data, seed, protocol=kind, scale=self.scale)

    def smote_state(self, seed: int, protocol: Protocol) -> int | np.random.RandomState:
        """Return SMOTE's source of randomness.

        The authors do not seed SMOTE, but they seed NumPy's global generator when they split, and
        that is where SMOTE draws from. The seed 1 is taken for True and becomes 0; of the
        synthetic problem 1000 points have been drawn since.
        """
        if protocol == "honest":
            return seed
        state = np.random.RandomState(0 if seed == 1 else seed)
        if isinstance(self.data, str) and self.data == "synthetic":
            state.multivariate_normal([1, 1], np.eye(2), size=1000)
        return state


PROBLEMS: dict[str, Problem] = {
    problem.name: problem
    for problem in (
        Problem("synthetic", "Synthetic, scaled", "synthetic", "logistic-regression"),
        Problem("synthetic-raw", "Synthetic, raw", "synthetic", "logistic-regression", False),
        Problem("pima", "Pima Diabetes", "pima"),
        Problem("breast-cancer", "Breast Cancer", "breast_cancer"),
        Problem("hepatitis", "Hepatitis", "hepatitis"),
        Problem("heart", "Heart Disease", "heart"),
    )
}
"""Name → problem, for those whose data are bundled."""


def choose_problems(
    choice: str,
    *,
    mimic_file: str | PathLike[str] | None = None,
    mimic_rows: MimicRows = "paper",
) -> list[Problem]:
    """Return the problems meant by a word of the command line.

    "synthetic" is the problem on scaled and on raw features; "all" holds MIMIC-III only if its
    file is given.
    """
    if choice == "mimic" and mimic_file is None:
        raise InvalidInputError(
            "The problem 'mimic' needs a file of your own, got none. Use --mimic-file PATH with "
            "fm_MIMIC_IMPUTED_extended.csv, built from MIMIC-III "
            "(https://physionet.org/content/mimiciii/)."
        )
    chosen = [p for p in PROBLEMS.values() if choice in (p.name, p.data, "all")]
    if mimic_file is not None and choice in ("mimic", "all"):
        data = load_mimic(mimic_file, rows=mimic_rows)
        chosen.append(Problem("mimic", "MIMIC ICU", data, "network"))
    return chosen
