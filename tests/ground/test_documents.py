"""The examples of the documents are run, as a reader would run them.

A fence with the comment ``<!-- run -->`` on the line above it is run in a folder that holds a copy of the example shop:

* ``python``: as a script. A ``text`` fence that follows at once is what it prints.
* ``console``: each ``$ command`` in turn. Lines below a command are what it prints; ``...`` stands for any lines.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.exists()]
FENCE = re.compile(
    r"^<!-- run -->\n+```(?P<language>\w+)\n(?P<body>.*?)^```$(?:\n+```text\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Command:
    """What to run, and what it should print: None for anything, an empty text for nothing."""

    words: list[str]
    printed: str | None


def commands(document: str) -> Iterator[Command]:
    for fence in FENCE.finditer(document):
        if fence["language"] == "python":
            yield Command([sys.executable, "-c", fence["body"]], fence["printed"])
        elif fence["language"] == "console":
            for typed, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", fence["body"], re.MULTILINE):
                yield Command(["bash", "-euo", "pipefail", "-c", typed], printed)
        else:
            raise AssertionError(f"nothing says how to run {fence['language']}")


def test_every_picture_that_is_shown_is_there_and_every_one_that_is_there_is_shown() -> None:
    shown = {
        (path.parent / name).resolve()
        for path in DOCUMENTS
        for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", path.read_text())
    }
    assert shown == set((ROOT / "docs" / "images").iterdir())


def run(command: Command, folder: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "AMENDS_STATE": str(folder / ".amends"),
    }
    done = subprocess.run(
        command.words, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, f"{command.words[-1]}\n{done.stdout}{done.stderr}"
    if command.printed is not None:
        pattern = re.escape(command.printed).replace(re.escape("...\n"), r"(?:.*\n)*")
        assert re.fullmatch(pattern, done.stdout), f"{command.words[-1]}\n{done.stdout}\nis not\n{command.printed}"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples" / "shop", tmp_path / "shop"))


def test_every_example_of_every_document_does_what_it_says(shop: Path) -> None:
    for document in DOCUMENTS:
        for command in commands(document.read_text()):
            run(command, shop)


def test_an_example_is_found_run_and_compared(shop: Path) -> None:
    document = (
        "```python\nraise SystemExit('not marked')\n```\n"
        "<!-- run -->\n```python\nprint(6 * 7)\n```\n\n```text\n42\n```\n"
        "<!-- run -->\n```console\n$ echo one; echo two; echo three\none\n...\n$ test -f __init__.py\n```\n"
    )
    found = list(commands(document))
    assert [command.printed for command in found] == ["42\n", "one\n...\n", ""]
    for command in found:
        run(command, shop)


@pytest.mark.parametrize(
    "fence",
    ["python\nprint(41)\n```\n```text\n42\n", "console\n$ echo one\ntwo\n", "console\n$ false\n", "python\n1 / 0\n"],
)
def test_an_example_that_does_otherwise_is_told(fence: str, shop: Path) -> None:
    (command,) = commands(f"<!-- run -->\n```{fence}```\n")
    with pytest.raises(AssertionError):
        run(command, shop)
