"""How long the selector takes to read: `python -m amends.benchmarks.selector_bench`.

The turns are those of tests/cases. Each is read many times; a turn's time is the median of its reads, which leaves out
what other programs took of the processor, and p50 and p99 are over turns. The last row of each group is over single
reads and leaves nothing out.
"""

from statistics import quantiles
from time import perf_counter_ns
from typing import NamedTuple

from amends.contract.reading import Reading
from amends.selector.compiled import Selector, compile_selector
from amends.tests.selector.desk import DESK, all_turns, selector_for, vocabulary_of

__all__ = ["Row", "rows"]

READS = 60

HOSTILE = (
    "please " * 190,
    "charge, " * 99,
    "charge " + "order 4411 " * 95,
    "print labels for orders " + " and ".join(str(number) for number in range(1000, 1095)),
    "; ".join(f"charge {number}" for number in range(1000, 1066)),
    "charge order 4411 40.00 " + "and " * 190,
    "40.00 " * 199,
    "chargr " * 199,
    "5 march " * 99,
    "a." * 900 + "@b",
    '"' * 1_999,
    "1" * 1_999,
    "charge " * 100_000,
)


class Row(NamedTuple):
    """One measure, in microseconds as text: what was measured, p50, p99, and the limit it is held to."""

    name: str
    p50: str
    p99: str
    limit: str


def rows() -> list[Row]:
    """Measure readable, unread and hostile turns, and compiling."""
    turns = [(selector_for(language), turn["say"]) for language, turn in all_turns()]
    readable = [(selector, say) for selector, say in turns if isinstance(selector.read(say), Reading)]
    unread = [(selector, say) for selector, say in turns if not isinstance(selector.read(say), Reading)]
    hostile = [(selector_for("en"), say) for say in HOSTILE]
    measured = [
        *_group(f"{len(readable)} readable turns", readable, "p50 150, p99 500"),
        *_group(f"{len(unread)} unread turns", unread, "p99 2000"),
        *_group(f"{len(hostile)} hostile turns", hostile, "p99 2000"),
    ]
    compiling = [_compile() for _ in range(20)]
    return [*measured, Row(f"compiling {len(DESK)} tools", *_spread(compiling), "")]


def _group(name: str, turns: list[tuple[Selector, str]], limit: str) -> list[Row]:
    medians: list[int] = []
    singles: list[int] = []
    for selector, say in turns:
        times = sorted(_read(selector, say) for _ in range(READS))
        medians.append(times[READS // 2])
        singles += times
    return [Row(name, *_spread(medians), limit), Row(f"{name}, single reads", *_spread(singles), "")]


def _read(selector: Selector, say: str) -> int:
    before = perf_counter_ns()
    selector.read(say)
    return perf_counter_ns() - before


def _compile() -> int:
    before = perf_counter_ns()
    compile_selector(DESK, language="en", vocabulary=vocabulary_of("en"))
    return perf_counter_ns() - before


def _spread(times: list[int]) -> tuple[str, str]:
    hundredths = quantiles(times, n=100, method="inclusive")
    return f"{hundredths[49] / 1000:.0f}", f"{hundredths[98] / 1000:.0f}"


def main() -> None:
    """Print the table."""
    print(f"{'microseconds':45} {'p50':>7} {'p99':>7}  limit")
    for row in rows():
        print(f"{row.name:45} {row.p50:>7} {row.p99:>7}  {row.limit}")


if __name__ == "__main__":
    main()
