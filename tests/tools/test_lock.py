"""The pins are complete, plain and in step with pyproject.toml."""

import tomllib
from importlib.metadata import requires

from packaging.requirements import Requirement

from support import ROOT
from tools import environment, lock

PINS = environment.pins(ROOT / "requirements.txt")


def test_lock_keeps_what_every_machine_needs():
    versions = {
        "torch": "2.13.0",
        "nvidia-nccl-cu13": "2",
        "triton": "3",
        "chaingrad": "0.1",
        "A": "1",
    }
    assert lock.requirements(versions).splitlines()[-3:] == ["-e .", "A==1", "torch==2.13.0"]


def test_pins_hold_no_build_for_one_machine():
    assert not [name for name, version in PINS.items() if "+" in version]
    assert not [name for name in PINS if lock.ACCELERATOR.match(name)]


def test_everything_that_the_project_asks_for_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    asked = [*project["dependencies"], *(line for extra in extras for line in extra)]
    for requirement in map(Requirement, asked):
        if requirement.name != "chaingrad":
            pin = PINS[environment.canonical(requirement.name)]
            assert requirement.specifier.contains(pin), requirement


def test_pins_are_closed_under_dependence():
    """Whatever a pinned package needs here is pinned too."""
    missing = set()
    for name in PINS:
        for line in requires(name) or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                missing.add(environment.canonical(requirement.name))
    accelerators = {name for name in missing if lock.ACCELERATOR.match(name)}
    assert not missing - PINS.keys() - accelerators
