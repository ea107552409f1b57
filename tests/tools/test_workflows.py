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
LOCAL = re.compile(r"(?:^|\s)((?:\.github|\.ci)/\S+)", re.MULTILINE)
MADE = re.compile(r"\bmake ([^|>#\n]+)")

GH = """\
#!/bin/sh
echo "$@" >> "$CALLS"
case "$2" in
  list) echo "$FOUND" ;;
  create) cat "$6" >> "$CALLS" ;;
  comment) cat "$5" >> "$CALLS" ;;
esac
"""


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
    rows = [{"run": row["run"]} for row in weekly()]
    return [*own, *rows, *(step for _, job in jobs() for step in job.get("steps", []))]


def weekly() -> list[dict[str, str]]:
    """The rows of the weekly checks."""
    rows: list[dict[str, str]] = workflow("weekly")["jobs"]["check"]["strategy"]["matrix"][
        "include"
    ]
    return rows


def test_steps_run_what_exists():
    """Their make targets are the Makefile's; their scripts and own actions are there and parse."""
    targets = (ROOT / "Makefile").read_text()
    for step in steps():
        assert ("uses" in step) != ("run" in step)
        if (used := step.get("uses", "")).startswith("./"):
            assert (ROOT / used / "action.yml").exists()
        script = step.get("run", "")
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        for words in MADE.findall(script):
            made = [word for word in words.split() if "=" not in word]
            assert made
            assert all(f"\n{target}:" in targets for target in made)
        for path in LOCAL.findall(script):
            assert os.access(ROOT / path, os.X_OK), path
            subprocess.run(["bash", "-n", ROOT / path], check=True)


def test_jobs_are_bounded():
    assert not [name for name, job in jobs() if "uses" not in job and "timeout-minutes" not in job]


def test_each_weekly_check_has_an_issue_of_its_own():
    titles = [row["title"] for row in weekly()]
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize(
    ("ends", "found", "asked"),
    [("true", "", ""), ("false", "", "issue create"), ("false", "7", "issue comment 7")],
)
def test_a_failure_is_reported_once_and_then_added_to(tmp_path, ends, found, asked):
    gh, calls = tmp_path / "gh", tmp_path / "calls"
    gh.write_text(GH)
    gh.chmod(0o755)
    command = f"printf 'built\\n\\033[91mpage.md, cell 3\\033[0m\\n'; {ends}"
    done = subprocess.run(
        [GITHUB / "weekly", "Pages break", command],
        env=os.environ
        | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CALLS": str(calls), "FOUND": found}
        | {"GITHUB_SERVER_URL": "https://host", "GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "9"},
        capture_output=True,
        text=True,
    )
    assert "cell 3" in done.stdout
    assert (done.returncode != 0) == bool(asked)
    assert calls.exists() == bool(asked)
    if asked:
        said = calls.read_text()
        assert asked in said
        assert "https://host/a/b/actions/runs/9" in said
        assert "\npage.md, cell 3\n" in said


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
