"""The mistakes that people make in a backward pass, and what to say of each.

One type and one table for all that asks and judges. A mistake is made where its numbers are at
hand, and told here: what you probably did, why it fails, and what to look at, but not the answer.
Where two give the same number, the one that stands first here is the likelier.
"""

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

GRAPH = "foundations/computational-graph#a-program-that-sends-too-soon"
PATHS = "foundations/chain-rule#two-routes-add-up"
STEPS = "foundations/chain-rule#a-nudge-travels-through-three-steps"
SLOPES = "foundations/chain-rule#the-slope-of-each-operation"
FACTORING = "foundations/chain-rule#backprop-is-factoring"
SHAPES = "mlp/matrix-equations#guessed-by-shapes"
INDICES = "mlp/matrix-equations#derived-by-indices"
PRODUCTS = "mlp/matrix-equations#a-layer-and-a-batch"
LAYER = "mlp/matrix-equations#the-backward-pass-of-a-layer"
BATCH = "mlp/matrix-equations#why-the-gradient-of-w-adds-up-the-examples"
FORWARD = "mlp/forward-and-backward#the-forward-pass"
BEFORE = "mlp/forward-and-backward#before-the-activation"
PENALTY = "mlp/forward-and-backward#loss-and-penalty"
INACTIVE = "mlp/forward-and-backward#what-an-inactive-unit-receives"
KEPT = "cost/memory-and-rematerialization#what-is-kept-and-why"
FLOPS = "cost/time-and-flops#two-products-back-for-each-one-forward"

PAGES = {  # by their titles
    "foundations/computational-graph": "Computational graphs",
    "foundations/chain-rule": "The chain rule",
    "foundations/autograd-engine": "An autograd engine",
    "mlp/matrix-equations": "A batch, and softmax",
    "mlp/forward-and-backward": "Forward and backward",
    "cost/memory-and-rematerialization": "Memory and rematerialization",
    "cost/time-and-flops": "Time and FLOPs",
}


T = TypeVar("T")


class Mistake(NamedTuple, Generic[T]):
    """A mistake that someone may have made.

    Attributes:
        name: of its row in the table below.
        gives: what comes of it: a number, an array, a formula, a line, an order.
        says: what is said of it where it was made, as HTML.
        edge: along which it happens, if along one.
    """

    name: str
    gives: T
    says: str = ""
    edge: tuple[str, str, int] | None = None


@dataclass(frozen=True)
class Telling:
    """What to say of a mistake wherever it was made, as plain text.

    Attributes:
        did: what the reader probably did.
        fails: why that fails.
        look: what to look at or to ask; it doesn't give the answer.
        lesson: a page and its section.
    """

    did: str
    fails: str
    look: str
    lesson: str

    @property
    def why(self) -> str:
        """The last two parts."""
        return f"{self.fails} {self.look}"

    @property
    def page(self) -> str:
        """The title of the lesson's page."""
        return PAGES[self.lesson.partition("#")[0]]


