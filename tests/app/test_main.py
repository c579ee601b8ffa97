import builtins
import sys

import pytest

from boundshift.__main__ import main


def test_without_the_extra_its_name_is_said(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("boundshift.app")]:
        monkeypatch.delitem(sys.modules, name)
    found = builtins.__import__

    def absent(name, *rest, **more):
        if name.split(".")[0] == "typer":
            raise ModuleNotFoundError("No module named 'typer'", name="typer")
        return found(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(SystemExit) as caught:
        main()
    assert 'pip install ".[cli]"' in str(caught.value)
