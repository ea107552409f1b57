"""The one palette, in light and dark: of drawings, of the player, and of the pages' plots."""

from collections.abc import Iterable

# name: (light, dark). In both themes, text has a contrast of at least 4.5 to 1 to its background,
# and what a plot draws on paper has at least 3 to 1.
COLORS = {
    "paper": ("#ffffff", "#15181d"),
    "ink": ("#1f2328", "#e9ecf0"),
    "muted": ("#59636e", "#b4bec9"),
    "edge": ("#6e7985", "#8d98a4"),
    "node": ("#f5f7fa", "#232a33"),
    "node-line": ("#87939f", "#6c7885"),
    "op": ("#e6edf6", "#2c3846"),
    "op-line": ("#7a8aa0", "#7f90a5"),
    "leaf": ("#fff3c2", "#55460f"),
    "leaf-line": ("#a88400", "#d9b13a"),
    "constant": ("#e4e7eb", "#33393f"),
    "constant-line": ("#838d97", "#848e98"),
    "visited": ("#efe3f8", "#3a2358"),
    "visited-line": ("#7b2cbf", "#c79bff"),
    "excluded": ("#667079", "#929ca6"),
    "local": ("#b3261e", "#ffa69e"),
    "global": ("#0b57c4", "#8fc0ff"),
    # For plots: the background, the two passes, and series and areas whose colours mean nothing
    # by themselves, here or in a graph. Colour-blind readers can tell them apart, too.
    "grid": ("#dfe3e8", "#30363e"),
    "forward": ("#dde3ea", "#3b444f"),
    "backward": ("#c3d9fb", "#1f4372"),
    "teal": ("#00756b", "#1fae9d"),
    "orange": ("#c25a00", "#ffb066"),
    "rose": ("#c2459f", "#e86fcb"),
    "moss": ("#4b5629", "#6f8f3a"),
    "umber": ("#7d4a16", "#d9a066"),
    "aqua": ("#bfe5df", "#14504a"),
    "sand": ("#f7d9bd", "#5e3a17"),
}
LIGHT = {name: light for name, (light, _) in COLORS.items()}
NAME = {light: name for name, light in LIGHT.items()}


def color(name: str) -> str:
    """Return a colour of the palette to draw with; on a page it follows the theme.

    Raises:
        KeyError: the palette has no such colour.

    >>> color("local")
    '#b3261e'
    """
    if name not in LIGHT:
        raise KeyError(f"the palette has no colour {name!r}; it has {', '.join(LIGHT)}")
    return LIGHT[name]


def themed(light: str) -> str:
    """Return the custom property for a light colour of the palette, or another colour unchanged."""
    return f"var(--cg-{NAME[light]},{light})" if light in NAME else light


def style(names: Iterable[str] = COLORS) -> str:
    """Return a style sheet that gives these colours of every inline SVG their dark values."""
    paper = COLORS["paper"][1]
    dark = "".join(f"--cg-{name}:{COLORS[name][1]};" for name in names if name != "paper")
    return (
        # A page that says which theme it has shows through; any other gets a sheet of paper.
        "html[data-theme] svg.chaingrad,body[data-jp-theme-light] svg.chaingrad"
        "{--cg-paper:transparent}"
        '@media screen{html[data-theme="dark"] svg.chaingrad,'
        f'body[data-jp-theme-light="false"] svg.chaingrad{{{dark}}}'
        # The book's theme puts a light ground behind every HTML output of a dark page.
        '[data-theme="dark"] .text_html:has(svg.chaingrad)'
        "{background:none!important;padding:0!important}}"
        "@media screen and (prefers-color-scheme:dark)"
        '{html:not([data-theme="light"]):not([data-theme="dark"])'
        ' body:not([data-jp-theme-light="true"]):not([data-jp-theme-light="false"]) svg.chaingrad'
        f"{{{dark}--cg-paper:{paper}}}}}"
    )
