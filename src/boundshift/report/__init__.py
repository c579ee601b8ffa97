"""A report in one HTML file: facts first, markup second.

`collect_facts` gathers plain values, `render_report` turns them into a page, `write_report`
stores it; `Report` holds both, for notebooks. The page needs no network and no library: its
pictures are drawn as SVG when it is made, and a few lines of script move the threshold.
"""

from boundshift.report.evidence import RowDetails
from boundshift.report.page import (
    Report,
    add_zone,
    collect_facts,
    render_report,
    report_classifier,
    write_report,
)

__all__ = [
    "Report",
    "RowDetails",
    "add_zone",
    "collect_facts",
    "render_report",
    "report_classifier",
    "write_report",
]
