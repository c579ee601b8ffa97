"""Trees of every library as one TreeEnsemble node, in the precision they compare in.

scikit-learn's forests and XGBoost compare features in float32, HistGradientBoosting and LightGBM in
float64. Thresholds are stored as doubles and features are rounded as the library rounds them, so
that every row takes the very path it takes there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.models.onnx.nodes import ML_DOMAIN, Graph

__all__ = ["forest", "gradient_boosting", "hist_gradient_boosting", "lightgbm", "xgboost"]

_AT_MOST, _LESS = 0, 1  # BRANCH_LEQ, BRANCH_LT
_SUM = 1


@dataclass(frozen=True)
class Tree:
    """A tree in arrays: what a row does at every node; node 0 is the root.

    A row whose feature is below the threshold goes left, any other right; -1 marks a leaf, whose
    value is added. `missing_left` tells whether a missing value goes left.
    """

    feature: NDArray[Any]
    threshold: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]
    missing_left: NDArray[Any]
    value: NDArray[Any]


@dataclass
class Ensemble:
    """Trees with their targets, as a TreeEnsemble node wants them.

    Parameters
    ----------
    base : array of shape (n_targets,)
        What every row gets; trees that are a single leaf end up here.
    mode : int
        How thresholds are compared.
    """

    base: NDArray[np.float64]
    mode: int
    roots: list[int] = field(default_factory=list)
    nodes: list[tuple[int, float, int, int, int, int, int]] = field(default_factory=list)
    leaves: list[tuple[int, float]] = field(default_factory=list)

    def add(self, tree: Tree, target: int) -> None:
        """Add a tree to a target's sum."""
        if tree.left[0] == -1:
            self.base[target] += float(tree.value[0])
            return
        inner = np.flatnonzero(tree.left != -1)
        place = {int(node): len(self.nodes) + i for i, node in enumerate(inner)}
        self.roots.append(place[0])
        rows = []
        for node in inner:
            left, right = (
                self._end(tree, int(c[node]), place, target) for c in (tree.left, tree.right)
            )
            split = int(tree.feature[node]), float(tree.threshold[node])
            rows.append((*split, *left, *right, int(tree.missing_left[node])))
        self.nodes += rows

    def _end(self, tree: Tree, child: int, place: dict[int, int], target: int) -> tuple[int, int]:
        """Return where a branch leads, and whether that is a leaf."""
        if tree.left[child] != -1:
            return place[child], 0
        self.leaves.append((target, float(tree.value[child])))
        return len(self.leaves) - 1, 1

    def write(self, graph: Graph, x: str) -> str:
        """Write the node, and add the base."""
        from onnx import numpy_helper

        base = graph.constant(self.base)
        if not self.nodes:
            ones = graph.add("MatMul", x, graph.constant(np.zeros((1, len(self.base)))))
            return graph.add("Add", ones, base)
        feature, split, true, true_leaf, false, false_leaf, missing = zip(*self.nodes, strict=True)
        targets, weights = zip(*self.leaves, strict=True)
        modes = np.full(len(self.nodes), self.mode, dtype=np.uint8)
        # Some libraries split at values of training rows, which an inexact step before would
        # throw to either side: the split moves away from them, by no more than that step rounds.
        away = graph.rounding if self.mode == _AT_MOST else -graph.rounding
        splits = np.array(split)
        splits += away * np.where(np.isfinite(splits), np.abs(splits), 0.0)
        total = graph.add(
            "TreeEnsemble",
            x,
            domain=ML_DOMAIN,
            aggregate_function=_SUM,
            n_targets=len(self.base),
            tree_roots=self.roots,
            nodes_featureids=feature,
            nodes_splits=numpy_helper.from_array(splits, "splits"),
            nodes_modes=numpy_helper.from_array(modes, "modes"),
            nodes_truenodeids=true,
            nodes_trueleafs=true_leaf,
            nodes_falsenodeids=false,
            nodes_falseleafs=false_leaf,
            nodes_missing_value_tracks_true=missing,
            leaf_targetids=targets,
            leaf_weights=numpy_helper.from_array(np.array(weights), "weights"),
            post_transform=0,
        )
        return graph.add("Add", total, base)


def _in_float32(graph: Graph, x: str) -> str:
    return graph.cast(graph.cast(x, "FLOAT"), "DOUBLE")


def _sklearn_tree(tree: Any, value: NDArray[Any]) -> Tree:
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    return Tree(
        tree.feature, tree.threshold, tree.children_left, tree.children_right, missing, value
    )


def forest(graph: Graph, x: str, model: Any) -> str:
    """Write the probabilities of a decision tree or a forest."""
    members = getattr(model, "estimators_", None) or [model]
    n_classes = len(model.classes_)
    # Of two classes the first has the rest.
    targets = [1] if n_classes == 2 else list(range(n_classes))
    ensemble = Ensemble(np.zeros(len(targets)), _AT_MOST)
    for member in members:
        shares = member.tree_.value[:, 0, :]
        shares = shares / shares.sum(axis=1, keepdims=True) / len(members)
        for column, k in enumerate(targets):
            ensemble.add(_sklearn_tree(member.tree_, shares[:, k]), column)
    found = ensemble.write(graph, _in_float32(graph, x))
    if n_classes > 2:
        return found
    return graph.add("Concat", graph.add("Sub", graph.constant(1.0), found), found, axis=1)


