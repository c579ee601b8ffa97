"""Every public name of the package, once, with the module that it is loaded from."""

from boundshift import streaming as streaming
from boundshift.boundary import Boundary as Boundary
from boundshift.boundary import find_boundary as find_boundary
from boundshift.classifier import BoundShiftClassifier as BoundShiftClassifier
from boundshift.curves import Blend as Blend
from boundshift.curves import ClopperPearson as ClopperPearson
from boundshift.curves import Smoothed as Smoothed
from boundshift.curves import SupportRadius as SupportRadius
from boundshift.exceptions import BoundaryWarning as BoundaryWarning
from boundshift.exceptions import InvalidInputError as InvalidInputError
from boundshift.exceptions import MissingExtraError as MissingExtraError
from boundshift.groups import GroupBoundaries as GroupBoundaries
from boundshift.groups import find_boundaries as find_boundaries
from boundshift.metrics import metrics_at as metrics_at
from boundshift.models.onnx.export import to_onnx as to_onnx
from boundshift.models.store import load as load
from boundshift.models.store import save as save
from boundshift.promises.certificate import Certificate as Certificate
from boundshift.promises.certificate import certify as certify
from boundshift.promises.comparison import BoundaryComparison as BoundaryComparison
from boundshift.promises.comparison import compare_boundaries as compare_boundaries
from boundshift.promises.interval import threshold_interval as threshold_interval
from boundshift.promises.monitor import Alarm as Alarm
from boundshift.promises.monitor import Monitor as Monitor
from boundshift.promises.planning import rows_needed as rows_needed
from boundshift.promises.prevalence import PrevalenceEstimate as PrevalenceEstimate
from boundshift.promises.prevalence import estimate_prevalence as estimate_prevalence
from boundshift.promises.prevalence import guard_prevalence as guard_prevalence
from boundshift.promises.zone import Zone as Zone
from boundshift.promises.zone import find_zone as find_zone
from boundshift.rules import ClassFloors as ClassFloors
from boundshift.rules import Cost as Cost
from boundshift.rules import CostMatrix as CostMatrix
from boundshift.rules import FBeta as FBeta
from boundshift.rules import Floors as Floors
from boundshift.rules import GMean as GMean
from boundshift.rules import Metric as Metric
from boundshift.status import Status as Status

__version__: str
