"""Models as nodes of an ONNX graph in double precision: linear models, networks and trees.

scikit-learn's forests and XGBoost compare features in float32, HistGradientBoosting and LightGBM in
float64. Thresholds are stored as doubles, and features are rounded as the library rounds them, so
that every row takes the same path.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from boundshift._typing import FloatArray, Model
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

# The newest operators that runtimes of the last two years know; TreeEnsemble came with 5.
OPSET = 18
ML_OPSET = 5
ML_DOMAIN = "ai.onnx.ml"
_SUM = 1
_ROUNDED = ("FLOAT", "DOUBLE")


def refuse(rule: str, got: object, remedy: str) -> NoReturn:
    """Raise an error of rule, value and remedy."""
    raise InvalidInputError(f"{rule}, got {got}. {remedy}")


class Graph:
    """Nodes and constants, each after those that it needs."""

    def __init__(self) -> None:
        self.rounding = 0.0  # relative error of the features that the nodes are given
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.domains = {"": OPSET}

    def constant(self, values: ArrayLike, dtype: DTypeLike | None = np.float64) -> str:
        """Add a constant and return its name; a dtype of None keeps strings and booleans."""
        from onnx import numpy_helper

        name = f"boundshift_constant_{len(self.constants)}"
        array = np.asarray(values, dtype=dtype, order="C")
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        from onnx import helper

        name = f"boundshift_{op.lower()}_{len(self.nodes)}"
        outputs = [output or name, *([f"{name}_places"] if op == "TopK" else [])]
        node = helper.make_node(op, list(inputs), outputs, name=name, **attributes)
        self.nodes.append(node)
        return output or name

    def cast(self, value: str, *kinds: str) -> str:
        """Cast to "DOUBLE", "FLOAT" or "INT64", one after the other."""
        from onnx import TensorProto

        for kind in kinds:
            value = self.add("Cast", value, to=getattr(TensorProto, kind))
        return value

    def column(self, value: str, index: int = 0) -> str:
        """Add a column as a vector."""
        return self.add("Gather", value, self.constant(index, np.int64), axis=1)

    def affine(self, value: str, weights: FloatArray, intercept: ArrayLike) -> str:
        """Add ``value @ weights + intercept``."""
        product = self.add("MatMul", value, self.constant(weights))
        return self.add("Add", product, self.constant(np.atleast_1d(np.asarray(intercept))))


# A writer adds a model's response to the features `x`, and returns the name of the result.
Writer = Callable[[Graph, str, Model], str]


def _linear(graph: Graph, x: str, model: Model) -> str:
    return graph.affine(x, np.atleast_2d(model.coef_).T, model.intercept_)


def _network(graph: Graph, x: str, model: Model) -> str:
    names = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid", "identity": "Identity"}
    for k, (weights, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        x = graph.add(names[model.activation], x) if k else x
        x = graph.affine(x, weights, bias)
    return x


class Tree(NamedTuple):
    """A tree, as arrays over its nodes; node 0 is the root.

    A row whose feature does not exceed the split goes left.
    """

    target: int  # to which the tree adds
    feature: ArrayLike
    split: ArrayLike
    left: ArrayLike  # child, -1 in a leaf
    right: ArrayLike
    missing_goes_left: ArrayLike
    value: ArrayLike  # of a leaf


def _sum_of_trees(
    graph: Graph, x: str, trees: Iterable[Tree], base: FloatArray, *, less: bool = False
) -> str:
    """Write the sums over trees; `less` sends a row that equals the threshold to the right."""
    from onnx import numpy_helper

    targets = []
    columns = []
    for target, *arrays in trees:
        nodes = [np.asarray(array) for array in arrays]
        if len(nodes[0]) == 1:  # The node needs splits: both sides of this one have the value.
            left = np.array([1, -1, -1])
            right = np.array([2, -1, -1])
            nodes = [np.zeros(3), np.zeros(3), left, right, np.zeros(3), nodes[-1].repeat(3)]
        targets.append(target)
        columns.append(nodes)
    sizes = [len(nodes[0]) for nodes in columns]
    first = np.cumsum([0, *sizes[:-1]])
    feature, splits, left, right, missing, value = map(np.concatenate, zip(*columns, strict=True))
    is_leaf = left == -1
    inner = ~is_leaf
    # Splits and leaves are numbered apart.
    place = np.where(is_leaf, np.cumsum(is_leaf), np.cumsum(inner)) - 1
    first_of_tree = np.repeat(first, sizes)
    true = (left + first_of_tree)[inner]
    false = (right + first_of_tree)[inner]
    # Some libraries split at values of training rows, which an inexact step before the model would
    # move to either side. The split moves away from them, by no more than that step rounds.
    splits = splits[inner].astype(np.float64)
    away = graph.rounding * np.where(np.isfinite(splits), np.abs(splits), 0.0)
    splits = splits - away if less else splits + away
    modes = np.full(len(splits), 1 if less else 0, dtype=np.uint8)  # BRANCH_LT or BRANCH_LEQ
    graph.domains[ML_DOMAIN] = ML_OPSET
    total = graph.add(
        "TreeEnsemble",
        x,
        domain=ML_DOMAIN,
        aggregate_function=_SUM,
        n_targets=len(base),
        tree_roots=place[first].tolist(),
        nodes_featureids=feature[inner].astype(int).tolist(),
        nodes_splits=numpy_helper.from_array(splits, "splits"),
        nodes_modes=numpy_helper.from_array(modes, "modes"),
        nodes_truenodeids=place[true].tolist(),
        nodes_trueleafs=is_leaf[true].astype(int).tolist(),
        nodes_falsenodeids=place[false].tolist(),
        nodes_falseleafs=is_leaf[false].astype(int).tolist(),
        nodes_missing_value_tracks_true=missing[inner].astype(int).tolist(),
        leaf_targetids=np.repeat(targets, sizes)[is_leaf].tolist(),
        leaf_weights=numpy_helper.from_array(value[is_leaf].astype(np.float64), "weights"),
        post_transform=0,
    )
    return graph.add("Add", total, graph.constant(base))


def _sklearn_tree(target: int, tree: Model, value: FloatArray) -> Tree:
    return Tree(
        target,
        feature=tree.feature,
        split=tree.threshold,
        left=tree.children_left,
        right=tree.children_right,
        missing_goes_left=tree.missing_go_to_left,
        value=value,
    )


def _forest(graph: Graph, x: str, model: Model) -> str:
    """Write the probabilities of a decision tree or a forest."""
    members = getattr(model, "estimators_", None) or [model]
    n_classes = len(model.classes_)
    classes = [1] if n_classes == 2 else list(range(n_classes))

    def trees() -> Iterator[Tree]:
        for member in members:
            shares = member.tree_.value[:, 0, :]
            shares = shares / shares.sum(axis=1, keepdims=True) / len(members)
            for target, k in enumerate(classes):
                yield _sklearn_tree(target, member.tree_, shares[:, k])

    shares = _sum_of_trees(graph, graph.cast(x, *_ROUNDED), trees(), np.zeros(len(classes)))
    if n_classes > 2:
        return shares
    return graph.add("Concat", graph.add("Sub", graph.constant(1.0), shares), shares, axis=1)


def _gradient_boosting(graph: Graph, x: str, model: Model) -> str:
    if model.init_ != "zero" and type(model.init_).__name__ != "DummyClassifier":
        _refuse_trees(f"init={model.init_!r}")
    trees = (
        _sklearn_tree(k, member.tree_, model.learning_rate * member.tree_.value[:, 0, 0])
        for stage in model.estimators_
        for k, member in enumerate(stage)
    )
    base = model._raw_predict_init(np.zeros((1, model.n_features_in_)))[0]
    return _sum_of_trees(graph, graph.cast(x, *_ROUNDED), trees, base)


def _hist_gradient_boosting(graph: Graph, x: str, model: Model) -> str:
    if model.is_categorical_ is not None and np.any(model.is_categorical_):
        _refuse_trees("categorical features")

    def trees() -> Iterator[Tree]:
        for stage in model._predictors:
            for k, nodes in enumerate(predictor.nodes for predictor in stage):
                yield Tree(
                    k,
                    feature=nodes["feature_idx"],
                    split=nodes["num_threshold"],
                    left=np.where(nodes["is_leaf"], -1, nodes["left"].astype(np.int64)),
                    right=np.where(nodes["is_leaf"], -1, nodes["right"].astype(np.int64)),
                    missing_goes_left=nodes["missing_go_to_left"],
                    value=nodes["value"],
                )

    return _sum_of_trees(graph, x, trees(), model._baseline_prediction.ravel())


def _xgboost(graph: Graph, x: str, model: Model) -> str:
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = booster.attr("best_iteration")
    if best is not None and hasattr(model, "get_booster"):
        booster = booster[: int(best) + 1]  # as the wrapper, not the Booster, predicts
    stored = json.loads(booster.save_raw("json"))["learner"]
    made = stored["gradient_booster"]
    parameters = stored["learner_model_param"]
    if made["name"] != "gbtree":
        _refuse_trees(f"booster={made['name']!r}")
    for tree in made["model"]["trees"]:
        if 1 in tree["split_type"] or int(tree["tree_param"]["size_leaf_vector"]) > 1:
            _refuse_trees("categorical features, or trees with a vector in each leaf")
    base = np.array(json.loads(f"[{parameters['base_score'].strip('[]')}]"), dtype=np.float32)
    if stored["objective"]["name"] in ("binary:logistic", "binary:logitraw", "reg:logistic"):
        base = -np.log(1 / base - np.float32(1))
    base = np.broadcast_to(base, max(1, int(parameters["num_class"])))

    def trees() -> Iterator[Tree]:
        pairs = zip(made["model"]["trees"], made["model"]["tree_info"], strict=True)
        for tree, target in pairs:
            split = np.array(tree["split_conditions"], dtype=np.float32)  # in a leaf, its value
            yield Tree(
                target,
                feature=tree["split_indices"],
                split=split,
                left=tree["left_children"],
                right=tree["right_children"],
                missing_goes_left=tree["default_left"],
                value=split,
            )

    return _sum_of_trees(graph, graph.cast(x, *_ROUNDED), trees(), base.astype(float), less=True)


def _lightgbm(graph: Graph, x: str, model: Model) -> str:
    booster: Model = getattr(model, "booster_", model)
    stored = booster.dump_model(num_iteration=booster.best_iteration)
    n_targets = stored["num_tree_per_iteration"]

    def trees() -> Iterator[Tree]:
        for index, info in enumerate(stored["tree_info"]):
            nodes = [info["tree_structure"]]
            columns: dict[str, list[float]] = {name: [] for name in Tree._fields[1:]}
            for node in nodes:  # which grows on the way
                if "split_feature" in node:
                    row = _lightgbm_split(node, left=len(nodes))
                    nodes += [node["left_child"], node["right_child"]]
                else:
                    row = {**_LEAF, "value": node["leaf_value"]}
                for name, value in row.items():
                    columns[name].append(value)
            yield Tree(index % n_targets, **columns)

    return _sum_of_trees(graph, x, trees(), np.zeros(n_targets))


_LEAF = {"feature": 0, "split": 0.0, "left": -1, "right": -1, "missing_goes_left": 0}


def _lightgbm_split(node: Mapping[str, Any], left: int) -> dict[str, float]:
    """Return the fields of a node whose children are nodes `left` and `left + 1`."""
    if node["decision_type"] != "<=" or node["missing_type"] == "Zero":
        _refuse_trees("categorical features or zero_as_missing=True")
    split = float(node["threshold"])
    # Without missing values in training, one counts as zero.
    goes_left = node["default_left"] if node["missing_type"] == "NaN" else split >= 0
    return {
        "feature": node["split_feature"],
        "split": split,
        "left": left,
        "right": left + 1,
        "missing_goes_left": int(goes_left),
        "value": 0.0,
    }


def _refuse_trees(got: str) -> NoReturn:
    remedy = "Encode categories in a pipeline, or keep the BoundShiftClassifier itself."
    refuse("`estimator` must be a sum of trees that split on numbers", got, remedy)


PROBABILITY_WRITERS: dict[tuple[str, str], Writer] = {
    ("sklearn", "ForestClassifier"): _forest,
    ("sklearn", "DecisionTreeClassifier"): _forest,
}
MARGIN_WRITERS: dict[tuple[str, str], Writer] = {
    ("sklearn", "LinearClassifierMixin"): _linear,
    ("sklearn", "MLPClassifier"): _network,
    ("sklearn", "GradientBoostingClassifier"): _gradient_boosting,
    ("sklearn", "HistGradientBoostingClassifier"): _hist_gradient_boosting,
    ("xgboost", "XGBClassifier"): _xgboost,
    ("xgboost", "Booster"): _xgboost,
    ("lightgbm", "LGBMClassifier"): _lightgbm,
    ("lightgbm", "Booster"): _lightgbm,
}
