"""Self-contained HTML pages for marks: one style, nothing loaded, everything escaped."""

from collections.abc import Iterable, Mapping
from html import escape

from latex2mathml import converter
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

STYLE = """
:root { color-scheme: light dark; --text: #1f2430; --soft: #5b6472; --back: #ffffff;
  --card: #f6f7f9; --line: #d9dde3; --good: #1a7f37; --bad: #b3261e; --bar: #3b6fb6; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e7ec; --soft: #a3acb9;
  --back: #14181f; --card: #1d232c; --line: #38414d; --good: #57c26f; --bad: #ff8a80;
  --bar: #7fb0f0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 54rem; color: var(--text);
  background: var(--back); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; } h2 { margin: 2.2rem 0 .6rem; font-size: 1.35rem; }
h3 { margin: 0; font-size: 1.1rem; } p { margin: .5rem 0; }
a { color: inherit; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; } td.number, th.number { text-align: right;
  white-space: nowrap; width: 1%; padding-right: 1rem; }
td { min-width: 4rem; } td:last-child { min-width: 8rem; overflow-wrap: anywhere; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 1rem 1.1rem; margin: 1rem 0; }
.top { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem;
  align-items: baseline; } .top > * { min-width: 0; }
.points { white-space: nowrap; font-weight: 600; }
.parts { list-style: none; margin: .6rem 0; padding: 0; }
.parts .points { font-weight: 400; }
.parts > li { border-top: 1px solid var(--line); padding: .55rem 0; }
.good { color: var(--good); } .bad { color: var(--bad); } .soft { color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem .9rem; margin: .4rem 0 0; }
dt { color: var(--soft); } dd { margin: 0; }
code, pre, dd { font-family: ui-monospace, monospace; font-size: .9em; }
dd.words { font: inherit; }
pre { overflow-x: auto; overflow-wrap: normal; padding: .7rem .8rem; margin: .5rem 0;
  background: var(--back); border: 1px solid var(--line); border-radius: 6px; }
summary { cursor: pointer; color: var(--soft); }
.math.block { overflow-x: auto; padding: .4rem 0; }
svg { display: block; width: 100%; max-width: 34rem; height: auto; }
svg text { fill: var(--text); font: 12px system-ui, sans-serif; } svg rect { fill: var(--bar); }
svg line { stroke: var(--line); }
@media print { details { display: none; } }
"""


def page(title: str, body: str) -> str:
    """A whole page; the policy lets it load and run nothing, whatever it quotes."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""


def markdown(text: str) -> str:
    """A statement as HTML, its formulas in MathML; HTML in it is shown, not used."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return str(parser.use(dollarmath_plugin, renderer=_formula).render(text))


def _formula(tex: str, options: Mapping[str, bool]) -> str:
    """MathML, which browsers show by themselves; TeX where it has no translation."""
    display = "block" if options["display_mode"] else "inline"
    try:
        return str(converter.convert(tex, display=display))
    except Exception:  # each of its many errors says that it does not know the formula
        return f"<code>{escape(tex)}</code>"


def code(source: str) -> str:
    """Source text as it is."""
    return f"<pre><code>{escape(source)}</code></pre>"


def folded(title: str, body: str) -> str:
    """What the reader opens with a click."""
    return f"<details><summary>{escape(title)}</summary>\n{body}\n</details>"


def table(header: Iterable[str], rows: Iterable[Iterable[str]], numbers: Iterable[int] = ()) -> str:
    """A table of cells that are HTML already; `numbers` are the columns set to the right."""
    right = set(numbers)

    def line(tag: str, cells: Iterable[str]) -> str:
        marked = (
            f'<{tag} class="number">{cell}</{tag}>' if i in right else f"<{tag}>{cell}</{tag}>"
            for i, cell in enumerate(cells)
        )
        return f"<tr>{''.join(marked)}</tr>"

    body = "\n".join(line("td", row) for row in rows)
    head = line("th", map(escape, header))
    whole = f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table>"
    return f'<div class="scroll">{whole}</div>'


def points(got: float, of: float) -> str:
    """Points out of how many.

    >>> points(2.5, 4.0)
    '2.5 of 4'
    """
    return f"{round(got, 2):g} of {round(of, 2):g}"