def gradient_boosting(graph: Graph, x: str, model: Any) -> str:
    """Write the margins of scikit-learn's gradient boosting."""
    if model.init_ != "zero" and type(model.init_).__name__ != "DummyClassifier":
        raise InvalidInputError(
            f"`init` must be None or 'zero' for ONNX, got {model.init_!r}. "
            "Train without `init`, or keep the BoundShiftClassifier itself."
        )
    start = model._raw_predict_init(np.zeros((1, model.n_features_in_)))[0]
    ensemble = Ensemble(start.astype(np.float64), _AT_MOST)
    for stage in model.estimators_:
        for k, member in enumerate(stage):
            tree = member.tree_
            ensemble.add(_sklearn_tree(tree, model.learning_rate * tree.value[:, 0, 0]), k)
    return ensemble.write(graph, _in_float32(graph, x))


def hist_gradient_boosting(graph: Graph, x: str, model: Any) -> str:
    """Write the margins of scikit-learn's histogram gradient boosting."""
    if model.is_categorical_ is not None and np.any(model.is_categorical_):
        raise _categorical("HistGradientBoostingClassifier")
    ensemble = Ensemble(model._baseline_prediction.ravel().astype(np.float64), _AT_MOST)
    for stage in model._predictors:
        for k, predictor in enumerate(stage):
            nodes = predictor.nodes
            leaf = nodes["is_leaf"].astype(bool)
            left, right = (
                np.where(leaf, -1, nodes[end].astype(np.int64)) for end in ("left", "right")
            )
            split = nodes["feature_idx"], nodes["num_threshold"]
            tree = Tree(*split, left, right, nodes["missing_go_to_left"], nodes["value"])
            ensemble.add(tree, k)
    return ensemble.write(graph, x)


def xgboost(graph: Graph, x: str, model: Any) -> str:
    """Write the margins of XGBoost."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = booster.attr("best_iteration")
    if best is not None and hasattr(model, "get_booster"):
        booster = booster[: int(best) + 1]  # as the wrapper, not the Booster, predicts
    stored = json.loads(booster.save_raw("json"))["learner"]
    name = stored["gradient_booster"]["name"]
    if name != "gbtree":
        raise InvalidInputError(f"`booster` must be 'gbtree' for ONNX, got {name!r}.")
    trees = stored["gradient_booster"]["model"]["trees"]
    if any(1 in tree["split_type"] for tree in trees):
        raise _categorical("XGBoost")
    if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in trees):
        raise InvalidInputError("`multi_strategy` must be 'one_output_per_tree' for ONNX.")
    ensemble = Ensemble(_xgboost_base(stored), _LESS)
    targets = stored["gradient_booster"]["model"]["tree_info"]
    for tree, target in zip(trees, targets, strict=True):
        split = np.array(tree["split_conditions"], dtype=np.float32)
        left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
        ensemble.add(
            Tree(tree["split_indices"], split, left, right, tree["default_left"], split), target
        )
    return ensemble.write(graph, _in_float32(graph, x))


def _xgboost_base(stored: dict[str, Any]) -> NDArray[np.float64]:
    """Return what every margin starts from."""
    parameters = stored["learner_model_param"]
    base = np.array(json.loads(f"[{parameters['base_score'].strip('[]')}]"), dtype=np.float32)
    if stored["objective"]["name"] in ("binary:logistic", "binary:logitraw", "reg:logistic"):
        base = -np.log(1 / base - np.float32(1))
    return np.broadcast_to(base, max(1, int(parameters["num_class"]))).astype(np.float64)


def lightgbm(graph: Graph, x: str, model: Any) -> str:
    """Write the margins of LightGBM."""
    booster = getattr(model, "booster_", model)
    stored = booster.dump_model(num_iteration=booster.best_iteration)
    per_round = stored["num_tree_per_iteration"]
    ensemble = Ensemble(np.zeros(per_round), _AT_MOST)
    for index, info in enumerate(stored["tree_info"]):
        ensemble.add(_lightgbm_tree(info["tree_structure"]), index % per_round)
    return ensemble.write(graph, x)


def _lightgbm_tree(root: dict[str, Any]) -> Tree:
    """Return a nested tree in arrays, its nodes numbered from the root on."""
    nodes = list(_walk(root))
    number = {id(node): i for i, node in enumerate(nodes)}
    rows = []
    for node in nodes:
        if "split_feature" not in node:
            rows.append((0, 0.0, -1, -1, 0, node["leaf_value"]))
            continue
        if node["decision_type"] != "<=":
            raise _categorical("LightGBM")
        if node["missing_type"] == "Zero":
            raise InvalidInputError("`zero_as_missing` must be False for ONNX, got True.")
        split = float(node["threshold"])
        # Without missing values in training, one counts as zero.
        missing = node["default_left"] if node["missing_type"] == "NaN" else split >= 0
        children = number[id(node["left_child"])], number[id(node["right_child"])]
        rows.append((node["split_feature"], split, *children, int(missing), 0.0))
    return Tree(*(np.array(column) for column in zip(*rows, strict=True)))


def _walk(node: dict[str, Any]) -> Iterable[dict[str, Any]]:
    yield node
    for side in ("left_child", "right_child"):
        if side in node:
            yield from _walk(node[side])


def _categorical(name: str) -> InvalidInputError:
    return InvalidInputError(
        f"`estimator` must split on numbers for ONNX, got {name} with categorical features. "
        "Encode them in a pipeline before the model, for example by OneHotEncoder."
    )