MISTAKES = {  # by their names
    # --- along one edge ---
    "sign": Telling(
        "You probably lost a minus, or have one too many.",
        "Where a value is subtracted, the result falls as that value grows.",
        "Does the result rise or fall when this value grows a little?",
        SLOPES,
    ),
    "forgotten": Telling(
        "You probably followed one path and left another out.",
        "A value that is used several times matters along each use, and the shares add up.",
        "How many edges leave this value? Each of them sends a share.",
        PATHS,
    ),
    "local": Telling(
        "You probably wrote down the local gradient alone.",
        "It says how fast the next value grows, and the question is how fast the last one does.",
        "What has arrived at the next node? That is the other factor.",
        STEPS,
    ),
    "unchanged": Telling(
        "You probably passed on unchanged what had arrived.",
        "A sum does that, because its slope is 1. Any other operation multiplies.",
        "Which operation is it, and what is its slope for this operand?",
        SLOPES,
    ),
    "denominator": Telling(
        "You probably left the square out of the slope of a quotient.",
        "Where you divide by a value, its slope has that value squared below the line.",
        "What is the derivative of 1/q with respect to q?",
        SLOPES,
    ),
    "brought down": Telling(
        "You probably left out the factor that the power brings down.",
        "The derivative of a power has its exponent as a factor.",
        "Compare a square at this value and at one a little larger: how fast does it grow?",
        SLOPES,
    ),
    "exponent": Telling(
        "You probably kept the exponent as it was.",
        "The derivative of a power has an exponent that is smaller by one.",
        "Which exponent has the slope of a square? Which has the slope of a cube?",
        SLOPES,
    ),
    "exponential": Telling(
        "You probably took exp for a power.",
        "In a power the base is nudged; in exp it is the exponent.",
        "How much larger is exp at a value that is a little larger, in parts of itself?",
        SLOPES,
    ),
    "operand": Telling(
        "You probably took the value of the operand itself.",
        "The slope says how fast the result grows with it, and that is seldom the value.",
        "What multiplies this operand, or what is the derivative of the function there?",
        SLOPES,
    ),
    "swapped": Telling(
        "You probably took the local gradient of the other operand.",
        "Each operand has a slope of its own: in a product it is the other factor.",
        "Which operand does the question name, and what stands beside it?",
        SLOPES,
    ),
    "result": Telling(
        "You probably took the value of the result.",
        "exp has its value as its slope; most functions have another formula.",
        "What is the derivative of this function, and at which value do you need it?",
        SLOPES,
    ),
    "zero": Telling(
        "You probably took it that nothing comes back here.",
        "A 0 says that nothing changes when this value is nudged.",
        "Nudge the value in your mind: does anything that uses it move?",
        SLOPES,
    ),
    "upside down": Telling(
        "You probably have the fraction upside down.",
        "That is how fast the operand would grow with the result.",
        "Which of the two do you nudge, and which do you watch?",
        SLOPES,
    ),
    "added": Telling(
        "You probably added where a product belongs.",
        "A nudge is stretched by each step that it goes through, and stretching twice multiplies.",
        "Along an edge you multiply. You add only where edges meet.",
        STEPS,
    ),
    "value": Telling(
        "You probably took the value of the node.",
        "The adjoint says how fast the last value grows with this one, not how large this one is.",
        "Which shares come back along the edges that leave it?",
        STEPS,
    ),
    "scale": Telling(
        "You probably left a constant factor out.",
        "A constant that multiplies forward multiplies what comes back, too.",
        "Which number stands before the product in the forward line?",
        STEPS,
    ),
    "data": Telling(
        "You probably multiplied by the value of the next node.",
        "What comes back is made of adjoints; a value only says how steep an edge is.",
        "Which adjoint has the node that uses this value?",
        STEPS,
    ),
    # --- where paths meet ---
    "last": Telling(
        "You probably kept the last share alone, as = does in the place of +=.",
        "The last share wrote over those that had come before.",
        "Which shares came along the other edges? They add up.",
        PATHS,
    ),
    "first": Telling(
        "You probably kept the first share and dropped those that came later.",
        "Each share is one path's part of the change, and the parts add up.",
        "Which shares come along the other edges?",
        PATHS,
    ),
    "twice": Telling(
        "You probably counted one share twice.",
        "Each edge that leaves a value brings one share.",
        "How many edges leave it? Write down the share of each, and add up then.",
        PATHS,
    ),
    "early": Telling(
        "You probably passed something on before all of it had come.",
        "A share that comes later is then missing from everything further back.",
        "Has every edge that leaves the node sent its share before the node sends?",
        GRAPH,
    ),
    "product": Telling(
        "You probably multiplied the shares of several paths.",
        "Along one path you multiply; the paths themselves are independent ways to matter.",
        "What does each path bring by itself? Put these together as a sum.",
        FACTORING,
    ),
    "mean": Telling(
        "You probably averaged where a sum belongs, or the other way round.",
        "A nudge goes down all paths at once, so their effects add up; only a mean divides.",
        "Is there a mean in the forward line? If not, nothing divides.",
        PATHS,
    ),
    # --- which message is wrong ---
    "passed on": Telling(
        "You probably saw a wrong number, and it is one.",
        "But this message multiplies correctly what its sender holds, and that was wrong already.",
        "Go from there towards the root: where does the error come in?",
        STEPS,
    ),
    "beside": Telling(
        "You probably saw that the sum at this node is wrong, and it is.",
        "But the sum has several messages, and this one is right.",
        "Check the other messages that go to the same node.",
        PATHS,
    ),
    "same sender": Telling(
        "You probably found the right node: something that it sends is wrong.",
        "But it sends along several edges, and along this one it multiplies correctly.",
        "Check what it sends to its other operand.",
        SLOPES,
    ),
    "right": Telling(
        "You probably mistrusted a message that is right.",
        "It is what its sender holds times the local gradient of this edge.",
        "Do that product for each edge, from the root on, and compare.",
        STEPS,
    ),
    # --- orders ---
    "depth": Telling(
        "You probably went depth first from the root and took each node as you entered it.",
        "A node is then entered along one path while another still owes it a share.",
        "For each node: have all that use it gone before?",
        GRAPH,
    ),
    "breadth": Telling(
        "You probably went level by level, and took each node when its first share came.",
        "A longer path brings its share later, when the node has already passed on.",
        "For each node: which of those that use it comes last?",
        GRAPH,
    ),
    "stack": Telling(
        "You probably let the node go next that was reached last.",
        "It may have the first of its shares alone.",
        "For each node: count the shares that it waits for.",
        GRAPH,
    ),
    "forward": Telling(
        "You probably took the order of the forward pass.",
        "The backward pass begins at the root, because nothing else knows its adjoint yet.",
        "Which node does nobody use? It goes first.",
        GRAPH,
    ),
    "left": Telling(
        "You probably searched depth first and took each node as you left it.",
        "That puts operands before those that use them, which is the order forward.",
        "What does that order look like from its end?",
        GRAPH,
    ),
    # --- matrices ---
    "transposed": Telling(
        "You probably have the transpose of what is asked for.",
        "A gradient has the shape of its matrix, entry for entry.",
        "Which shape must it have, and in which order do the sizes stand in yours?",
        SHAPES,
    ),
    "order": Telling(
        "You probably have the factors in the wrong order.",
        "A matrix product isn't the same from both sides, even where the shapes fit.",
        "On which side of the matrix did the other factor stand in the forward line?",
        SHAPES,
    ),
    "untransposed": Telling(
        "You probably transposed a factor too many, or one too few.",
        "Going back through a product, the other factor comes transposed from how it stood there.",
        "Write out one entry: over which index does the sum run?",
        INDICES,
    ),
    "factor": Telling(
        "You probably used the matrix itself as a factor.",
        "In a product, what comes back to one factor is made with the other one.",
        "What was this matrix multiplied by?",
        LAYER,
    ),
    "entry": Telling(
        "You probably multiplied entry by entry where a matrix product belongs, or the reverse.",
        "What comes back is multiplied in the way that the values were multiplied forward.",
        "Which of the two products stands in the forward line?",
        PRODUCTS,
    ),
    "batch": Telling(
        "You probably left a sum out: one share for each row stands there still.",
        "A value that every row uses gets a share from every row.",
        "Which rows use it? Compare the shape of your result with its shape.",
        BATCH,
    ),
    "axis": Telling(
        "You probably added up along the wrong axis.",
        "The sum runs over what shares the value, which is the batch for a bias.",
        "Which axis does the value not have?",
        BATCH,
    ),
    # --- the network ---
    "term": Telling(
        "You probably left out a product of the sum.",
        "A unit adds up one product for each of its inputs.",
        "How many entries has the row? Count your products.",
        FORWARD,
    ),
    "linear": Telling(
        "You probably passed the value through ReLU unchanged, or changed its sign.",
        "ReLU keeps what is above 0, and makes everything else 0.",
        "Is the value before the activation above 0?",
        FORWARD,
    ),
    "before": Telling(
        "You probably used the value from before the activation.",
        "The output layer reads what the activation gives.",
        "Which of the two values went into that product?",
        FORWARD,
    ),
    "slope": Telling(
        "You probably mixed up the slope of the activation and its value.",
        "Forward you need the value; back you need what arrived, times the slope.",
        "Which of the two is asked for here?",
        BEFORE,
    ),
    "early adjoint": Telling(
        "You probably used the adjoint of another value.",
        "It has the right shape, but the step in between is missing.",
        "Which adjoint arrives at the line that uses this value?",
        BEFORE,
    ),
    "half": Telling(
        "You probably lost the half before the square, or the 2 of its derivative.",
        "Half of a square is half as large, and its slope is the number itself.",
        "Is the half in the forward formula? Is the 2 in the derivative?",
        PENALTY,
    ),
    "unsquared": Telling(
        "You probably added the numbers up without squaring them.",
        "The loss and the penalty are sums of squares.",
        "Square each entry first, and add up then.",
        PENALTY,
    ),
    "matrix": Telling(
        "You probably penalized one of the two matrices alone.",
        "The penalty is over all weights.",
        "Which matrices stand in the formula of the penalty?",
        PENALTY,
    ),
    "doubled": Telling(
        "You probably counted the penalty's share twice.",
        "The 2 of the square cancels the half before it.",
        "What is the derivative of half a square?",
        PENALTY,
    ),
    "decay": Telling(
        "You probably left the penalty out.",
        "The weights decay: they matter through the loss and through the penalty.",
        "Which two paths lead from this value to the objective?",
        INACTIVE,
    ),
    "loss": Telling(
        "You probably have the penalty's share alone.",
        "The weights also matter through the loss.",
        "What comes back along the edge from the layer?",
        INACTIVE,
    ),
    "inactive": Telling(
        "You probably let something through a unit that is inactive.",
        "Where the value before ReLU isn't above 0, its slope is 0.",
        "Which sign has the value before the activation?",
        INACTIVE,
    ),
    # --- what is kept ---
    "frozen": Telling(
        "You probably kept what the gradient of an input would need.",
        "Nobody asks for that gradient, so nothing is read for it.",
        "Which leaf needs no gradient? What is read for its sake alone?",
        KEPT,
    ),
    "swapped values": Telling(
        "You probably kept the input of a function.",
        "exp, tanh and their like have their slope from their result.",
        "Write each slope down: does it name what went in or what came out?",
        KEPT,
    ),
    "operands": Telling(
        "You probably kept every operand.",
        "A sum reads nothing, and many a function reads its result.",
        "Write each local gradient down: which values does it name?",
        KEPT,
    ),
    "computed": Telling(
        "You probably kept whatever was computed.",
        "The pass reads by formulas, and these name leaves as well.",
        "Write each local gradient down: which values does it name?",
        KEPT,
    ),
    "everything": Telling(
        "You probably kept every value.",
        "Only what the formula of a local gradient names is read again.",
        "Which operations have a slope with no value in it?",
        KEPT,
    ),
    "leaves": Telling(
        "You probably kept leaves alone.",
        "The formulas read computed values, too.",
        "Which operations read a value that another operation made?",
        KEPT,
    ),
    "no leaves": Telling(
        "You probably left out the leaves.",
        "A product reads its factors, also where they are leaves.",
        "Which operations read a leaf?",
        KEPT,
    ),
    "root": Telling(
        "You probably kept the root.",
        "Nobody uses it, so nobody's slope can name it, except its own.",
        "Does the slope of the last operation name its result?",
        KEPT,
    ),
    "unread": Telling(
        "You probably counted a value that nothing reads.",
        "It can be freed as soon as it has been used forward.",
        "Which formula of the backward pass names it?",
        KEPT,
    ),
    "no bytes": Telling(
        "You probably took it that nothing reads this value.",
        "A formula of the backward pass names it.",
        "Go through the operations that make it or use it: which slope names it?",
        KEPT,
    ),
    "entries": Telling(
        "You probably counted entries.",
        "Each entry takes several bytes.",
        "Which dtype is it, and how many bytes has one entry?",
        KEPT,
    ),
    "itemsize": Telling(
        "You probably took the bytes of the other dtype.",
        "float32 takes 4 bytes an entry, and float64 takes 8.",
        "Which of the two stands in the node?",
        KEPT,
    ),
    "one example": Telling(
        "You probably counted one row.",
        "The whole batch is kept.",
        "How many rows has the array?",
        KEPT,
    ),
    # --- what is multiplied ---
    "multiply-add": Telling(
        "You probably counted a multiply-add as one operation.",
        "It multiplies and adds: that's two.",
        "How many additions are there beside the products?",
        FLOPS,
    ),
    "one row": Telling(
        "You probably counted one row of the result.",
        "Each of the other rows takes as many operations.",
        "How many rows has the result?",
        FLOPS,
    ),
    "one column": Telling(
        "You probably counted one column of the result.",
        "Each of the other columns takes as many operations.",
        "How many columns has the result?",
        FLOPS,
    ),
    "an entry": Telling(
        "You probably counted two operations for each entry of the result.",
        "Each entry adds up as many products as the factors have terms to pair.",
        "Which size do the two factors share?",
        FLOPS,
    ),
    "entries added": Telling(
        "You probably added up the entries of the factors.",
        "Each entry of a factor is used many times.",
        "With how many entries of the other factor does one entry meet?",
        FLOPS,
    ),
    "not asked": Telling(
        "You probably counted a product that is not made.",
        "What needs no gradient gets none.",
        "Is there anything that uses this gradient?",
        FLOPS,
    ),
    "no product": Telling(
        "You probably took it that no product is made here.",
        "This array needs a gradient, and its gradient takes a product.",
        "Which two arrays are multiplied for it?",
        FLOPS,
    ),
    "both products": Telling(
        "You probably counted both products of the backward pass.",
        "Each of the two adjoints takes a product of its own.",
        "Which of them does this node ask for?",
        FLOPS,
    ),
    "two back": Telling(
        "You probably took the rule of two products back for one forward.",
        "The rule counts a gradient for every factor, and here one is not asked for.",
        "Which products of the backward pass are not made?",
        FLOPS,
    ),
    "products": Telling(
        "You probably compared the numbers of products.",
        "The products aren't equally large.",
        "Add up the FLOPs of each pass first.",
        FLOPS,
    ),
    "both passes": Telling(
        "You probably counted the forward pass with the backward one.",
        "The ratio has the backward pass alone above the line.",
        "Which products are made on the way back?",
        FLOPS,
    ),
    "inverse": Telling(
        "You probably divided the other way round.",
        "That is forward over backward.",
        "Which of the two stands above the line?",
        FLOPS,
    ),
}  # fmt: skip
