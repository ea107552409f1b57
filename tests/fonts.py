"""A browser that shows text without serifs in a font of one's choice, as a reader's system may."""

import os
import sys
from pathlib import Path

from playwright.sync_api import Browser

from tests.support import lacking

TWO = ("Noto Sans", "DejaVu Sans")  # one that lacks ∂, as on most desktops; the widest in use
# What the pages' style sheets ask for, and what Chromium makes of system-ui.
ASKED_FOR = ("sans-serif", "system-ui", "Helvetica", "Arial")
CHOICE = """<match target="pattern"><test name="family"><string>{}</string></test>
<edit name="family" mode="assign" binding="same"><string>{}</string></edit></match>"""
# Chromium finds system-ui by a pattern that names no family.
DEFAULT = """<match target="pattern">
<edit name="family" mode="append"><string>{}</string></edit></match>"""
SYSTEM = os.environ.get("FONTCONFIG_FILE", "/etc/fonts/fonts.conf")


def choose(font: str, folder: Path) -> dict[str, str]:
    """The environment of a browser that takes this font whenever a page leaves it the choice."""
    choices = "".join(CHOICE.format(family, font) for family in (*ASKED_FOR, "sans"))
    choices += DEFAULT.format(font)
    file = folder / "fonts.conf"
    file.write_text(
        f'<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">'
        f'<fontconfig>{choices}<include ignore_missing="yes">{SYSTEM}</include></fontconfig>'
    )
    return {**os.environ, "FONTCONFIG_FILE": str(file)}


def check(browser: Browser, font: str) -> None:
    """Leave out a test in a font that this machine lacks."""
    if sys.platform != "linux" or used(browser, font) != font:
        lacking(f"the font {font}")


def used(browser: Browser, family: str) -> str:
    """The font in which the browser shows text of a family."""
    page = browser.new_page()
    page.set_content(f'<p style="font-family: {family}, serif">Words</p>')
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        session.send(f"{domain}.enable")
    root = session.send("DOM.getDocument")["root"]
    text = session.send("DOM.querySelector", {"nodeId": root["nodeId"], "selector": "p"})
    fonts = session.send("CSS.getPlatformFontsForNode", text)["fonts"]
    page.close()
    return str(fonts[0]["familyName"])
