"""What the repository's host reads: workflows, updates, templates, and the project's address."""

import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import chaingrad
from tests.support import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted(path.stem for path in (GITHUB / "workflows").glob("*.yml"))
LOCAL = re.compile(r"^(?:\.github|\.ci)/\S+", re.MULTILINE)


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())


def workflow(name: str) -> Any:
    """A workflow; its triggers under "on", which YAML 1.1 reads as a truth value."""
    content = read(f".github/workflows/{name}.yml")
    return content | {"on": content.pop(True)}


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in WORKFLOWS:
        for job, content in workflow(name)["jobs"].items():
            yield f"{name}: {job}", content


def steps() -> list[dict[str, Any]]:
    own = read(".github/actions/prepare/action.yml")["runs"]["steps"]
    return [*own, *(step for _, job in jobs() for step in job.get("steps", []))]


def test_steps_run_what_exists():
    """Their make targets are the Makefile's; their scripts and own actions are there and parse."""
    targets = (ROOT / "Makefile").read_text()
    for step in steps():
        assert ("uses" in step) != ("run" in step)
        if (used := step.get("uses", "")).startswith("./"):
            assert (ROOT / used / "action.yml").exists()
        script = step.get("run", "")
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        for line in script.splitlines():
            if line.startswith("make "):
                words = line.split(" 2>")[0].split()[1:]
                made = [word for word in words if "=" not in word]
                assert made
                assert all(f"\n{target}:" in targets for target in made)
        for path in LOCAL.findall(script):
            assert os.access(ROOT / path, os.X_OK), path
            subprocess.run(["bash", "-n", ROOT / path], check=True)


def test_jobs_are_bounded():
    assert not [name for name, job in jobs() if "uses" not in job and "timeout-minutes" not in job]


def test_publishing_waits_for_the_tests():
    publish = workflow("publish")["jobs"]
    assert publish["publish"]["needs"] == "test"
    called = publish["test"]["uses"].removeprefix("./.github/workflows/").removesuffix(".yml")
    assert "workflow_call" in workflow(called)["on"]


def test_a_push_and_its_pull_request_do_not_both_run():
    on = {name: set(workflow(name)["on"]) for name in WORKFLOWS}
    assert not [name for name in WORKFLOWS if {"push", "pull_request"} <= on[name]]
    pushed = {name: workflow(name)["on"]["push"] for name in WORKFLOWS if "push" in on[name]}
    assert pushed == {"publish": {"branches": ["main"]}, "release": {"tags": ["v*"]}}


def test_a_release_waits_for_its_owner_and_for_what_it_publishes():
    build, publish = workflow("release")["jobs"].values()
    assert build["if"] == "vars.PYPI == 'true'"
    assert publish["needs"] == "build"
    assert publish["environment"] == "pypi"
    assert build["steps"][-1]["with"]["name"] == publish["steps"][0]["with"]["name"]


def test_a_tag_that_is_not_the_version_is_refused():
    tag = {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v0.0.0"}
    command = [ROOT / ".github" / "package"]
    done = subprocess.run(command, env=os.environ | tag, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        f"The tag is v0.0.0, but chaingrad.__version__ is {chaingrad.__version__}: "
        f"tag v{chaingrad.__version__}.\n"
    )


def test_each_supported_python_runs_every_page():
    default = read(".github/actions/prepare/action.yml")["inputs"]["python-version"]["default"]
    test = workflow("test")["jobs"]
    assert ".ci/run" in [step.get("run") for step in test["everything"]["steps"]]
    assert "make book PYTHON=python" in [step.get("run") for step in test["pythons"]["steps"]]
    tried = {default, *test["pythons"]["strategy"]["matrix"]["python"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = SpecifierSet(project["requires-python"])
    newest = max(int(version.partition(".")[2]) for version in tried)
    assert tried == {f"3.{minor}" for minor in range(newest + 1) if wanted.contains(f"3.{minor}")}
    said = {line.rpartition(" ")[2] for line in project["classifiers"] if ":: 3." in line}
    assert said == tried
    for file in ("README.md", "tools/environment.py"):
        assert f"3.11 to 3.{newest} " in (ROOT / file).read_text(), file


def test_updates_are_looked_for_where_there_are_packages():
    named = {"npm": "package.json", "pip": "requirements.txt", "github-actions": ".github"}
    for update in read(".github/dependabot.yml")["updates"]:
        for folder in update.get("directories", [update.get("directory")]):
            home = ROOT / folder.lstrip("/")
            file = home / named[update["package-ecosystem"]]
            assert file.exists() or (home / "action.yml").exists(), file


@pytest.mark.parametrize("path", sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")))
def test_issue_forms_ask_for_something(path):
    form = yaml.safe_load(path.read_text())
    assert form.keys() <= {"name", "description", "labels", "body"}
    names = [field["id"] for field in form["body"]]
    assert len(names) == len(set(names))
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_hooks_run_the_pinned_tools():
    (local,) = read(".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    for hook in local["hooks"]:
        assert hook["language"] == "system"
        assert os.access(ROOT / hook["entry"].split()[0], os.X_OK)


def test_the_repository_has_one_address():
    """Set in _config.yml, and named by the package and the citation too; or nowhere."""
    url = (read("_config.yml").get("repository") or {}).get("url") or ""
    wanted = url.rstrip("/") if url.startswith("https://") else None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project.get("urls", {}).get("Repository") == wanted
    assert read("CITATION.cff").get("repository-code") == wanted
