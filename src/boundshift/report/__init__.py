"""A report in one HTML file: facts first, markup second.

`collect_facts` gathers plain values, `render_report` turns them into a page, `write_report`
stores it; `Report` holds both, for notebooks. The page needs no network and no library: its
pictures are drawn as SVG when it is made, and a few lines of script move the threshold.
"""

from boundshift.report.document import Report
from boundshift.report.facts import collect_facts
from boundshift.report.of_classifier import report_classifier
from boundshift.report.page import render_report, write_report
from boundshift.report.row_details import RowDetails
from boundshift.report.unsure import add_zone

__all__ = [
    "Report",
    "RowDetails",
    "add_zone",
    "collect_facts",
    "render_report",
    "report_classifier",
    "write_report",
]
