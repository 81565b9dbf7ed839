"""The commands as a person runs them: processes of their own, in a folder of their own with a copy of the shop."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from amends.client import processes
from amends.client.dev_server import find_binary
from amends.client.embedded import EmbeddedServer
from amends.examples.shop.store import Store

ROOT = Path(__file__).parents[2]
AMENDS = str(Path(sys.executable).parent / "amends")


@dataclass
class Shop:
    """A folder with the shop's agent file, and the commands run there."""

    folder: Path
    program = AMENDS
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        return Store(self.folder / "shop.db")

    def environ(self) -> dict[str, str]:
        return {**os.environ, "SHOP_DB": str(self.folder / "shop.db"), "PYTHONUNBUFFERED": "1", **self.environment}

    def amends(self, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return self.command(AMENDS, *words, typed=typed)

    def python(self, script: str) -> subprocess.CompletedProcess[str]:
        return self.command(sys.executable, "-c", script)

    def temporal(self, address: str, *words: str) -> str:
        done = self.command(str(find_binary()), *words, "--address", address)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def command(self, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.folder,
            env=self.environ(),
            input=typed,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def starts(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [AMENDS, *words],
            cwd=self.folder,
            env=self.environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    folder = tmp_path / "desk"
    folder.mkdir()
    for file in ("agent.yaml", "policy.co"):
        shutil.copy(ROOT / "examples" / "shop" / file, folder)
    yield Shop(folder)
    end_server(folder / ".amends" / "server.json")


@pytest.fixture
async def standing(shop: Shop) -> AsyncIterator[None]:
    """Keep the server of the shop's state folder standing: each command then finds it there, and leaves it.

    A command that starts and stops it takes a second and a half more.
    """
    async with await EmbeddedServer.open(shop.folder / ".amends"):
        yield


def end_server(note: Path) -> None:
    """End the server that a process of the test left behind when it was killed; it would wait for the next for ever."""
    if note.exists():
        said = json.loads(note.read_text())
        seen = processes.look_at(said["pid"])
        if seen is not None and seen.started == said["started"]:
            os.kill(seen.pid, signal.SIGTERM)


Starts = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def started() -> Iterator[Starts]:
    """Start commands of a shop; whatever still runs when the test ends is told to end."""
    running: list[subprocess.Popen[str]] = []

    def start(shop: Shop, *words: str, until: str) -> subprocess.Popen[str]:
        process = shop.starts(*words)
        running.append(process)
        assert process.stderr is not None
        said = ""
        while until not in said:
            line = process.stderr.readline()
            assert line, f"it ended before it said {until!r}: {said}"
            said += line
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
