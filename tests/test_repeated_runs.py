"""Whatever hashes and addresses are, the same things are said in the same order."""

import os
import subprocess
import sys

CODE = """
import sys
held = [bytearray(16 * (i * int(sys.argv[1]) % 37)) for i in range(5000)]  # moves what comes later
del held[::3]

import numpy as np
from chaingrad import Node, concatenate, program
from chaingrad.account import Ledger
from chaingrad.backward import adjoints
from chaingrad.messages import messages
from chaingrad.nn import MLP
from chainlab.doctor import examine
from chainlab.lessons import engine
from chainlab.workbench import VIEWS, respond

W, v, x = (Node(np.full(n, 0.5), name) for n, name in (((3, 2), "W"), (2, "v"), (3, "x")))
hidden = (W @ v).tanh() * x
loss = (concatenate([hidden, W[0], x.exp()]) ** 2).sum() + (W * v).sum()
nodes = loss.sorted_graph()
print([(y.op, y.label, g) for y, g in adjoints(loss, loss.seed(), nodes).items()])
print([(m.child.op, m.position, m.parent.label) for m in messages(loss)])
print(Ledger(loss), Ledger(loss).backward_flops)
model = MLP(2, [3, 1], rng=0)
print([m.share for m in messages(model([1.0, 2.0]))], [p.label for p in model.parameters()])
step = program(lambda W, v: (W @ v).tanh().sum() + (W * v).sum(), argnums=(0, 1))
print(step(W.data, v.data), step.source)
text = "x, w, b = Node(0.5), Node(2.0), Node(0.1)\\nh = (w * x + b).tanh()\\ny = h * w + h * x"
for view in VIEWS:
    print(respond(text, view))
print(examine(engine.Node, milestone=2))
"""


def test_runs_with_other_hashes_and_addresses_say_the_same() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", CODE, seed],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1]
