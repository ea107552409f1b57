"""The built site, read as files: links, alternative text, weight, no foreign resources."""

import functools
import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from bs4 import Tag

from chainlab.drills import KINDS
from tests.site.built import Site, parse, toc_documents
from tests.support import ROOT, each

PAGE_BUDGET = 1.0e6
SHARED_BUDGET = 1.3e6  # of what pages load
AHEAD_BUDGET = 4e4  # of a figure on the card of the next page
SEARCH_BUDGET = 1.7e6  # of the site's text, which the first search loads
# sphinx-exercise gives these to every box; nothing links to them.
OF_THE_EXTENSIONS = {"exercise-content", "solution-content"}
# The relations of a page to others that it merely names; every other makes a browser ask for it.
NAMES = {"alternate", "author", "canonical", "index", "license", "next", "prev", "search"}
RESOURCES = {"script": "src", "img": "src", "source": "src", "iframe": "src", "object": "data"}


@functools.cache
def resources(page: Path) -> list[str]:
    """The addresses that a browser fetches for a page, links left aside."""
    soup = parse(page)
    found = [tag[attribute] for name, attribute in RESOURCES.items()
             for tag in soup.find_all(name) if tag.get(attribute)]  # fmt: skip
    found += [tag["href"] for tag in soup.select("link[href]") if not NAMES & set(tag["rel"])]
    found += [tag["href"] for tag in soup.select("svg image, svg use") if tag.get("href")]
    return found


def local_file(site: Site, page: Path, address: str) -> Path:
    """The file that a relative address of a page names."""
    path = unquote(urlsplit(address).path)
    base = site.folder if path.startswith("/") else page.parent
    target = (base / path.lstrip("/")).resolve() if path else page
    return target / "index.html" if target.is_dir() else target


