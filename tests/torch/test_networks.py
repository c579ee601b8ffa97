"""PyTorch modules are scored by their logits, skorch networks by their probabilities."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import skorch
import torch
from sklearn.datasets import make_classification
from torch import nn

from boundshift import (
    BoundShiftClassifier,
    find_boundary,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)
    torch.set_num_threads(1)


def draw(n_classes=2):
    X, y = make_classification(
        1500, n_features=6, n_informative=5, n_redundant=0, n_classes=n_classes,
        n_clusters_per_class=1, weights=[0.9] if n_classes == 2 else [0.7, 0.2], class_sep=1.5,
        random_state=0,
    )  # fmt: skip
    return X.astype(np.float32), y


def network(n_outputs, *, noisy=False):
    noise = [nn.Dropout(0.5), nn.BatchNorm1d(8)] if noisy else []
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), *noise, nn.Linear(8, n_outputs))


def train(module, X, y, epochs=40):
    """Train a module on logits."""
    outputs = module(torch.from_numpy(X[:2])).shape[1]
    loss = nn.BCEWithLogitsLoss() if outputs == 1 else nn.CrossEntropyLoss()
    target = torch.from_numpy(y).float()[:, None] if outputs == 1 else torch.from_numpy(y)
    optimiser = torch.optim.Adam(module.parameters(), lr=0.05)
    rows = torch.from_numpy(X)
    for _ in range(epochs):
        optimiser.zero_grad()
        loss(module(rows), target).backward()
        optimiser.step()
    return module


def logits(module, X):
    with torch.no_grad():
        return module(torch.from_numpy(X)).double().numpy()


def state(module):
    return {name: value.clone() for name, value in module.state_dict().items()}


# Scores of a plain module.


@pytest.mark.parametrize(("n_classes", "n_outputs"), [(2, 1), (2, 2), (3, 3)])
def test_a_module_is_scored_by_its_logits(n_classes, n_outputs):
    X, y = draw(n_classes)
    module = train(network(n_outputs), X[:500], y[:500])
    clf = BoundShiftClassifier(module, cv="prefit").fit(X[500:1000], y[500:1000])
    raw = logits(module, X)
    if n_classes == 2:
        scores = raw[:, 0] if n_outputs == 1 else raw[:, 1] - raw[:, 0]
        assert clf.boundary_ == find_boundary(y[500:1000], scores[500:1000])
        expected = (scores > clf.threshold_).astype(int)
    else:
        expected = (raw + clf.biases_).argmax(axis=1)
    np.testing.assert_array_equal(clf.predict(X), expected)


def test_a_module_is_left_as_it_was():
    X, y = draw()
    module = train(network(1, noisy=True), X[:500], y[:500])
    module[2].eval()  # a mode of a part is kept too
    before = state(module)
    modes = [part.training for part in module.modules()]
    clf = BoundShiftClassifier(module, cv="prefit").fit(X[500:], y[500:])
    clf.predict(X)
    assert clf.estimator_ is module
    assert [part.training for part in module.modules()] == modes
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_modules_of_other_precision(dtype):
    X, y = draw()
    module = train(network(1), X[:500], y[:500]).to(dtype)
    clf = BoundShiftClassifier(module, cv="prefit").fit(X[500:], y[500:])
    assert clf.boundary_.status.solved
    many = np.tile(X, (12, 1))  # scored in batches
    assert clf.positive_scores(many).dtype == np.float64
    np.testing.assert_array_equal(clf.positive_scores(many)[-len(X) :], clf.positive_scores(X))


# skorch.


def net(kind, outputs, criterion, **options):
    return kind(
        network, module__n_outputs=outputs, criterion=criterion, max_epochs=8, lr=0.1, verbose=0,
        train_split=None, **options,
    )  # fmt: skip


NETS = {
    "binary": (skorch.NeuralNetBinaryClassifier, 1, nn.BCEWithLogitsLoss, 2),
    "two outputs": (skorch.NeuralNetClassifier, 2, nn.CrossEntropyLoss, 2),
    "three outputs": (skorch.NeuralNetClassifier, 3, nn.CrossEntropyLoss, 3),
}


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("cv", ["prefit", 2])
def test_skorch_is_scored_by_its_probabilities(name, cv):
    kind, outputs, criterion, n_classes = NETS[name]
    X, y = draw(n_classes)
    target = y.astype(np.float32) if outputs == 1 else y
    model = net(kind, outputs, criterion)
    if cv == "prefit":
        model.fit(X[:500], target[:500])
    clf = BoundShiftClassifier(model, cv=cv, ensemble=False).fit(X[500:1000], target[500:1000])
    p = clf.estimator_.predict_proba(X).astype(np.float64)
    if n_classes == 2:
        expected = (p[:, 1] > clf.threshold_).astype(int)
    else:
        expected = (np.log(p) + clf.biases_).argmax(axis=1)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[expected])


# The example.


def test_the_example_runs(capsys):
    facts = runpy.run_path(str(ROOT / "examples" / "torch_last_bias.py"))["main"]()
    assert facts["shifted"] > facts["untouched"] + 0.02
    assert "recall of the rare class" in capsys.readouterr().out
