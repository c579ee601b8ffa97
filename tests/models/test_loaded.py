"""Files made to crash, to exhaust memory or to loop are refused with a sentence."""

import io
import json
import zipfile

import numpy as np
import pytest
import skops
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from boundshift import InvalidInputError, MissingExtraError, load, save


@pytest.fixture(scope="module")
def data():
    return make_classification(120, n_features=5, random_state=0)


def rewritten(path, change):
    """Write the members of a file of skops anew, as `change` has them."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members = change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def with_arrays(change):
    """Return what changes every array of a file."""

    def changed(members):
        for name in [n for n in members if n.endswith(".npy")]:
            array = change(np.load(io.BytesIO(members[name])))
            buffer = io.BytesIO()
            np.save(buffer, array)
            members[name] = buffer.getvalue()
        return members

    return changed


def set_field(field, value):
    def change(array):
        if array.dtype.names and field in array.dtype.names:
            array[field][0] = value
        return array

    return with_arrays(change)


MODELS = [
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(3, random_state=0),
    GradientBoostingClassifier(n_estimators=3, random_state=0),
    HistGradientBoostingClassifier(max_iter=3),
    SVC(),
]
TREE, FOREST, BOOSTING, HISTOGRAMS, _ = MODELS
ASTRAY = [
    (TREE, "left_child", 10**6),
    (FOREST, "right_child", 0),
    (BOOSTING, "right_child", -7),
    (TREE, "feature", 10**6),
    (FOREST, "feature", -3),
    (HISTOGRAMS, "left", 10**6),
    (HISTOGRAMS, "right", 0),
    (HISTOGRAMS, "feature_idx", 99),
]


@pytest.mark.parametrize(("model", "field", "value"), ASTRAY, ids=str)
def test_a_tree_that_leads_astray_is_refused(tmp_path, data, model, field, value):
    save(model.fit(*data), tmp_path / "m.skops")
    rewritten(tmp_path / "m.skops", set_field(field, value))
    with pytest.raises(InvalidInputError, match="as training makes it"):
        load(tmp_path / "m.skops", trusted=True)


def test_support_vectors_that_are_not_there_are_refused(tmp_path, data):
    save(SVC().fit(*data), tmp_path / "m.skops")
    shorten = with_arrays(lambda a: a[:, :-1] if a.ndim == 2 and a.shape[0] == 1 else a)
    rewritten(tmp_path / "m.skops", shorten)
    with pytest.raises(InvalidInputError, match="support vector machine"):
        load(tmp_path / "m.skops")


def with_trees(change):
    """Return what changes the description of every tree in a file."""

    def changed(members):
        schema = json.loads(members["schema.json"])
        waiting = [schema]
        while waiting:
            node = waiting.pop()
            if isinstance(node, dict) and node.get("__class__") == "Tree":
                change(node)
            if isinstance(node, dict | list):
                waiting += node.values() if isinstance(node, dict) else node
        return members | {"schema.json": json.dumps(schema).encode()}

    return changed


def many_outputs(tree):
    tree["__reduce__"]["args"]["content"][2]["content"] = str(10**9)


def no_state(tree):
    tree["content"]["content"] = {}


@pytest.mark.parametrize("change", [many_outputs, no_state])
def test_a_tree_that_is_not_there_is_refused(tmp_path, data, change):
    save(DecisionTreeClassifier(random_state=0).fit(*data), tmp_path / "m.skops")
    rewritten(tmp_path / "m.skops", with_trees(change))
    with pytest.raises(InvalidInputError):
        load(tmp_path / "m.skops", trusted=True)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_model_as_it_was_trained_is_taken(tmp_path, data, model):
    X, y = data
    found = load(save(model.fit(X, y), tmp_path / "m.skops"))
    assert found.predict(X).tolist() == model.predict(X).tolist()


def packed(path, members):
    method = zipfile.ZIP_STORED if len(members) > 1000 else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def npy_header(shape):
    buffer = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue()


BOMBS = {
    "zeros": {"schema.json": "{}", "0.npy": bytes(100 << 20)},
    "a long schema": {"schema.json": b"[" + b"1," * (30 << 20) + b"1]"},
    "many values": {"schema.json": b"[" + b"{}," * 1_000_001 + b"1]"},
    "a deep schema": {"schema.json": b"[" * 90_000 + b"]" * 90_000},
    "an array that is not there": {"schema.json": "{}", "0.npy": npy_header((10**12,))},
    "many parts": {"schema.json": "{}"} | dict.fromkeys(map(str, range(101_000)), b""),
    "no schema": {"other.json": "{}"},
    "a schema that is no object": {"schema.json": "7"},
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_file_that_would_exhaust_memory_is_refused(tmp_path, bomb):
    with pytest.raises(InvalidInputError, match=r"exhaust memory|cannot read"):
        load(packed(tmp_path / "m.skops", BOMBS[bomb]))


def test_an_old_skops_is_refused(tmp_path, data, monkeypatch):
    save(DecisionTreeClassifier().fit(*data), tmp_path / "m.skops")
    monkeypatch.setattr(skops, "__version__", "0.11.1")
    with pytest.raises(MissingExtraError, match=r"0\.12"):
        load(tmp_path / "m.skops")


def test_a_folder_and_a_device_are_no_files(tmp_path):
    for path in (tmp_path, "/dev/zero"):
        with pytest.raises(InvalidInputError, match="folder, a device"):
            load(path)