def is_foreign(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https")


def test_everything_comes_from_the_site(site: Site) -> None:
    foreign = {(page.name, url) for page in site.pages() for url in resources(page)
               if is_foreign(url)}  # fmt: skip
    assert not foreign


def test_style_sheets_ask_no_other_host(site: Site) -> None:
    for sheet in site.folder.rglob("*.css"):
        text = sheet.read_text()
        assert "url(http" not in text.replace('"', "").replace("'", ""), sheet.name
        assert "@import url(//" not in text, sheet.name


def test_resources_exist(site: Site) -> None:
    missing = {(page.name, url) for page in site.pages() for url in resources(page)
               if not is_foreign(url) and not url.startswith("data:")
               and not local_file(site, page, url).is_file()}  # fmt: skip
    assert not missing


def test_no_page_names_the_folder_in_which_it_was_built(site: Site) -> None:
    assert not [page.name for page in site.pages() if str(ROOT) in page.read_text()]


# What other extensions copy when the pages are written, too late for Sphinx to look at it.
PROBLEM = re.compile(rf"({'|'.join(KINDS)})-[1-3]-[1-9]\d*")
LATE = re.compile(r"/(exercise|mystnb\.\w{64})\.css$")


def test_addresses_of_scripts_and_style_sheets_change_with_their_content(site: Site) -> None:
    """A browser that keeps a file for long asks for the one that the page means."""
    fixed = {
        address
        for page in site.pages()
        for address in map(urlsplit, resources(page))
        if address.path.endswith((".js", ".css"))
        and not address.query
        and not LATE.search(address.path)
    }
    assert not fixed


@functools.cache
def anchors(page: Path) -> set[str]:
    soup = parse(page)
    return {tag["id"] for tag in soup.find_all(id=True)} | {
        tag["name"] for tag in soup.select("a[name]")
    }


def test_internal_links_resolve(site: Site) -> None:
    broken = []
    for page in site.pages():
        for link in parse(page).select("a[href]"):
            address, fragment = urldefrag(link["href"])
            if is_foreign(address) or urlsplit(address).scheme or (not address and not fragment):
                continue
            target = local_file(site, page, address)
            if not target.is_file():
                broken.append((page.name, link["href"], "no such page"))
            elif target.stem == "drills" and PROBLEM.fullmatch(fragment):
                continue  # a problem, which is drawn when its address is opened
            elif fragment and unquote(fragment) not in anchors(target):
                broken.append((page.name, link["href"], "no such anchor"))
    assert not broken


@each("document", toc_documents)
def test_references_resolve(site: Site, document: str) -> None:
    """What docutils could not resolve is marked in the page; ids must be unique to be targets."""
    soup = site.document(document)
    assert not [tag.get_text() for tag in soup.select(".problematic, .system-message")]
    times = Counter(tag["id"] for tag in soup.find_all(id=True))
    repeated = {name for name in times if times[name] > 1}
    assert not repeated - OF_THE_EXTENSIONS


def alternative(figure: Tag) -> str:
    """What a screen reader says in place of a figure."""
    if figure.name == "img":
        return str(figure.get("alt", ""))
    label = figure.get("aria-label") or ""
    title = figure.find("title", recursive=False)
    return str(label) or (title.get_text() if title else "")


@each("document", toc_documents)
def test_figures_have_alternative_text(site: Site, document: str) -> None:
    main = site.document(document).select_one("main")
    assert main is not None
    hidden = "[aria-hidden=true], [aria-hidden=true] *"  # the strokes of formulas among them
    within = "svg svg"  # a part of a drawing
    beside = ".ahead-picture"  # the card of the next page says in words what it leads to
    figures = [
        f for f in main.select("img, svg") if not f.css.match(f"{hidden}, {within}, {beside}")
    ]
    silent = [str(figure)[:200] for figure in figures if not alternative(figure).strip()]
    assert not silent
    default = [
        f for f in main.select("img") if str(f.get("alt", "")).startswith(("../", "_images"))
    ]
    assert not default


@each("document", toc_documents)
def test_drawings_and_plots_are_announced_as_images(site: Site, document: str) -> None:
    for drawing in site.document(document).select("svg.chaingrad"):
        plot = drawing.find_parent(role="img")  # which may have several panels
        role = "group" if drawing.select("a") else "img"  # an image hides the links in it
        assert drawing.get("role") == role or (plot and plot.get("aria-label"))


@each("document", toc_documents)
def test_what_stands_beside_a_page_is_a_region_of_its_own(site: Site, document: str) -> None:
    """A screen reader skips from region to region; the theme leaves the logo out of all."""
    side = site.document(document).select_one("#pst-primary-sidebar")
    assert side is not None
    assert side.get("role") == "region"
    assert side.get("aria-label")


@each("document", toc_documents)
def test_pages_keep_their_budget(site: Site, document: str) -> None:
    page = site.folder / f"{document}.html"
    images = {local_file(site, page, img["src"]) for img in parse(page).select("img[src]")
              if not img["src"].startswith("data:")}  # fmt: skip
    weight = page.stat().st_size + sum(image.stat().st_size for image in images)
    assert weight <= PAGE_BUDGET


def test_shared_files_keep_their_budget(site: Site) -> None:
    index = site.folder / "_static" / "search" / "index.js"
    ahead = set((site.folder / "_static").glob("ahead-*"))  # of these a page asks for one
    shared = {path for path in (site.folder / "_static").rglob("*") if path.is_file()} - {index}
    shared -= ahead
    assert sum(path.stat().st_size for path in shared) <= SHARED_BUDGET
    assert index.stat().st_size <= SEARCH_BUDGET
    assert max(path.stat().st_size for path in ahead) <= AHEAD_BUDGET


def test_sources_are_not_published(site: Site) -> None:
    assert not list(site.folder.glob("_sources/*"))  # an empty folder is what newer Sphinx leaves


@pytest.mark.parametrize("name", ["logo.svg", "favicon.svg"])
def test_logo_and_favicon_are_published(site: Site, name: str) -> None:
    assert (site.folder / "_static" / name).is_file()


def test_each_page_says_what_it_is_about(site: Site) -> None:
    """In a description of its own, whole sentences of the page, and for those who send a link."""
    told = {}
    for name in toc_documents():
        page = site.document(name)
        said = page.select_one("meta[name=description]")["content"]
        assert re.fullmatch(r"[A-Z][^$\\]{45,250}[.?]", said), (name, said)
        first, _, _ = said.removeprefix("After this page you can ").rstrip(".").partition("; ")
        assert squeezed(first) in squeezed(page.select_one("article").get_text()), name
        assert page.select_one("meta[property='og:description']")["content"] == said
        assert page.select_one("meta[property='og:title']")["content"] in page.title.text
        told[name] = said
    assert len(set(told.values())) == len(told)
    front = site.soup(site.folder / "index.html")
    assert front.select_one("meta[name=description]")["content"] == told[toc_documents()[0]]


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)
