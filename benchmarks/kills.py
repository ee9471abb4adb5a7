"""Kills `eval-pipeline run` at random moments, resumes it, and checks that nothing is lost or paid for twice.

    python -m benchmarks.kills --kills 20

A server on loopback plays the model. The moments fall into all phases: starting up, asking, scoring and
writing. It exits with 1 and says which promise was broken, if one was.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.engine import VERSION, write_project
from eval_pipeline import stages
from eval_pipeline.answers import Failure, parse
from eval_pipeline.engines import Journal
from eval_pipeline.engines.metered import LEASE_SECONDS
from eval_pipeline.project import Project
from eval_pipeline.store import AnswerTable, Store, database_file, database_url
from eval_pipeline.store.names import LATEST
from eval_pipeline.store.parquet import read_table
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline_tests.running import begin, command_line, ended

CONCURRENCY = 10
DELAY = 0.03
LONGEST_RUN = 600.0
POLL = 0.002


class Endpoint:
    """A model on loopback that counts what it is asked. Its answer depends on the question alone."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.moments: list[float] = []
        self.url = ""

    @property
    def calls(self) -> int:
        """How many calls were made."""
        return len(self.moments)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                prompt = json.loads(await reader.readexactly(length))["messages"][-1]["content"]
                self.asked[prompt.strip()] += 1
                self.moments.append(time.monotonic())
                await asyncio.sleep(DELAY)
                writer.write(_reply(prompt.strip()))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def answer_to(prompt: str) -> str:
    """What the model says: now and then something wrong, and now and then nothing of use."""
    number = int("".join(filter(str.isdigit, prompt)))
    if number % 11 == 0:
        return "I would rather not."
    label = "Text" if number % 3 else "Something else"
    return json.dumps({"concepts": [{"label": label}], "relationships": [], "asked": prompt})


def _reply(prompt: str) -> bytes:
    choice = {"message": {"content": answer_to(prompt)}, "finish_reason": "stop"}
    body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 5}}).encode()
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """A running endpoint, in a thread with a loop of its own."""
    made = Endpoint()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="endpoint", daemon=True)
    thread.start()
    starting = asyncio.run_coroutine_threadsafe(asyncio.start_server(made.serve, "127.0.0.1", 0), loop)
    server = starting.result(30)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"

    async def stop() -> None:
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    try:
        yield made
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class Trouble(Exception):
    """A promise that was broken."""


def promise(kept: bool, otherwise: str) -> None:
    """Stop with a message where a promise is broken."""
    if not kept:
        raise Trouble(otherwise)


def start(project: Project, trials: int) -> BaseProcess:
    """Start the command as a process."""
    told(project).unlink(missing_ok=True)
    return begin(project, run_alone, str(trials), err=told(project))


def told(project: Project) -> Path:
    """Where the latest run says what went wrong."""
    return project.root / "told"


def run_alone(trials: str) -> None:
    """Be the command, in a session that can be killed with all that it starts."""
    os.setsid()
    command_line("run", SUITE.name, "--prompt", VERSION, "--trials", trials)


def finish(project: Project, trials: int) -> None:
    """Let a run end by itself, as blocked or not."""
    process = start(project, trials)
    process.join(LONGEST_RUN)
    promise(process.exitcode in (0, 1), f"a run failed:\n{told(project).read_text(errors='replace')}")


def kill_when(process: BaseProcess, is_time: Callable[[], bool]) -> bool:
    """Kill a run at its moment; False where it ended before."""
    deadline = time.monotonic() + LONGEST_RUN
    while not is_time() and process.is_alive() and time.monotonic() < deadline:
        time.sleep(POLL)
    was_running = process.is_alive()
    if was_running:
        assert process.pid
        with suppress(ProcessLookupError):  # it has no session yet
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.join()
    return was_running


class Plan(NamedTuple):
    """When to kill: after so many seconds, or after so many calls."""

    phase: str
    seconds: float = 0.0
    calls: int = 0

    def __str__(self) -> str:
        return f"{self.phase} (after {f'{self.calls} calls' if self.calls else f'{self.seconds:.1f} s'})"


