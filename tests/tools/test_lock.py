"""The pins are complete, plain and in step with pyproject.toml."""

import tomllib
from importlib.metadata import requires

from packaging.requirements import Requirement

from tests.support import ROOT, each
from tools import environment, lock

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if ":: 3." in line]
LINES = (ROOT / "requirements.txt").read_text().splitlines()
ALL = [Requirement(line) for line in LINES if "==" in line]
PINS = environment.pins(ROOT / "requirements.txt")


def test_lock_keeps_what_every_machine_needs():
    resolved = (
        "A==1\n"
        "nvidia-nccl-cu13==2 ; sys_platform == 'linux'\n"
        "pywinpty==3 ; os_name == 'nt'\n"
        "torch==2.13.0\n"
        "triton==3\n"
    )
    kept = ["-e .", "A==1", "pywinpty==3 ; os_name == 'nt'", "torch==2.13.0"]
    assert lock.requirements(resolved).splitlines()[1:] == kept


def test_pins_hold_no_build_for_one_machine():
    assert not [line for line in ALL if "+" in str(line.specifier)]
    assert not [line for line in ALL if lock.ACCELERATOR.match(line.name)]


def asked() -> list[Requirement]:
    """What pyproject.toml asks for, the package itself left out."""
    extras = PROJECT["optional-dependencies"].values()
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in extra)]
    return [line for line in map(Requirement, lines) if line.name != "chaingrad"]


def test_everything_that_the_project_asks_for_is_pinned():
    for requirement in asked():
        pin = PINS[environment.canonical(requirement.name)]
        assert requirement.specifier.contains(pin), requirement


@each("python", PYTHONS)
@each("platform", ["linux", "darwin"])
def test_each_python_and_platform_gets_every_package_once(python, platform):
    there = {
        "python_version": python,
        "python_full_version": f"{python}.2",
        "sys_platform": platform,
    }
    held = [line for line in ALL if line.marker is None or line.marker.evaluate(there)]
    names = [environment.canonical(line.name) for line in held]
    assert len(names) == len(set(names))
    assert {environment.canonical(line.name) for line in asked()} <= set(names)


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
