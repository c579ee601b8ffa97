"""The page's lines about PyTorch run as they are shown."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "wrap_a_model.md"


# The network shown stands in for a trained one, so its scores may point either way.
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_network_is_shifted_by_the_lines_shown():
    """A trained module is wrapped as it is."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    exec(blocks[0] + "from boundshift import BoundShiftClassifier", names)
    exec(next(block for block in blocks if "import torch" in block), names)
    assert sum(names["shifted"].boundary_.n_samples) == len(names["y_new"])
    assert len(names["shifted"].predict(names["X_new"])) == len(names["y_new"])
