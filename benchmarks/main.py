"""``make bench``: measure runs beside bare workflows, then reading and the check, and print the tables."""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from amends.client.embedded import EmbeddedServer
from amends.testing.bench import ToolBench
from amends.testing.plain import compile_plain_selector
from amends.tools.loader import load_agent
from rich.console import Console
from rich.table import Table
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from . import check_bench, selector_bench
from .runs import Field, Measured, Subject, count_events, measure, open_field

HERE = Path(__file__).parent
ROUNDS = 4
RUNS = {1: 60, 50: 200}


async def main() -> int:
    """Measure runs and turns beside bare workflows, then what costs no server; print the tables."""
    console = Console(width=max(100, Console().width))
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(await EmbeddedServer.open(None))
        client = await Client.connect(server.address, data_converter=pydantic_data_converter)
        agent = load_agent(HERE / "agent.yaml", compile_selector=compile_plain_selector)
        field = await open_field(client, ToolBench(agent), stack, "bench")
        for title, subjects in _groups(field).items():
            events = {name: await count_events(client, subject) for name, subject in subjects.items()}
            for at_a_time, runs in RUNS.items():
                await measure(subjects, runs=max(10, at_a_time), at_a_time=at_a_time, rounds=1)  # warm up
                measured = await measure(subjects, runs=runs, at_a_time=at_a_time, rounds=ROUNDS)
                console.print(_table(f"{title}, {at_a_time} at a time, {runs} each", measured, events))
    console.print(_table_of_microseconds("(c) reading a turn", selector_bench.rows()))
    console.print(_table_of_microseconds("(d) the check, and verify", check_bench.rows()))
    return 0


def _groups(field: Field) -> dict[str, dict[str, Subject]]:
    return {
        "(a) five calls, no question": {"bare workflow": field.bare, "run": field.run, "whole turn": field.turn},
        "(b) five confirmed writes": {
            "bare workflow": field.bare_confirmed,
            "run": field.run_confirmed,
            "whole turn": field.turn_confirmed,
        },
    }


def _table(title: str, measured: list[Measured], events: dict[str, int]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for name in ("p50 ms", "p99 ms", "runs/s", "events", "p50 to bare", "runs/s to bare", "events to bare"):
        table.add_column(name, justify="right")
    bare = measured[0]
    for row in measured:
        table.add_row(
            row.name,
            f"{row.p50 * 1000:.1f}",
            f"{row.quantile(0.99) * 1000:.1f}",
            f"{row.per_second:.1f}",
            str(events[row.name]),
            f"{row.p50 / bare.p50:.2f}",
            f"{row.per_second / bare.per_second:.2f}",
            f"{events[row.name] - events[bare.name]:+d}",
        )
    return table


def _table_of_microseconds(title: str, rows: Sequence[check_bench.Row | selector_bench.Row]) -> Table:
    table = Table(title=f"{title}, microseconds", title_justify="left")
    table.add_column("")
    for name in ("p50", "p99"):
        table.add_column(name, justify="right")
    table.add_column("limit")
    for row in rows:
        table.add_row(*row)
    return table


if __name__ == "__main__":
    code = asyncio.run(main())
    sys.stdout.flush()
    # Temporal's runtime has threads that may crash an interpreter which tears itself down under them.
    os._exit(code)
