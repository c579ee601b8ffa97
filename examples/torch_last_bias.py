"""
A network's last bias, shifted in place
=======================================

A small PyTorch network is trained on an imbalanced problem. boundshift looks at its logits on rows
that it has not seen, and the bias of its last layer takes the shift: afterwards the network decides
by ``logit > 0`` as before, finds more of the rare class, and needs nothing of boundshift.

Run: ``python examples/torch_last_bias.py`` (a few seconds on one core).
"""

from __future__ import annotations

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.model_selection import train_test_split
from torch import nn

from boundshift import BoundShiftClassifier


def train(X: np.ndarray, y: np.ndarray, epochs: int = 60) -> nn.Sequential:
    """Train a network of one hidden layer on its logit."""
    network = nn.Sequential(nn.Linear(X.shape[1], 32), nn.ReLU(), nn.Linear(32, 1))
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    loss = nn.BCEWithLogitsLoss()
    rows = torch.from_numpy(X)
    target = torch.from_numpy(y).float()[:, None]
    for _ in range(epochs):
        optimiser.zero_grad()
        loss(network(rows), target).backward()
        optimiser.step()
    return network.eval()


def predict(network: nn.Module, X: np.ndarray) -> np.ndarray:
    """Decide as ever: by the sign of the logit."""
    with torch.no_grad():
        return (network(torch.from_numpy(X))[:, 0] > 0).long().numpy()


def main() -> dict[str, float]:
    """Train, shift in place, and compare on rows that nobody has seen."""
    torch.manual_seed(0)
    X, y = make_classification(
        12_000, n_features=10, n_informative=6, weights=[0.97], class_sep=1.2, random_state=0
    )
    X = X.astype(np.float32)
    X_train, X_rest, y_train, y_rest = train_test_split(X, y, stratify=y, random_state=0)
    X_val, X_test, y_val, y_test = train_test_split(
        X_rest, y_rest, stratify=y_rest, train_size=0.4, random_state=0
    )
    network = train(X_train, y_train)
    untouched = predict(network, X_test)

    shifted = BoundShiftClassifier(network, cv="prefit").fit(X_val, y_val)
    with torch.no_grad():
        network[-1].bias -= shifted.threshold_
    moved = predict(network, X_test)

    facts = {}
    for name, found in (("untouched", untouched), ("shifted", moved)):
        facts[name] = float(balanced_accuracy_score(y_test, found))
        recall = recall_score(y_test, found)
        print(
            f"{name:<10} balanced accuracy {facts[name]:.3f}, recall of the rare class {recall:.3f}"
        )
    return facts


if __name__ == "__main__":
    main()
