"""What `fit` is given beside rows and labels: who gets it, and what counts in the decision."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import has_fit_parameter

from boundshift.boundary import check_row_cost, choose_claims
from boundshift.curves import ErrorCurve, SupportRadius
from boundshift.curves.confidence import ConfidenceCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models.folds import find_weights
from boundshift.rules import ClassRule, Rule
from boundshift.search.row_costs import as_row_cost
from boundshift.typing import FloatArray

__all__ = ["FitParameters", "read_rows", "route_fit"]


class FitParameters(NamedTuple):
    """Parameters of the estimator's fit, of the splitter's split, and what the decision counts."""

    fit: Mapping[str, Any]
    split: Mapping[str, Any]
    own: Mapping[str, Any]


def route_fit(classifier: Any, fit_params: dict[str, Any], *, is_prefit: bool) -> FitParameters:
    """Return what `fit` was given, for the estimator's fit, for the split, and for the decision."""
    estimator, cv = classifier.estimator, classifier.cv
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(classifier, "fit", **fit_params)
        splitter = routed.get("splitter", Bunch(split={}))
        requests = classifier._get_metadata_request().fit.requests
        names = {ours: ours if asked is True else asked for ours, asked in requests.items()}
        own = {ours: fit_params[name] for ours, name in names.items() if name in fit_params}
        return FitParameters(routed.estimator.fit, splitter.split, own)
    own = {"row_cost": fit_params["row_cost"]} if "row_cost" in fit_params else {}
    fit_params = {name: value for name, value in fit_params.items() if name != "row_cost"}
    own |= {name: value for name, value in fit_params.items() if "sample_weight" in name}
    if not is_prefit:
        _check_takes_weights(estimator, fit_params)
    if "groups" not in fit_params or not hasattr(cv, "split"):
        if "groups" in fit_params and not has_fit_parameter(estimator, "groups"):
            raise InvalidInputError(
                "`groups` must go with a `cv` that splits by groups, got "
                f"cv={cv!r}. Use cv=GroupKFold(5) or StratifiedGroupKFold(5)."
            )
        return FitParameters(fit_params, {}, own)
    to_fit = {name: value for name, value in fit_params.items() if name != "groups"}
    if has_fit_parameter(estimator, "groups"):
        to_fit = fit_params
    return FitParameters(to_fit, {"groups": fit_params["groups"]}, own)


def _check_takes_weights(estimator: Any, fit_params: dict[str, Any]) -> None:
    """Raise if weights are given to a model that cannot be fitted with them."""
    if fit_params.get("sample_weight") is None or not hasattr(estimator, "fit"):
        return
    parameters = signature(estimator.fit).parameters.values()
    if not any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters):
        raise InvalidInputError(
            "`sample_weight` must be something that the estimator's fit takes, got weights for "
            f"{type(estimator).__name__}, which takes none. Use another model, or fit it "
            "without and give the weights to the boundary alone, with cv='prefit'."
        )


def read_rows(
    own: Mapping[str, Any],
    y: NDArray[Any],
    curve: str | ErrorCurve | None,
    rule: str | Rule | None,
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return how often each row counts in the decision and what it costs, None for neither."""
    weights = find_weights(own, len(y))
    costs = own.get("row_cost")
    costs = None if costs is None else as_row_cost(costs, len(y))
    if costs is not None:
        check_row_cost(curve, rule, weights)
        if len(np.unique(y)) > 2:
            raise InvalidInputError(
                f"`row_cost` must go with two classes, got {len(np.unique(y))}. Fit on "
                "y == label to tell one from the rest."
            )
    curve, rule = choose_claims(curve, rule)
    if weights is not None and isinstance(rule, ClassRule) and len(np.unique(y)) > 2:
        raise InvalidInputError(
            f"`sample_weight` must be left out with {rule!r}, which counts rows, got weights. "
            "Use 'g-mean', 'sum' or 'minimax'."
        )
    if weights is not None and isinstance(curve, ConfidenceCurve | SupportRadius):
        raise InvalidInputError(
            f"`sample_weight` must be left out with the curve {curve.name!r}, which counts "
            "rows, got weights. Use 'blend' or 'smoothed', or keep the weights out of the "
            "decision: enable metadata routing and set_fit_request(sample_weight=False)."
        )
    return weights, costs
