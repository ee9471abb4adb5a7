"""What a version would take the place of: another version, or its own file as it was."""

from typing import NamedTuple

from eval_pipeline.problems import BadInput, Problem, Problems, without_problems
from eval_pipeline.project import Project
from eval_pipeline.prompts.versions import (
    Prompt,
    as_written,
    file_text,
    load_prompt,
    may_be_active,
    prompt_at,
    prompt_name,
    versions_in,
)
from eval_pipeline.revisions import HEAD, SHORT_COMMIT, base_commit, files_at, text_at
from eval_pipeline.suite import Suite


class Replaced(NamedTuple):
    """What a version would take the place of; no prompt where that is nothing, or cannot be had."""

    prompt: Prompt | None = None
    label: str = ""
    """What people read: `decompose-concepts-v1.1 (in use)`."""
    missing: str = ""
    """Why what is replaced cannot be had."""
    note: str = ""
    """Why nobody knows whether anything is replaced."""


def replaced_by(project: Project, suite: Suite, prompt: Prompt, revision: str = HEAD) -> Replaced:
    """What is in use where a version would come, for a change from a revision of Git to what is there now.

    That is the other version of its prompt that is active now; else the one that was active at the
    revision, which may be this very file before an edit. Where none is and none was, it is this file before
    an edit, else the predecessor. An active version that is as it was replaces nothing. Without Git nobody
    knows of edits.
    """
    commit = unknown = ""
    try:
        commit = base_commit(project, revision)
    except BadInput as bad:
        if revision != HEAD:
            raise
        unknown = bad.problems[0].message
    try:
        if beside := _active_beside(suite, prompt):
            return Replaced(beside, f"{beside.version} (in use)")
        before = _Before(project, suite, prompt, commit, revision)
        replaced = before.in_use() or before.edited() or _predecessor(suite, prompt)
    except BadInput as bad:
        return Replaced(missing="; ".join(map(str, bad.problems)))
    if replaced is not None or prompt.version in before.texts:
        return replaced or Replaced()
    since = unknown or f"{prompt.version} is not in Git as of {before.name}"
    return Replaced(note=f"{since}: compared with the baseline alone, since nobody knows what it replaces")


def _active_beside(suite: Suite, prompt: Prompt) -> Prompt | None:
    """Another active version of the same prompt."""
    folder = prompt.path.parent
    trouble: list[Problem] = []
    active = None
    for version in versions_in(folder):
        if prompt_name(version) == prompt.name and version != prompt.version:
            problems = Problems()
            loaded = load_prompt(suite, folder, version, problems)
            if loaded is None and may_be_active(file_text(folder / f"{version}.md")):
                trouble += problems
            elif loaded is not None and loaded.front.status == "active":
                active = loaded
    if trouble and active is None:
        raise BadInput(trouble)
    return active


def _predecessor(suite: Suite, prompt: Prompt) -> Replaced | None:
    """The version that a candidate names as the one before it; an active version is past that."""
    version = prompt.front.predecessor
    if version is None or prompt.front.status == "active":
        return None
    folder = prompt.path.parent
    loaded = without_problems(lambda problems: load_prompt(suite, folder, version, problems))
    return Replaced(loaded, f"{version} (predecessor)")


class _Before:
    """The versions of a prompt as they were at a commit; none without one."""

    def __init__(self, project: Project, suite: Suite, prompt: Prompt, commit: str, revision: str) -> None:
        self.name = revision if revision == HEAD else commit[:SHORT_COMMIT]
        self._suite, self._prompt, self._commit = suite, prompt, commit
        files = files_at(project, commit, prompt.path.parent) if commit else []
        self.texts = {
            file.stem: text_at(project, commit, file) or ""
            for file in files
            if file.suffix == ".md" and prompt_name(file.stem) == prompt.name
        }

    def in_use(self) -> Replaced | None:
        """The version that was active; nothing where it is the one in question, and still the same."""
        written = {version: as_written(text) for version, text in self.texts.items()}
        active = [version for version, each in written.items() if each and each.front.status == "active"]
        if active:
            return self._as_of(active[-1], "in use")
        for version, each in written.items():
            if each is None and may_be_active(self.texts[version]):
                self._version(version)  # says what is wrong with it
        return None

    def edited(self) -> Replaced | None:
        """The file in question as it was, where it was something else."""
        if self._prompt.version not in self.texts:
            return None
        before = self._as_of(self._prompt.version, "")
        return before if before.prompt else None

    def _as_of(self, version: str, role: str) -> Replaced:
        old = self._version(version)
        if version == self._prompt.version:
            now: Prompt | None = self._prompt
        else:
            path = old.path
            now = load_prompt(self._suite, path.parent, version, Problems()) if path.is_file() else None
        if now is None or now.hash != old.hash:
            return Replaced(old, f"{version} ({', '.join(filter(None, (role, f'as of {self.name}')))})")
        return Replaced() if now is self._prompt else Replaced(now, f"{version} ({role})")

    def _version(self, version: str) -> Prompt:
        path = self._prompt.path.with_name(f"{version}.md")
        return prompt_at(self._suite, path, self.texts[version], self._commit)
