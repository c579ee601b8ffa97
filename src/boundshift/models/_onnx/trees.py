"""Trees of every library as one TreeEnsemble node, in the precision they compare in.

scikit-learn's forests and XGBoost compare features in float32, HistGradientBoosting and LightGBM in
float64. Thresholds are stored as doubles, and features are rounded as the library rounds them, so
that every row takes the same path.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.models._onnx.nodes import ML_DOMAIN, Graph

_SUM = 1


class Tree(NamedTuple):
    """Arrays over the nodes of a tree; node 0 is the root, and a leaf has -1 as its children.

    A row whose feature does not exceed the threshold goes left, a missing value as `missing_left`
    says, and the value of its leaf is added to the sum of the target.
    """

    target: int
    feature: ArrayLike
    threshold: ArrayLike
    left: ArrayLike
    right: ArrayLike
    missing_left: ArrayLike
    value: ArrayLike


def _write(
    graph: Graph, x: str, trees: Iterable[Tree], base: NDArray[Any], *, less: bool = False
) -> str:
    """Write the sums over trees; `less` sends a row that equals the threshold to the right."""
    from onnx import numpy_helper

    roots: list[int] = []
    columns: list[tuple[NDArray[Any], ...]] = []
    leaves: list[tuple[NDArray[Any], NDArray[Any]]] = []
    n_nodes = n_leaves = 0
    for tree in trees:
        target, *arrays = tree
        feature, threshold, left, right, missing, value = map(np.asarray, arrays)
        if left[0] == -1:  # The node needs splits: both sides of this one have the value.
            feature = threshold = missing = np.zeros(3)
            left, right, value = np.array([1, -1, -1]), np.array([2, -1, -1]), value.repeat(3)
        is_leaf = left == -1
        roots.append(n_nodes)
        inner = np.flatnonzero(~is_leaf)
        place = np.where(
            is_leaf, n_leaves + np.cumsum(is_leaf) - 1, n_nodes + np.cumsum(~is_leaf) - 1
        )
        ends = [
            end for child in (left[inner], right[inner]) for end in (place[child], is_leaf[child])
        ]
        columns.append((feature[inner], threshold[inner], *ends, missing[inner]))
        leaves.append((np.full(is_leaf.sum(), target), value[is_leaf]))
        n_nodes, n_leaves = n_nodes + len(inner), n_leaves + int(is_leaf.sum())
    feature, splits, true, true_leaf, false, false_leaf, missing = (
        np.concatenate(column) for column in zip(*columns, strict=True)
    )
    targets, weights = (np.concatenate(column) for column in zip(*leaves, strict=True))
    # Some libraries split at values of training rows, which an inexact step before the model would
    # move to either side. The split moves away from them, by no more than that step rounds.
    away = -graph.rounding if less else graph.rounding
    splits = splits.astype(np.float64)
    splits += away * np.where(np.isfinite(splits), np.abs(splits), 0.0)
    modes = np.full(n_nodes, 1 if less else 0, dtype=np.uint8)  # BRANCH_LT or BRANCH_LEQ
    total = graph.add(
        "TreeEnsemble",
        x,
        domain=ML_DOMAIN,
        aggregate_function=_SUM,
        n_targets=len(base),
        tree_roots=roots,
        nodes_featureids=feature.astype(int).tolist(),
        nodes_splits=numpy_helper.from_array(splits, "splits"),
        nodes_modes=numpy_helper.from_array(modes, "modes"),
        nodes_truenodeids=true.tolist(),
        nodes_trueleafs=true_leaf.astype(int).tolist(),
        nodes_falsenodeids=false.tolist(),
        nodes_falseleafs=false_leaf.astype(int).tolist(),
        nodes_missing_value_tracks_true=missing.astype(int).tolist(),
        leaf_targetids=targets.tolist(),
        leaf_weights=numpy_helper.from_array(weights.astype(np.float64), "weights"),
        post_transform=0,
    )
    return graph.add("Add", total, graph.constant(base))


def _in_float32(graph: Graph, x: str) -> str:
    return graph.cast(graph.cast(x, "FLOAT"), "DOUBLE")


def _sklearn_tree(target: int, tree: Any, value: NDArray[Any]) -> Tree:
    children = tree.children_left, tree.children_right
    return Tree(target, tree.feature, tree.threshold, *children, tree.missing_go_to_left, value)


def forest(graph: Graph, x: str, model: Any) -> str:
    """Write the probabilities of a decision tree or a forest."""
    members = getattr(model, "estimators_", None) or [model]
    n_classes = len(model.classes_)
    # Of two classes the first has the rest.
    classes = [1] if n_classes == 2 else list(range(n_classes))

    def trees() -> Iterator[Tree]:
        for member in members:
            shares = member.tree_.value[:, 0, :]
            shares = shares / shares.sum(axis=1, keepdims=True) / len(members)
            for target, k in enumerate(classes):
                yield _sklearn_tree(target, member.tree_, shares[:, k])

    found = _write(graph, _in_float32(graph, x), trees(), np.zeros(len(classes)))
    if n_classes > 2:
        return found
    return graph.add("Concat", graph.add("Sub", graph.constant(1.0), found), found, axis=1)


def gradient_boosting(graph: Graph, x: str, model: Any) -> str:
    """Write the margins of scikit-learn's gradient boosting."""
    if model.init_ != "zero" and type(model.init_).__name__ != "DummyClassifier":
        raise _unlike_trees(f"init={model.init_!r}")
    trees = (
        _sklearn_tree(k, member.tree_, model.learning_rate * member.tree_.value[:, 0, 0])
        for stage in model.estimators_
        for k, member in enumerate(stage)
    )
    base = model._raw_predict_init(np.zeros((1, model.n_features_in_)))[0]
    return _write(graph, _in_float32(graph, x), trees, base)


