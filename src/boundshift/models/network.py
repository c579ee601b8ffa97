"""PyTorch: the shift in the bias of the last layer."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boundshift.exceptions import InvalidInputError
from boundshift.models.margins import is_a

__all__ = ["shift_module"]


def shift_module(module: Any, offsets: ArrayLike, *, layer: Any = None) -> Any:
    """Add to the bias of a PyTorch module's last layer, in place.

    Parameters
    ----------
    module : torch.nn.Module
        A network that returns logits.
    offsets : float or array of shape (n_outputs,)
        What to add to each output: minus the threshold for one output or the second of two,
        ``-clf.threshold_``, or one bias per class, ``clf.biases_``.
    layer : torch.nn.Module, default=None
        The layer whose bias moves; None takes the linear layer or convolution that was added to
        the module last. Name it where that is not the one that gives the logits.

    Returns
    -------
    torch.nn.Module
        The module itself.

    Raises
    ------
    InvalidInputError
        If there is no such layer, or the number of its outputs is another.
    """
    if not is_a(module, "torch", "Module"):
        raise InvalidInputError(
            f"`module` must be a PyTorch module, got {type(module).__name__}. "
            "Use shifted_estimator() for other models."
        )
    torch = sys.modules["torch"]
    if layer is None:
        kinds = (torch.nn.Linear, torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Bilinear)
        found = [part for part in module.modules() if isinstance(part, kinds)]
        layer = found[-1] if found else None
    if getattr(layer, "weight", None) is None:
        raise InvalidInputError(
            f"`module` must have a linear layer to shift, got {type(module).__name__} without. "
            "Pass the layer that gives the logits as `layer`."
        )
    size = int(layer.weight.shape[0])
    moved = np.atleast_1d(np.asarray(offsets, dtype=np.float64))
    if size == 2 and len(moved) == 1:
        moved = np.array([0.0, moved[0]])
    if len(moved) != size:
        raise InvalidInputError(
            f"`offsets` must be one per output of the last layer ({size}), got {len(moved)}. "
            "Pass the layer that gives the logits as `layer`."
        )
    with torch.no_grad():
        old = torch.zeros(size) if layer.bias is None else layer.bias
        new = old.double().cpu() + torch.from_numpy(moved)
        weight = layer.weight
        if layer.bias is None:
            layer.bias = torch.nn.Parameter(new.to(device=weight.device, dtype=weight.dtype))
        else:
            layer.bias.copy_(new)
    return module
