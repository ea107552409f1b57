"""The README of the extensions says at which event, and in which order, each hooks in."""

import re
from importlib import import_module
from unittest.mock import MagicMock

import pytest
import yaml
from sphinx.highlighting import PygmentsBridge

from tests.support import ROOT


def hooks(name: str) -> set[tuple[str, int, str]]:
    """Where an extension hooks in: event, priority and its name; files that it adds left out."""
    app, module = MagicMock(), import_module(name)
    module.setup(app)
    events = {
        (call.args[0], call.kwargs.get("priority", 500), name)
        for call in app.connect.call_args_list
        if call.args[1].__qualname__ != "copy.<locals>.configure"
    }
    added = {"transform": app.add_transform, "post-transform": app.add_post_transform}
    return events | {
        (kind, call.args[0].default_priority, name)
        for kind, adds in added.items()
        for call in adds.call_args_list
    }


def test_the_readme_tells_where_each_extension_hooks_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PygmentsBridge, "html_formatter", PygmentsBridge.html_formatter)
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    connected = set().union(*map(hooks, config["sphinx"]["local_extensions"]))
    told, event = set(), ""
    text = (ROOT / "_ext" / "README.md").read_text(encoding="utf-8")
    for named, priority, names in re.findall(
        r"^\| (.*?) ?\| (\d+) \| (.+?) \|", text, re.MULTILINE
    ):
        event = named.strip("`") or event
        told |= {(event, int(priority), name) for name in re.findall(r"`([\w.]+)`", names)}
    assert told == connected
