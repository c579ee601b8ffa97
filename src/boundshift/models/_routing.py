"""What `fit` is given beside rows and labels: who gets which parameter, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import process_routing

from boundshift._boundary import check_row_cost
from boundshift._typing import BoolArray, FloatArray, LabelArray, Model, Parameters
from boundshift._validation import as_column, as_row_cost, as_weights, find_distinct
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models._holdout import counts_groups, is_guaranteed
from boundshift.rules import ClassRule, Rule

_WEIGHT = "sample_weight"


class FitParameters(NamedTuple):
    """What the estimator's fit, the splitter and the decision get; `decides`: rows with weight."""

    fit: Parameters
    split: Parameters
    weights: FloatArray | None
    costs: FloatArray | None
    decides: BoolArray

    @property
    def groups(self) -> LabelArray | None:
        """The group of each row."""
        return self.split.get("groups")


def route_fit(
    clf: Model, y: LabelArray, given: Parameters, curve: ErrorCurve, rule: Rule
) -> FitParameters:
    """Route the parameters of `fit` to the estimator's fit, the splitter and the decision."""
    given = {k: value for k, value in given.items() if k != "groups" or value is not None}
    fit, split, own = _divide(clf, given)
    weights = _find_weights(own, len(y))
    costs = own.get("row_cost")
    n_classes = len(find_distinct(y, "y"))
    if split.get("groups") is not None:
        groups = as_column("groups", split["groups"], "Pass the group of each row.", len(y))
        split = {**split, "groups": groups}
        _check_groups(clf.curve, curve, rule)
    if costs is not None:
        costs = as_row_cost(costs, len(y))
        check_row_cost(clf.curve, clf.rule, weights)
        if n_classes > 2:
            raise InvalidInputError(
                f"must go with two classes, got {n_classes}. Fit on "
                "y == label to tell one from the rest.",
                argument="row_cost",
            )
    if weights is not None:
        _check_weighted(curve, rule, n_classes)
    decides = np.ones(len(y), dtype=np.bool_)
    for each in (weights, _find_weights(fit, len(y))):
        if each is not None:
            decides &= each > 0
    return FitParameters(fit, split, weights, costs, decides)


def _divide(clf: Model, given: Parameters) -> tuple[Parameters, Parameters, Parameters]:
    """Return the parameters of the estimator's fit, of the splitter, and of the decision."""
    split: Parameters = {}
    if clf._is_prefit and "groups" in given:
        split = {"groups": given["groups"]}
        given = {name: value for name, value in given.items() if name != "groups"}
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(clf, "fit", **given)
        split = split or routed.get("splitter", Bunch(split={})).split
        requests = clf._get_metadata_request().fit.requests
        names = {ours: ours if alias is True else alias for ours, alias in requests.items()}
        own = {ours: given[name] for ours, name in names.items() if name in given}
        return routed.estimator.fit, split, own
    own = {name: value for name, value in given.items() if name == "row_cost" or _WEIGHT in name}
    fit = {name: value for name, value in given.items() if name not in ("row_cost", "groups")}
    if "groups" in given:
        split = {"groups": given["groups"]}
        is_listed = isinstance(clf.cv, Iterable) and not isinstance(clf.cv, str)
        if not is_listed and not hasattr(clf.cv, "split"):
            raise InvalidInputError(
                "must go with a `cv` that splits by groups, got "
                f"cv={clf.cv!r}. Use cv=GroupKFold(5) or StratifiedGroupKFold(5).",
                argument="groups",
            )
    return fit, split, own


def _check_groups(given_curve: str | ErrorCurve | None, curve: ErrorCurve, rule: Rule) -> None:
    """Raise if floors would be guaranteed that cannot be counted by groups."""
    if is_guaranteed(curve, rule) and not counts_groups(curve, rule):
        named = "" if given_curve is None else f" and curve={given_curve!r}"
        raise InvalidInputError(
            "must have floors of recall or specificity of two classes only, and no "
            f"other curve, where `groups` are given and floors are guaranteed, got {rule!r}"
            f"{named}. Use Floors(recall=0.9); curve='empirical' or CostMatrix for an estimate.",
            argument="rule",
        )


def _check_weighted(curve: ErrorCurve, rule: Rule, n_classes: int) -> None:
    """Raise if rows are counted, which weights do not allow."""
    by_class = isinstance(rule, ClassRule) and n_classes > 2
    if by_class or not curve.accepts_weights:
        counting = repr(rule) if by_class else f"the curve {curve.name!r}"
        raise InvalidInputError(
            f"must be left out with {counting}, which counts rows, got weights. "
            "Use the default curve and rule, or keep the weights out of the decision: enable "
            "metadata routing and set_fit_request(sample_weight=False).",
            argument="sample_weight",
        )


def _find_weights(fit_params: Parameters, n_rows: int) -> FloatArray | None:
    """Return the weights among the parameters of a fit, also those of a pipeline's step."""
    names = [name for name in fit_params if name == _WEIGHT or name.endswith(f"__{_WEIGHT}")]
    if len(names) > 1:
        raise InvalidInputError(
            "must be given once, since it counts in the decision too, got "
            f"{' and '.join(names)}. Pass one of them.",
            argument="sample_weight",
        )
    given = fit_params[names[0]] if names else None
    return None if given is None else as_weights(given, n_rows)