def plans(kills: int, calls: int, run_seconds: float, chance: random.Random) -> list[Plan]:
    """Moments in every phase. Those while the last answers are scored and written come last."""
    asking, starting = max(1, kills // 2), max(1, kills // 5)
    most = max(2, calls // (asking + 1))
    found = [Plan("asking", calls=chance.randint(1, most)) for _ in range(asking)]
    found += [Plan("starting", chance.uniform(0.0, run_seconds / 2)) for _ in range(starting)]
    chance.shuffle(found)
    late = kills - len(found)
    return found + [Plan("finishing", chance.uniform(run_seconds / 3, run_seconds)) for _ in range(late)]


class Ledger:
    """Which calls were under way at the kills: asked, and not in the journal."""

    def __init__(self, project: Project, model: Endpoint) -> None:
        self._project = project
        self._model = model
        self.lost: Counter[str] = Counter()

    def journaled(self) -> Counter[str]:
        """How many answers to each question are in the journal."""
        file = database_file(database_url(self._project))
        if file is None or not file.exists():
            return Counter()
        with Journal.open(database_url(self._project)):
            pass  # the tables may not be there yet
        with sqlite3.connect(file) as connection:
            promise(
                connection.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the journal is damaged"
            )
            rows = connection.execute("SELECT case_id FROM journal_calls WHERE answered_at IS NOT NULL")
            return Counter(f"Text {case_id[1:]}." for (case_id,) in rows)

    def count_lost(self) -> int:
        """Note what the latest kill lost, and say how much that is."""
        time.sleep(2 * DELAY)  # what the dead process sent may still be arriving
        lost = Counter(self._model.asked)
        lost.subtract(self.journaled())
        lost.subtract(self.lost)
        promise(min(lost.values(), default=0) >= 0, "the journal has an answer to a call that was never made")
        self.lost.update(lost)
        return lost.total()


def check_files(project: Project) -> None:
    """Every file that has its final name is whole."""
    for folder in ("golden", "outputs", "evaluations"):
        for file in sorted((project.state / folder).rglob("*")):
            if file.is_dir() or file.name.startswith("."):
                continue
            try:
                if file.suffix == ".parquet":
                    read_table(file)
                elif file.suffix == ".json":
                    msgspec.json.decode(file.read_bytes())
                elif file.name == LATEST:
                    promise((file.parent / file.read_text()).exists(), f"{file} points nowhere")
                else:
                    promise(file.stat().st_size > 0, f"{file} is empty")
            except (OSError, ValueError, msgspec.DecodeError) as error:
                raise Trouble(f"{file} is not whole: {error}") from None


def check_numbers(project: Project, cases: int, trials: int) -> None:
    """Every aggregate equals what the stored rows give."""
    store = Store(project.state)
    evaluation, scored = store.evaluation(SUITE.name, VERSION), store.scored(SUITE.name, VERSION)
    answers, golden = store.outputs(SUITE.name, VERSION), store.golden(SUITE.name)
    assert evaluation is not None
    assert scored is not None
    assert answers is not None
    assert golden is not None
    again = stages.score_answers(stages.Workbench(project, SUITE), golden, answers)
    for name in ("counts", "keyed", "diagnoses"):
        same = getattr(again.scores, name).equals(getattr(scored.scores, name))
        promise(same, f"the stored {name} are not those of the stored answers")
    for told, scores in (("scores", scored), ("answers", again)):
        summary = stages.evaluate(stages.Workbench(project, SUITE), scores, answers.costs)
        promise(summary.summary == evaluation.summary, f"the summary is not that of the stored {told}")
        promise(summary.case_results == evaluation.case_results, f"the cases are not those of the {told}")
    promise(
        (evaluation.summary.cases, evaluation.summary.trials) == (cases, trials),
        f"{evaluation.summary.cases} cases in {evaluation.summary.trials} trials were evaluated",
    )
    promise(evaluation.summary.errors == _errors(answers), "the errors are not those of the stored answers")
    promise(store.report(SUITE.name, VERSION) is not None, "there is no report")


def _errors(answers: AnswerTable) -> dict[str, int]:
    found = (parse(answer, SUITE.output) for answer in answers)
    return dict(sorted(Counter(each.kind for each in found if isinstance(each, Failure)).items()))


def check_answers(project: Project, cases: int, trials: int) -> None:
    """Every case has its own answer in every trial, once."""
    answers = Store(project.state).outputs(SUITE.name, VERSION)
    assert answers is not None
    found = Counter((answer.case_id, answer.trial) for answer in answers)
    expected = {(f"c{number}", trial) for number in range(cases) for trial in range(1, trials + 1)}
    promise(found == Counter(expected), "an answer is missing, or there twice")
    for answer in answers:
        right = answer.error is None and answer.text == answer_to(f"Text {answer.case_id[1:]}.")
        promise(right, f"{answer.case_id} has not its own answer: {answer.error or answer.text}")


def longest_wait(since: float, moments: list[float]) -> float:
    """The longest time in which nothing was asked, before the last call of a run."""
    times = [since, *(moment for moment in moments if moment >= since)]
    return max((later - earlier for earlier, later in itertools.pairwise(times)), default=0.0)


def measured_run(model: Endpoint) -> float:
    """Seconds that a run takes beside what it asks."""
    with tempfile.TemporaryDirectory() as folder:
        project = write_project(Path(folder), model.url, 2, CONCURRENCY)
        ended(begin(project, print))  # what processes are forked from takes its time to start
        started = time.monotonic()
        finish(project, 1)
        seconds = time.monotonic() - started
    model.asked.clear()
    model.moments.clear()
    return seconds


def run_and_kill(kills: int, cases: int, trials: int, seed: int, say: Callable[[str], None]) -> None:
    """Kill runs, let the last one finish, and check every promise. Raises `Trouble`."""
    chance = random.Random(seed)
    with endpoint() as model, tempfile.TemporaryDirectory() as folder:
        run_seconds = measured_run(model)
        project = write_project(Path(folder), model.url, cases, CONCURRENCY)
        ledger = Ledger(project, model)
        for number, plan in enumerate(plans(kills, cases * trials, run_seconds, chance), 1):
            before, started = model.calls, time.monotonic()

            def is_time(plan: Plan = plan, before: int = before, started: float = started) -> bool:
                if plan.calls:
                    return model.calls - before >= plan.calls
                is_ready = plan.phase == "starting" or model.calls >= cases * trials
                return is_ready and time.monotonic() - started >= plan.seconds

            was_running = kill_when(start(project, trials), is_time)
            lost = ledger.count_lost()
            check_files(project)
            say(f"{number}: {plan}, {'killed' if was_running else 'ended before'}, {lost} calls under way")
            promise(lost <= CONCURRENCY, f"{lost} calls were under way at concurrency {CONCURRENCY}")
        started = time.monotonic()
        finish(project, trials)
        _check_all(project, model, ledger, started, cases, trials)
        say(f"{model.calls} calls for {cases * trials} answers, {ledger.lost.total()} under way at kills")


def _check_all(
    project: Project, model: Endpoint, ledger: Ledger, started: float, cases: int, trials: int
) -> None:
    wait = longest_wait(started, model.moments)
    promise(wait < 0.75 * LEASE_SECONDS, f"the last run waited {wait:.0f} s for calls of dead processes")
    repeated = Counter(model.asked)
    repeated.subtract({f"Text {number}.": trials for number in range(cases)})
    promise(min(repeated.values()) >= 0, "something was never asked")
    promise(
        all(count <= ledger.lost[prompt] for prompt, count in repeated.items()),
        "something was asked again that was not under way at a kill",
    )
    check_files(project)
    check_answers(project, cases, trials)
    check_numbers(project, cases, trials)
    calls = model.calls
    finish(project, trials)
    promise(model.calls == calls, f"an unchanged run made {model.calls - calls} calls")
    check_numbers(project, cases, trials)


def main() -> None:
    """Run as told by the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    try:
        run_and_kill(given.kills, given.cases, given.trials, given.seed, print)
    except Trouble as trouble:
        sys.exit(f"A promise was broken: {trouble}")
    print("Every answer once, every number equal to its rows, no torn file, nothing paid for twice.")


if __name__ == "__main__":
    main()
