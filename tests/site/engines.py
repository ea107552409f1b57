"""Firefox and WebKit over WebDriver, and what a reader sees and does in them."""

import io
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from selenium import webdriver
from selenium.common.exceptions import (
    NoSuchElementException,
    StaleElementReferenceException,
    TimeoutException,
    WebDriverException,
)
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from tests.support import PATIENCE, Quiet, lacking

WIDE, HIGH = 1280, 900
COLD = 2 * PATIENCE  # WebKit takes long to start Python
Found = TypeVar("Found")

# The first thing in each page: it notes what scripts complain of and what does not load.
LISTEN = b"""<script>{
    const note = (text) => { sessionStorage.wrong = `${sessionStorage.wrong ?? ""}${text}\\n`; };
    for (const kind of ["error", "warn"]) {
        const say = console[kind];
        console[kind] = (...said) => { note(said.join(" ")); say.apply(console, said); };
    }
    addEventListener("error", ({ message, target }) => {
        if (target.rel !== "next") // which Firefox fetches ahead until one leaves
            note(message ?? `not loaded: ${target.src ?? target.href}`);
    }, true);
    addEventListener("unhandledrejection", (event) => note(event.reason));
}</script>"""
# What Firefox itself calls an error in the pages of an address, in markup, too; but for formulas
# that it lays out while their end is still on its way.
LOGGED = """return Services.console.getMessageArray()
    .filter((m) => m instanceof Ci.nsIScriptError && !(m.flags & m.warningFlag))
    .filter((m) => m.sourceName.startsWith(arguments[0]))
    .filter((m) => !m.errorMessage.includes("Incorrect number of children"))
    .map((m) => `${m.category}: ${m.errorMessage}`)"""


class Watched(Quiet):
    """Serves pages that listen for errors, and notes what was asked for in vain."""

    refused: ClassVar[list[str]] = []

    def send_head(self) -> Any:
        path = Path(self.translate_path(self.path))
        if path.suffix != ".html" or not path.is_file():
            return super().send_head()
        page = path.read_bytes().replace(b"<head>", b"<head>" + LISTEN, 1)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        return io.BytesIO(page)

    def send_error(self, code: int, *said: Any, **more: Any) -> None:
        if self.path != "/favicon.ico":  # for the list of files, which names no icon
            self.refused.append(f"{code} {self.path}")
        super().send_error(code, *said, **more)


def firefox() -> WebDriver:
    # Firefox shows its own console only to those who may see all of it.
    env = os.environ | {"MOZ_REMOTE_ALLOW_SYSTEM_ACCESS": "1"}
    options = webdriver.FirefoxOptions()
    options.add_argument("-headless")
    service = webdriver.FirefoxService(shutil.which("geckodriver"), env=env)
    return webdriver.Firefox(options, service)


def webkit() -> WebDriver:
    # Root may not have WebKit's sandbox in a container, and the pages are our own.
    env = os.environ | {"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}
    service = webdriver.WebKitGTKService(shutil.which("WebKitWebDriver"), env=env)
    return webdriver.WebKitGTK(webdriver.WebKitGTKOptions(), service)


ENGINES = {"Firefox": ("geckodriver", firefox), "WebKit": ("WebKitWebDriver", webkit)}


@contextmanager
def started(name: str) -> Iterator[WebDriver]:
    program, start = ENGINES[name]
    if not shutil.which(program):
        lacking(f"another browser, {name} with {program}")
    try:
        driver = start()
    except WebDriverException as error:
        lacking(f"another browser, {name} that starts ({(error.msg or '').strip()})")
    driver.set_script_timeout(PATIENCE)
    driver.set_window_rect(0, 0, WIDE, HIGH)
    yield driver
    driver.quit()


class Reader:
    """A reader in front of a browser."""

    def __init__(self, driver: WebDriver, address: str) -> None:
        self.driver, self.address = driver, address

    def open(self, path: str) -> None:
        self.driver.get(f"{self.address}/{path}")

    def open_narrow(self, path: str, width: int, height: int = 844) -> None:
        """In a frame: a browser's own window cannot be made as narrow as a phone."""
        self.open("_static/")  # an address without scripts: the list of files
        self.ask(
            """(path, width, height) => new Promise((done) => {
                document.body.innerHTML =
                    `<iframe width=${width} height=${height} frameborder=0>`;
                const frame = document.querySelector("iframe");
                frame.onload = done;
                frame.src = path;
            })""",
            f"{self.address}/{path}",
            width,
            height,
        )
        self.driver.switch_to.frame(0)

    def ask(self, function: str, *given: object) -> Any:
        """What a function in JavaScript says."""
        return self.driver.execute_script(f"return ({function})(...arguments)", *given)

    def wait(self, found: Callable[[], Found], what: str = "") -> Found:
        """What is found, as soon as it is there."""
        passing = (NoSuchElementException, StaleElementReferenceException)
        return WebDriverWait(self.driver, COLD, 0.1, passing).until(lambda _: found(), what)

    def all(self, choice: str) -> list[WebElement]:
        return self.driver.find_elements("css selector", choice)

    def one(self, choice: str) -> WebElement:
        """The first that can be seen."""
        return self.wait(
            lambda: next((e for e in self.all(choice) if e.is_displayed()), None), choice
        )

    def text(self, choice: str) -> str:
        return " ".join(self.one(choice).get_attribute("textContent").split())

    def reads(self, choice: str, words: str) -> None:
        """Wait until an element says these words."""
        said = ""

        def says() -> bool:
            nonlocal said
            said = self.text(choice)
            return words in said

        try:
            self.wait(says)
        except TimeoutException:
            raise AssertionError(f"{choice} says {said!r}, not {words!r}") from None

    def click(self, choice: str) -> WebElement:
        element = self.one(choice)
        self.ask("(e) => e.scrollIntoView({ block: 'center', behavior: 'instant' })", element)
        element.click()
        return element

    def drag(self, choice: str, right: int) -> None:
        """By mouse; a shape has no place for WebDriver, and Firefox finds no group's."""
        x, y = self.ask(
            """(e) => {
                e.scrollIntoView({ block: "center", behavior: "instant" });
                const { x, y, width, height } = e.getBoundingClientRect();
                return [Math.round(x + width / 2), Math.round(y + height / 2)];
            }""",
            self.one(choice),
        )
        actions = ActionBuilder(self.driver)
        actions.pointer_action.move_to_location(x, y).pointer_down()
        actions.pointer_action.move_to_location(x + right, y).pointer_up()
        actions.perform()

    def press(self, *keys: str, held: str = "") -> None:
        actions = ActionChains(self.driver)
        if held:
            actions.key_down(held)
        actions.send_keys(*keys)
        if held:
            actions.key_up(held)
        actions.perform()

    def write(self, choice: str, code: str) -> None:
        """Put other code into an editor."""
        self.click(choice)
        self.press("a", held=Keys.CONTROL)
        self.press(code.replace("\n", Keys.ENTER))

    def complaints(self) -> list[str]:
        """What the pages, the server and the browser found wrong."""
        noted = self.ask("() => sessionStorage.wrong ?? ''").splitlines()
        if self.driver.name == "firefox":
            with self.driver.context("chrome"):
                noted += self.driver.execute_script(LOGGED, self.address)
        return noted + Watched.refused
