"""A report in one HTML file: facts first, markup second.

`collect_facts` gathers plain values, `render_report` turns them into a page, `write_report`
stores it. The page needs no network and no library: its pictures are drawn as SVG when it is
made, and a few lines of script move the threshold.
"""

from boundshift.report.facts import collect_facts
from boundshift.report.page import render_report, write_report

__all__ = ["collect_facts", "render_report", "write_report"]
