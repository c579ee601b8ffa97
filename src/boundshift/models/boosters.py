"""Boosters: the shift in what every row is given before its features count.

XGBoost stores the base score of two classes as a float32 probability, which is too coarse far from
one half. Every row falls into one leaf of the first tree, so its leaves carry the shift instead, as
LightGBM's leaves carry its own base score. CatBoost has a bias of its own.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.typing import FloatArray

__all__ = ["shift_catboost", "shift_lightgbm", "shift_xgboost"]


def shift_xgboost(booster: Any, offsets: FloatArray) -> None:
    """Add to the leaves of each class's first tree, in place."""
    stored = json.loads(booster.save_raw("json"))
    model = stored["learner"]["gradient_booster"]
    if model["name"] != "gbtree" or any(
        int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in model["model"]["trees"]
    ):
        raise InvalidInputError(
            "`estimator` must boost trees with one number a leaf to carry the shift, got "
            f"booster={model['name']!r}. Keep the BoundShiftClassifier itself for this model."
        )
    trees, classes = model["model"]["trees"], model["model"]["tree_info"]
    for k, offset in enumerate(offsets):
        _add_to_leaves(trees[classes.index(k)], float(offset))
    booster.load_model(bytearray(json.dumps(stored).encode()))


def _add_to_leaves(tree: dict[str, Any], offset: float) -> None:
    """Add to all leaves of a tree of XGBoost, in which a leaf's value stands for its split."""
    for node, left in enumerate(tree["left_children"]):
        if left == -1:
            value = float(np.float32(tree["split_conditions"][node] + offset))
            tree["split_conditions"][node] = tree["base_weights"][node] = value


def shift_lightgbm(booster: Any, offsets: FloatArray) -> None:
    """Add to the leaves of each class's first tree, in place."""
    stored = booster.dump_model()
    if any("leaf_const" in json.dumps(tree) for tree in stored["tree_info"]):
        raise InvalidInputError(
            "`estimator` must have one number a leaf to carry the shift, got linear_tree=True. "
            "Keep the BoundShiftClassifier itself for this model."
        )
    for index, offset in enumerate(offsets):
        for leaf in range(stored["tree_info"][index]["num_leaves"]):
            value = booster.get_leaf_output(index, leaf) + offset
            booster.set_leaf_output(index, leaf, value)


def shift_catboost(model: Any, offsets: FloatArray) -> None:
    """Add to CatBoost's bias, in place."""
    scale, bias = model.get_scale_and_bias()
    moved = np.atleast_1d(np.asarray(bias, dtype=np.float64)) + offsets
    model.set_scale_and_bias(scale, moved.tolist() if len(moved) > 1 else float(moved[0]))
