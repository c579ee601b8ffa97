"""A report in one HTML file: facts first, markup second.

`collect_facts` gathers plain values, and `Report` makes a page of them. The page needs no network
and no library: its pictures are drawn as SVG when it is made, and a short script moves the
threshold.
"""

from boundshift.report._classifier import report_classifier
from boundshift.report._evidence import ColumnUse, Doubt, RowDetails
from boundshift.report._facts import collect_facts
from boundshift.report._page import Report

__all__ = ["ColumnUse", "Doubt", "Report", "RowDetails", "collect_facts", "report_classifier"]
