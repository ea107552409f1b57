"""A player that steps through a graph, and figures of it that move.

`play` draws the graph as `chaingrad.draw.draw_graph` does and adds what happens in it, one message
at a time, with numbers. `play_toposort` does the same for a topological sort. The player is a piece
of HTML that holds its own script: it needs no server, no network and no library, and where scripts
do not run, or on paper, three key frames stand in its place. Keys: the arrows make one step, space
plays and pauses, Home and End go to the ends.
"""

from chaingrad.step.figure import Figure
from chaingrad.step.nudge import nudge
from chaingrad.step.order import order
from chaingrad.step.player import Player, play, play_toposort

__all__ = ["Figure", "Player", "nudge", "order", "play", "play_toposort"]
