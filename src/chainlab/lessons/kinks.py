"""The engine's operations by name: which have a derivative wherever they have a value.

*Kinks* has a row for each of the others, and its build fails for an operation that is in neither.
"""

import inspect

import chaingrad
from chaingrad import Node, losses, operations, rules

SMOOTH = {
    "add", "sub", "neg", "mul", "square", "vecdot", "matmul", "dot", "vdot", "inner", "outer",
    "kron", "tensordot", "einsum", "exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh",
    "tanh", "arcsinh", "arctan", "sigmoid", "softplus", "logsigmoid", "log_expit", "erf",
    "gelu", "silu", "deg2rad", "rad2deg", "degrees", "radians", "sum", "mean", "average", "var",
    "prod", "cumsum", "cumprod", "squared_norm", "diff", "trace", "inv", "solve",
    "reshape", "flatten", "squeeze", "expand_dims", "atleast_1d", "atleast_2d", "atleast_3d",
    "broadcast_to", "full_like", "transpose", "swapaxes", "moveaxis", "matrix_transpose",
    "flip", "fliplr", "flipud", "roll", "tile", "repeat", "pad", "getitem", "scatter", "take",
    "take_along_axis", "split", "array_split", "hsplit", "vsplit", "diagonal", "diag", "tril",
    "triu", "concatenate", "append", "stack", "hstack", "vstack", "dstack", "column_stack",
    "alias", "positive", "cast", "astype", "cross_entropy", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "mse_loss", "l2_penalty", "softmax", "log_softmax",
}  # fmt: skip
_NO_OPERATIONS = {
    "AnomalyError", "Node", "check_gradients", "checkpoint", "custom_vjp", "detect_anomaly", "grad",
    "hessian", "hvp", "jacobian", "jvp", "no_grad", "program", "value_and_grad", "vjp", "apply",
    "backward", "detach", "item", "seed", "sorted_graph", "argmax", "argmin",
    "product", "without_each", "up_to_each",  # parts of prod and cumprod
    "cofactors", "cofactors_slope",  # parts of the VJP of det
    "tip", "steep", "no_slope",  # parts of norms and powers, which mark where no slope is
}  # fmt: skip
_OTHER_NAMES = {"amax": "max", "amin": "min", "ravel": "flatten", "reciprocal": "div"}


def public_operations() -> set[str]:
    """Name all that is public and takes nodes; what has several names is there once.

    These are the methods of `~chaingrad.node.Node`, the functions of ``chaingrad`` and
    ``chaingrad.losses``, NumPy's and SciPy's functions of nodes, and the rules.
    """
    methods = {name for name, x in inspect.getmembers_static(Node, inspect.isfunction)}
    of_losses = {name for name, x in vars(losses).items() if inspect.getmodule(x) is losses}
    named = {f.__name__: x for f, x in (operations.UFUNCS | operations.FUNCTIONS).items()}
    of_numpy = {_rules_name(x, name) for name, x in (named | operations.SCIPY).items()}
    found = methods | of_losses | of_numpy | {*chaingrad.__all__, *rules.RULES}
    public = {_OTHER_NAMES.get(name, name) for name in found if not name.startswith("_")}
    return public - _NO_OPERATIONS


def _rules_name(operation: object, name: str) -> str:
    return operation.name if isinstance(operation, rules.Rule) else name
