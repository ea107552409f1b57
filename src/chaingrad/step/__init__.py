"""A player that steps through a graph, and figures that move.

`play` draws the graph as `chaingrad.draw.draw_graph` does and adds what happens in it, one message
at a time, with numbers. `play_toposort` does the same for a topological sort. The player is a piece
of HTML that holds its own script: it needs no server, no network and no library, and where scripts
do not run, or on paper, three key frames stand in its place. Keys: the arrows make one step, space
plays and pauses, Home and End go to the ends. Of several layouts it shows the first that fits the
screen with the words and the controls: in the asked direction, from the top down, or that with
boxes in which the gradient takes the place of the value. What fits in none scrolls by itself.

Figures that move are pieces of HTML of the same kind. `nudge` and `order` are for any graph of
numbers: leaves to drag, a backward pass to click through. `vary` has controls for a line that was
computed for each of their settings. `transposes` has the gradients of a matrix product, and says
what each of their entries is made of.

`export` writes a player or a figure as a file of its own.

`drill` asks: it draws a problem, judges what is written into it, and names the mistake.
"""

from chaingrad.step.controls import vary
from chaingrad.step.drills import drill
from chaingrad.step.export import export
from chaingrad.step.figure import Figure
from chaingrad.step.nudge import nudge
from chaingrad.step.order import order
from chaingrad.step.passes import play
from chaingrad.step.player import Player
from chaingrad.step.products import transposes
from chaingrad.step.sorting import play_toposort

__all__ = [
    "Figure",
    "Player",
    "drill",
    "export",
    "nudge",
    "order",
    "play",
    "play_toposort",
    "transposes",
    "vary",
]
