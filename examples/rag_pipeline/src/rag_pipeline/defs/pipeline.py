"""Ingest, index, answer, publish: four assets, none of which knows of evaluations but the last."""

import csv
import json
import re
from pathlib import Path

import dagster as dg
import pandas as pd

from eval_pipeline import require_gate

ROOT = Path(__file__).parents[3]
_WORD = re.compile(r"[a-z]{3,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def words(text: str) -> set[str]:
    """The words of a text, as far as they tell it apart."""
    return {word.rstrip("s") for word in _WORD.findall(text.lower())}


@dg.asset(key_prefix="rag", group_name="rag", kinds={"python"})
def documents() -> list[str]:
    """The sections of the handbook."""
    return [each.strip() for each in (ROOT / "data" / "handbook.md").read_text().split("## ") if each.strip()]


@dg.asset(key_prefix="rag", group_name="rag", kinds={"python"})
def index(documents: list[str]) -> dict[str, list[str]]:
    """Every sentence of the handbook with its words."""
    sentences = (
        sentence.strip() for text in documents for sentence in _SENTENCE.split(text.partition("\n")[2])
    )
    return {sentence: sorted(words(sentence)) for sentence in sentences if sentence}


@dg.asset(key_prefix="rag", group_name="rag", kinds={"python"})
def answers(index: dict[str, list[str]]) -> pd.DataFrame:
    """To every question the sentence that shares most words with it: a stand-in for a model that reads it."""

    def best(question: str) -> str:
        return max(
            index, key=lambda sentence: (len(words(question) & {*index[sentence]}), sentence), default=""
        )

    with (ROOT / "data" / "questions.csv").open(newline="") as file:
        asked = list(csv.DictReader(file))
    return pd.DataFrame(
        [{"question_id": row["question_id"], "answer": best(row["question"])} for row in asked]
    )


@dg.asset(
    key_prefix="rag",
    group_name="rag",
    kinds={"json"},
    automation_condition=dg.AutomationCondition.eager()
    & dg.AutomationCondition.all_deps_blocking_checks_passed(),
)
def publish(context: dg.AssetExecutionContext, answers: pd.DataFrame) -> None:
    """What users read. Nothing is published that did not pass, in whatever run this is."""
    require_gate(context, "rag/answers", "handbook")
    (ROOT / "published.json").write_text(json.dumps(answers.to_dict("records"), indent=2))


nightly_answers = dg.define_asset_job("nightly_answers", dg.AssetSelection.groups("rag", "handbook"))
every_night = dg.ScheduleDefinition(job=nightly_answers, cron_schedule="0 2 * * *")
