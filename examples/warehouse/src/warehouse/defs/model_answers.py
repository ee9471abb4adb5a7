"""What a model answered, day by day, in a table."""

import dagster as dg
import duckdb

from warehouse.tables import DAYS, FILE

KEYWORDS = {"invoice": "billing", "charged": "billing", "crash": "bug", "error": "bug", "password": "account"}
TICKETS = {
    "T-1": "I was charged twice this month",
    "T-2": "The invoice has the wrong address",
    "T-3": "The app crashes on start",
    "T-4": "I get an error when I upload a file",
    "T-5": "I forgot my password",
    "T-6": "My password does not work any more",
}


@dg.asset(key_prefix="warehouse", group_name="warehouse", partitions_def=DAYS, kinds={"duckdb"})
def model_answers(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    """A label for every ticket of a day, by a model that knows some words, and from the 15th on fewer."""
    known = dict(list(KEYWORDS.items())[: 5 if context.partition_key < "2026-01-15" else 3])
    rows = [
        (context.partition_key, ticket, next((known[word] for word in known if word in text), "other"), 12.0)
        for ticket, text in TICKETS.items()
    ]
    with duckdb.connect(FILE) as warehouse:
        warehouse.execute(
            "CREATE TABLE IF NOT EXISTS model_answers "
            "(day VARCHAR, ticket_id VARCHAR, label VARCHAR, milliseconds DOUBLE)"
        )
        warehouse.execute("DELETE FROM model_answers WHERE day = ?", [context.partition_key])
        warehouse.executemany("INSERT INTO model_answers VALUES (?, ?, ?, ?)", rows)
    return dg.MaterializeResult(metadata={"dagster/row_count": len(rows)})
