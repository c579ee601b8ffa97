"""What else there is against class imbalance, to compare with.

Rivals that train anew are classifiers; those that move a threshold after training are functions
from labels and scores to the threshold.
"""

from boundshift.rivals.balanced_weights import BalancedWeights
from boundshift.rivals.bayes_minimum_risk import bayes_risk_threshold
from boundshift.rivals.cost_thresholding import cost_threshold
from boundshift.rivals.smote import SMOTEClassifier
from boundshift.rivals.tuned_threshold import tuned_threshold

__all__ = [
    "BalancedWeights",
    "SMOTEClassifier",
    "bayes_risk_threshold",
    "cost_threshold",
    "tuned_threshold",
]
