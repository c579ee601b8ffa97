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
from boundshift.curves import SupportRadius
from boundshift.curves.counts import ConfidenceCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models.scoring import is_pipeline
from boundshift.rules import ClassRule
from boundshift.scores.weighted import as_weights
from boundshift.search.row_costs import as_row_cost
from boundshift.typing import FloatArray

__all__ = ["FitParameters", "find_weights", "last_step", "route_fit"]

_WEIGHT = "sample_weight"


class FitParameters(NamedTuple):
    """Parameters of the estimator's fit and of the splitter's split; weights and costs by row."""

    fit: Mapping[str, Any]
    split: Mapping[str, Any]
    weights: FloatArray | None
    costs: FloatArray | None


def route_fit(classifier: Any, y: NDArray[Any], given: dict[str, Any]) -> FitParameters:
    """Return what `fit` was given, for the estimator's fit, for the split, and for the decision."""
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(classifier, "fit", **given)
        split = routed.get("splitter", Bunch(split={})).split
        requests = classifier._get_metadata_request().fit.requests
        names = {ours: ours if asked is True else asked for ours, asked in requests.items()}
        own = {ours: given[name] for ours, name in names.items() if name in given}
        return FitParameters(routed.estimator.fit, split, *_read_rows(classifier, own, y))
    own = {name: v for name, v in given.items() if name == "row_cost" or _WEIGHT in name}
    fit = {name: value for name, value in given.items() if name != "row_cost"}
    estimator, cv, split = classifier.estimator, classifier.cv, {}
    if not classifier._is_prefit:
        fit = _name_last_step(estimator, fit)
    if "groups" in fit:
        takes_groups = has_fit_parameter(estimator, "groups")
        if hasattr(cv, "split"):
            split = {"groups": fit["groups"]}
            fit = {n: v for n, v in fit.items() if takes_groups or n != "groups"}
        elif not takes_groups:
            raise InvalidInputError(
                "`groups` must go with a `cv` that splits by groups, got "
                f"cv={cv!r}. Use cv=GroupKFold(5) or StratifiedGroupKFold(5)."
            )
    return FitParameters(fit, split, *_read_rows(classifier, own, y))


def _name_last_step(estimator: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with weights named for the last step of a pipeline.

    Raises if that step cannot be fitted with weights.
    """
    if fit_params.get(_WEIGHT) is None or not hasattr(estimator, "fit"):
        return fit_params
    prefix, _, last = last_step(estimator)
    parameters = signature(last.fit).parameters.values()
    if not any(p.name == _WEIGHT or p.kind is p.VAR_KEYWORD for p in parameters):
        raise InvalidInputError(
            "`sample_weight` must be something that the estimator's fit takes, got weights for "
            f"{type(last).__name__}, which takes none. Use another model, or fit it "
            "without and give the weights to the boundary alone, with cv='prefit'."
        )
    return {f"{prefix}{name}" if name == _WEIGHT else name: v for name, v in fit_params.items()}


def _read_rows(
    classifier: Any, own: Mapping[str, Any], y: NDArray[Any]
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return how often each row counts in the decision and what it costs, None for neither."""
    weights, costs = find_weights(own, len(y)), own.get("row_cost")
    if costs is not None:
        costs = as_row_cost(costs, len(y))
        check_row_cost(classifier.curve, classifier.rule, weights)
        if len(np.unique(y)) > 2:
            raise InvalidInputError(
                f"`row_cost` must go with two classes, got {len(np.unique(y))}. Fit on "
                "y == label to tell one from the rest."
            )
    curve, rule = choose_claims(classifier.curve, classifier.rule)
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


def find_weights(fit_params: Mapping[str, Any], n_rows: int) -> FloatArray | None:
    """Return the weights among the parameters of a fit, those of a pipeline's step too."""
    given = {
        name: as_weights(value, n_rows)
        for name, value in fit_params.items()
        if (name == _WEIGHT or name.endswith(f"__{_WEIGHT}")) and value is not None
    }
    weights = list(given.values())
    if any(not np.array_equal(other, weights[0]) for other in weights[1:]):
        raise InvalidInputError(
            "`sample_weight` must be the same for all steps, since it counts in the decision too, "
            f"got different ones as {' and '.join(given)}. Pass one of them."
        )
    return weights[0] if weights else None


def last_step(estimator: Any) -> tuple[str, list[tuple[str, Any]], Any]:
    """Return the prefix of a last step's parameters, the steps before it, and that step."""
    prefix = ""
    before: list[tuple[str, Any]] = []
    while is_pipeline(estimator):
        before += estimator.steps[:-1]
        prefix, estimator = f"{prefix}{estimator.steps[-1][0]}__", estimator.steps[-1][1]
    return prefix, before, estimator
