"""Which versions of a suite the gate evaluates for a change, and which it refuses."""

from pathlib import Path
from typing import NamedTuple

from eval_pipeline.decisions.gate import Decision, unusable
from eval_pipeline.decisions.touched import ANSWERS, Change, Touched, was_active
from eval_pipeline.problems import BadInput, Problem, shown_path, without_problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import active_versions, load_prompt, prompt_name, version_order, versions_in
from eval_pipeline.suite import Suite

PROMPT = "prompt"
_ACTIVATE = "Evaluate a version, and run: eval-pipeline prompt activate"


class Candidates(NamedTuple):
    """The versions to evaluate, each with its cause, and the decisions about those that cannot be."""

    causes: dict[str, str]
    refused: list[Decision]


def candidates(project: Project, suite: Suite, touched: Touched, change: Change | None) -> Candidates:
    """Changed versions are evaluated, and the active ones where anything else changed.

    A suite without an active version, or a prompt that lost its own, has nothing that could pass.
    """
    folder = project.prompts(suite.name)
    usable, refused = _changed(suite, folder, touched)
    causes = {version: [PROMPT if version in touched.prompts else ANSWERS] for version in usable}
    active: list[str] = []
    try:
        active = active_versions(suite, folder)
        missing = _lost(project, suite, touched, change, active)
        if not (active or causes or refused or missing):
            missing = [Problem(shown_path(folder), 0, "", "holds no active version", _ACTIVATE)]
    except BadInput as bad:
        known = {problem for each in refused.values() for problem in each}
        missing = [problem for problem in bad.problems if problem not in known]
    if missing:
        refused["active version"] = missing
    if touched.reasons or not (causes or refused):
        for version in active:
            causes.setdefault(version, []).extend(sorted(touched.reasons) or [PROMPT])
    return Candidates(
        {version: ", ".join(why) for version, why in causes.items()},
        [unusable(suite.name, version, PROMPT, problems) for version, problems in refused.items()],
    )


def _changed(suite: Suite, folder: Path, touched: Touched) -> tuple[list[str], dict[str, list[Problem]]]:
    """The changed versions that exist and are not archived, and the problems of those that cannot be used."""
    usable: list[str] = []
    refused: dict[str, list[Problem]] = {}
    for version in sorted(touched.prompts | touched.answers, key=version_order):
        if not (folder / f"{version}.md").is_file():
            continue
        try:
            prompt = without_problems(lambda problems: load_prompt(suite, folder, version, problems))  # noqa: B023
        except BadInput as bad:
            refused[version] = bad.problems
        else:
            if prompt.front.status != "archived":
                usable.append(version)
    return usable, refused


def _lost(
    project: Project, suite: Suite, touched: Touched, change: Change | None, active: list[str]
) -> list[Problem]:
    """The prompts that had an active version, still have versions, and have no active one any more."""
    folder = project.prompts(suite.name)
    had = {
        prompt_name(version)
        for version in touched.prompts
        if change and was_active(project, suite.name, version, change.base)
    }
    have = {prompt_name(version) for version in versions_in(folder)}
    return [
        Problem(shown_path(folder), 0, "", f"no version of {name} is active any more", _ACTIVATE)
        for name in sorted((had & have) - {prompt_name(version) for version in active})
    ]
