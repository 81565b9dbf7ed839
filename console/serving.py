"""Listening: one console on one address, for as long as a block lasts (SPEC 12.3)."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ..client.agent import AsyncAgent
from ..contract.proof import public_key
from ..worker.settings import BadSetting
from .app import create_app
from .desk import Desk
from .guard import Console, is_loopback
from .people import People
from .seal import Seal, kept_key

__all__ = ["PORT", "answer_key", "check_address", "free_port", "listening", "open_console"]

PORT = 8420
GRACE = 2
"""Seconds that open streams have when the server ends; whoever reads one comes back with the last event's number."""
_UI_VARIABLE = "AMENDS_TEMPORAL_UI"


def check_address(host: str, people: People) -> None:
    """Refuse to be reached from elsewhere while nobody has to sign in.

    Raises:
        BadSetting: the host is not this machine's own, and there is no people file.
    """
    if people.local is not None and not is_loopback(host):
        raise BadSetting("--host", host, "beyond this machine people must sign in; name a --people file")


async def open_console(agent: AsyncAgent, people: People, folder: Path) -> Console:
    """Make the console of an agent.

    Args:
        agent: whose console it is.
        people: who may sign in.
        folder: where the key that signs cookies and forms is kept.

    Raises:
        BadSetting: the agent demands answers that are signed with another key than this console's.
        Unreachable: the server does not answer.
    """
    place = await agent.place()
    return Console(
        desk=Desk(agent, await asyncio.to_thread(answer_key, agent.loaded.proof, folder)),
        people=people,
        seal=await asyncio.to_thread(Seal.of_file, folder / "console.key"),
        ui_url=os.environ.get(_UI_VARIABLE) or place.ui_url,
        namespace=place.client.namespace,
    )


def answer_key(wanted: str, folder: Path) -> Ed25519PrivateKey:
    """Return the key that this console signs answers with: ``answers.key`` of the folder, made where there is none.

    Raises:
        BadSetting: the agent file demands ``wanted``, which is another key's.
    """
    path = folder / "answers.key"
    key = Ed25519PrivateKey.from_private_bytes(kept_key(path))
    if wanted and wanted != public_key(key):
        raise BadSetting(str(path), public_key(key), f"the agent file demands answers signed by {wanted}")
    return key


def free_port(wanted: int) -> int:
    """Return a port of loopback if nobody listens on it, else 0, which lets the kernel choose."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", wanted))
        except OSError:
            return 0
    return wanted


class _Server(uvicorn.Server):
    """Leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def listening(console: Console, *, host: str, port: int, root_path: str = "") -> AsyncIterator[str]:
    """Serve a console while the block lasts; yield its address. Port 0 lets the kernel choose.

    Raises:
        BadSetting: the address is in use, or is not this machine's; or nobody would have to sign in there.
    """
    check_address(host, console.people)
    config = uvicorn.Config(
        create_app(console),
        host=host,
        port=port,
        root_path=root_path,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    try:
        bound = config.bind_socket()
    except SystemExit:
        raise BadSetting("--port", str(port), f"{host}:{port} cannot be listened on; is something there?") from None
    server = _Server(config)
    running = asyncio.ensure_future(server.serve(sockets=[bound]))
    try:
        while not server.started and not running.done():  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{bound.getsockname()[1]}{root_path}"
    finally:
        server.should_exit = True
        await running
        bound.close()
