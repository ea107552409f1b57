"""A line of a program, before it is text."""

from dataclasses import dataclass

from chaingrad.program.tape import Recorded


@dataclass
class Line:
    """A line of a program, which gives the value of ``target`` its name."""

    target: Recorded
    name: str
    text: str  # the right-hand side; for what needs more than one statement, all of them
    within: list[Recorded]  # all values that it computes, the target among them
    comment: str = ""  # a shape, and whether it is computed for the second time
    makes_new: bool = True  # whether it takes memory of its own

    def __str__(self) -> str:
        complete = "\n" in self.text or not self.makes_new
        code = self.text if complete else f"{self.name} = {self.text}"
        return f"{code}  # {self.comment}" if self.comment else code
