"""The kinds of problems, by their names."""

from chainlab.drills.adjoints import Adjoints
from chainlab.drills.chain import Chain
from chainlab.drills.costs import Costs
from chainlab.drills.equations import Equations
from chainlab.drills.keep import Keep
from chainlab.drills.kind import Kind
from chainlab.drills.local import Local
from chainlab.drills.messages import Messages
from chainlab.drills.mlp import Mlp
from chainlab.drills.orders import Orders
from chainlab.drills.tiles import Shapes

ALL: tuple[Kind, ...] = (
    Local(), Chain(), Adjoints(), Orders(), Messages(), Shapes(), Mlp(), Keep(), Costs(),
    Equations(),
)  # fmt: skip
KINDS = {kind.name: kind for kind in ALL}