def hist_gradient_boosting(graph: Graph, x: str, model: Any) -> str:
    """Write the margins of HistGradientBoostingClassifier."""
    if model.is_categorical_ is not None and np.any(model.is_categorical_):
        raise _unlike_trees("categorical features")

    def trees() -> Iterator[Tree]:
        for stage in model._predictors:
            for k, nodes in enumerate(predictor.nodes for predictor in stage):
                is_leaf = nodes["is_leaf"].astype(bool)
                left, right = (
                    np.where(is_leaf, -1, nodes[end].astype(np.int64)) for end in ("left", "right")
                )
                split = nodes["feature_idx"], nodes["num_threshold"]
                yield Tree(k, *split, left, right, nodes["missing_go_to_left"], nodes["value"])

    return _write(graph, x, trees(), model._baseline_prediction.ravel())


def xgboost(graph: Graph, x: str, model: Any) -> str:
    """Write the margins of XGBoost."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = booster.attr("best_iteration")
    if best is not None and hasattr(model, "get_booster"):
        booster = booster[: int(best) + 1]  # as the wrapper, not the Booster, predicts
    stored = json.loads(booster.save_raw("json"))["learner"]
    name = stored["gradient_booster"]["name"]
    if name != "gbtree":
        raise _unlike_trees(f"booster={name!r}")
    trees = stored["gradient_booster"]["model"]["trees"]
    if any(1 in tree["split_type"] for tree in trees):
        raise _unlike_trees("categorical features")
    if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in trees):
        raise _unlike_trees("multi_strategy='multi_output_tree'")
    parameters = stored["learner_model_param"]
    base = np.array(json.loads(f"[{parameters['base_score'].strip('[]')}]"), dtype=np.float32)
    if stored["objective"]["name"] in ("binary:logistic", "binary:logitraw", "reg:logistic"):
        base = -np.log(1 / base - np.float32(1))
    base = np.broadcast_to(base, max(1, int(parameters["num_class"])))

    def read() -> Iterator[Tree]:
        targets = stored["gradient_booster"]["model"]["tree_info"]
        for tree, target in zip(trees, targets, strict=True):
            split = np.array(tree["split_conditions"], dtype=np.float32)  # in a leaf, its value
            ends = tree["left_children"], tree["right_children"]
            yield Tree(target, tree["split_indices"], split, *ends, tree["default_left"], split)

    return _write(graph, _in_float32(graph, x), read(), base, less=True)


def lightgbm(graph: Graph, x: str, model: Any) -> str:
    """Write the margins of LightGBM."""
    booster = getattr(model, "booster_", model)
    stored = booster.dump_model(num_iteration=booster.best_iteration)
    n_targets = stored["num_tree_per_iteration"]
    trees = (
        _lightgbm_tree(index % n_targets, info["tree_structure"])
        for index, info in enumerate(stored["tree_info"])
    )
    return _write(graph, x, trees, np.zeros(n_targets))


def _lightgbm_tree(target: int, root: dict[str, Any]) -> Tree:
    nodes, rows = [root], []
    for node in nodes:  # which grows on the way
        if "split_feature" not in node:
            rows.append((0, 0.0, -1, -1, 0, node["leaf_value"]))
            continue
        if node["decision_type"] != "<=":
            raise _unlike_trees("categorical features")
        if node["missing_type"] == "Zero":
            raise _unlike_trees("zero_as_missing=True")
        split = float(node["threshold"])
        # Without missing values in training, one counts as zero.
        missing = node["default_left"] if node["missing_type"] == "NaN" else split >= 0
        first = len(nodes)
        rows.append((node["split_feature"], split, first, first + 1, int(missing), 0.0))
        nodes += [node["left_child"], node["right_child"]]
    return Tree(target, *(np.array(column) for column in zip(*rows, strict=True)))


def _unlike_trees(what: str) -> InvalidInputError:
    return InvalidInputError(
        f"`estimator` must be a sum of trees that split on numbers for ONNX, got {what}. Encode "
        "categories in a pipeline before the model, or keep the BoundShiftClassifier itself."
    )
