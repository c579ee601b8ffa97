"""How the documentation is built: ``make docs``."""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import files
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

os.environ.setdefault("MPLBACKEND", "agg")
# Threads that wait for each other make tiny fits a hundred times slower on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import boundshift  # noqa: E402

project = "boundshift"
author = "The boundshift developers"
copyright = author
version = release = boundshift.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "command_line",
]
exclude_patterns = ["_build", "generated/commands.md"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

templates_path = ["_templates"]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "show_memory": False,
    "write_computation_times": False,  # its page would load scripts from elsewhere
    "remove_config_comments": True,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "boundshift"
html_theme_options = {
    "navigation_with_keys": True,
    "navbar_center": [],  # The sidebar has all pages.
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}
html_show_sourcelink = False
html_sidebars = {"**": ["all_pages"]}

# Formulas are set by a script that is shipped with the pages: reading them needs no network.
_MATHJAX = "tex-svg.js"
html_static_path = ["_static"]
html_static_path += [
    str(path.locate()) for path in files("sphinx-mathjax-offline") or [] if path.name == _MATHJAX
]
html_css_files = ["pages.css"]
mathjax_path = _MATHJAX

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The laboratory's pages are in the repository, but not among the built pages.
_LABORATORY = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(lab/docs/[\w/]+\.md)[^)]*\)")


def name_laboratory_pages(app: Any, docname: str, source: list[str]) -> None:
    """Replace links to the laboratory's pages by their paths."""
    source[0] = _LABORATORY.sub(r"\1 (`\2`)", source[0])


def setup(app: Any) -> None:
    """Join the build."""
    app.connect("source-read", name_laboratory_pages)
