"""Every public name of the package, once, with the module that it is loaded from."""

from boundshift import streaming as streaming
from boundshift._boundary import find_boundary as find_boundary
from boundshift._classifier import BoundShiftClassifier as BoundShiftClassifier
from boundshift._cuts import Cuts as Cuts
from boundshift._cuts import find_cuts as find_cuts
from boundshift._groups import GroupBoundaries as GroupBoundaries
from boundshift._groups import find_boundaries as find_boundaries
from boundshift._guarantees.audit import Audit as Audit
from boundshift._guarantees.certificate import Certificate as Certificate
from boundshift._guarantees.certificate import certify_counts as certify_counts
from boundshift._guarantees.certify import certify as certify
from boundshift._guarantees.comparison import BoundaryComparison as BoundaryComparison
from boundshift._guarantees.comparison import compare_boundaries as compare_boundaries
from boundshift._guarantees.interval import threshold_interval as threshold_interval
from boundshift._guarantees.monitor import Alarm as Alarm
from boundshift._guarantees.monitor import Monitor as Monitor
from boundshift._guarantees.planning import rows_needed as rows_needed
from boundshift._guarantees.prevalence import PrevalenceEstimate as PrevalenceEstimate
from boundshift._guarantees.prevalence import estimate_prevalence as estimate_prevalence
from boundshift._guarantees.rate import RateEstimate as RateEstimate
from boundshift._guarantees.rate import estimate_rate as estimate_rate
from boundshift._guarantees.zone import Zone as Zone
from boundshift._guarantees.zone import find_zone as find_zone
from boundshift._metric_intervals import metric_intervals as metric_intervals
from boundshift._result.boundary import Boundary as Boundary
from boundshift._status import Status as Status
from boundshift.curves import Blend as Blend
from boundshift.curves import ClopperPearson as ClopperPearson
from boundshift.curves import Smoothed as Smoothed
from boundshift.curves import SupportRadius as SupportRadius
from boundshift.exceptions import BoundaryWarning as BoundaryWarning
from boundshift.exceptions import InvalidInputError as InvalidInputError
from boundshift.exceptions import MissingExtraError as MissingExtraError
from boundshift.metrics import metrics_at as metrics_at
from boundshift.models._onnx import to_onnx as to_onnx
from boundshift.models._store import load as load
from boundshift.models._store import save as save
from boundshift.rules import ClassFloors as ClassFloors
from boundshift.rules import Cost as Cost
from boundshift.rules import CostMatrix as CostMatrix
from boundshift.rules import FBeta as FBeta
from boundshift.rules import Floors as Floors
from boundshift.rules import GMean as GMean
from boundshift.rules import Metric as Metric

__version__: str
