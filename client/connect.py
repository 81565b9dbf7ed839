"""Which Temporal server this process uses, and the connection to it (SPEC 12.1).

Temporal's own settings decide: an address in the arguments, in ``TEMPORAL_ADDRESS`` or in the chosen profile of
``temporal.toml`` is that server, with the namespace, key and certificates that stand beside it. With no address
anywhere it is the embedded one. Settings that only make sense for a real server, with no address to go with them, are
refused: a run must not land on another server than its owner meant.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import Field
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, Plugin
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.runtime import Runtime
from temporalio.service import RPCError, RPCStatusCode

from ..contract.errors import Unreachable
from ..contract.model import Stated
from .dev_server import NAMESPACE
from .embedded import EmbeddedServer
from .search_attributes import ensure_search_attributes

__all__ = ["MEMORY", "STATE_FOLDER", "Connection", "ConnectionSettings", "connect"]

MEMORY = ":memory:"
"""As a state folder: keep nothing."""
_STATE_VARIABLE = "AMENDS_STATE"
STATE_FOLDER = ".amends"
"""The embedded server's folder, beside the agent file, unless another is chosen."""
_REFUSALS = {RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED}
_SIGNS = {  # what the SDK's connection errors contain, and what it means
    "Connection refused": "nothing listens there",
    "dns error": "its name is not known",
    "InvalidContentType": "it does not speak TLS",
    "invalid target URL": "that is no address",
}


class ConnectionSettings(Stated):
    """What a caller says of the server to use. What is left out is looked for in the environment.

    Attributes:
        address: ``host:port`` of a Temporal server.
        namespace: its namespace.
        profile: a profile of Temporal's configuration file.
        embedded: True for the embedded server whatever the environment says; False to refuse it.
        state: the embedded server's folder, or ``":memory:"``; else ``AMENDS_STATE``, else ``.amends`` in ``beside``.
        beside: the folder of the agent file.
        ui: serve Temporal's web UI from the embedded server.
        timeout: seconds a server has to answer.
    """

    address: str | None = None
    namespace: str | None = None
    profile: str | None = None
    embedded: bool | None = None
    state: Path | Literal[":memory:"] | None = None
    beside: Path = Path()
    ui: bool = False
    timeout: float = Field(default=10.0, gt=0)

    def state_folder(self, environment: Mapping[str, str]) -> Path | None:
        """The embedded server's folder, or None for memory."""
        chosen = self.state or environment.get(_STATE_VARIABLE) or self.beside / STATE_FOLDER
        return None if str(chosen) == MEMORY else Path(chosen)


@dataclass(frozen=True, slots=True)
class Connection:
    """A client that is connected, and what must be closed with it.

    Attributes:
        client: Temporal's client, with pydantic's data converter.
        embedded: the embedded server, or None for somebody else's.
        search_attributes: whether workflows may carry ``contract.names.SEARCH_ATTRIBUTES``.
    """

    client: Client
    embedded: EmbeddedServer | None
    search_attributes: bool

    async def close(self) -> None:
        """Leaves the embedded server, if it is one. Close workers first: the last user's leaving stops the server."""
        if self.embedded is not None:
            await self.embedded.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def connect(
    settings: ConnectionSettings | None = None,
    *,
    data_converter: DataConverter = pydantic_data_converter,
    plugins: Sequence[Plugin] = (),
    runtime: Runtime | None = None,
    environment: Mapping[str, str] | None = None,
) -> Connection:
    """Connects to the server that the settings and the environment name, or to the embedded one.

    Args:
        settings: what the caller chose; it wins over the environment.
        data_converter: how payloads are written; must read what pydantic's converter writes.
        plugins: Temporal plugins for the client and the workers made from it.
        runtime: Temporal's runtime, for metrics; one for each process.
        environment: in place of this process's environment.

    Raises:
        Unreachable: the server does not answer, refuses us or lacks the namespace; or the settings contradict each
            other or cannot be read; or the embedded server fails. The message names the address and what to check.
    """
    settings = settings or ConnectionSettings()
    variables = os.environ if environment is None else environment
    target = ClientConnectConfig() if settings.embedded else _target(settings, variables)
    server: EmbeddedServer | None = None
    if "target_host" not in target:
        if settings.embedded is False:
            raise _unreachable("No address of a Temporal server is given.", "Set TEMPORAL_ADDRESS=host:port.")
        server = await EmbeddedServer.open(settings.state_folder(variables), ui=settings.ui)
        target = ClientConnectConfig(target_host=server.address, namespace=server.namespace)
    try:
        client = await _connected(target, settings.timeout, data_converter, plugins, runtime)
        attributes = await ensure_search_attributes(client)
    except BaseException:
        if server is not None:
            await server.close()
        raise
    return Connection(client=client, embedded=server, search_attributes=attributes)


async def _connected(
    target: ClientConnectConfig,
    timeout: float,
    data_converter: DataConverter,
    plugins: Sequence[Plugin],
    runtime: Runtime | None,
) -> Client:
    """A client of a server that answers, takes our credentials and has our namespace."""
    try:
        async with asyncio.timeout(timeout):
            client = await Client.connect(**target, data_converter=data_converter, plugins=plugins, runtime=runtime)
            await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=client.namespace))
    except (RPCError, RuntimeError, TimeoutError, ValueError) as failed:
        raise _explained(failed, target, timeout) from failed
    return client


def _target(settings: ConnectionSettings, environment: Mapping[str, str]) -> ClientConnectConfig:
    """What arguments and Temporal's own configuration say; without ``target_host`` if they say nothing at all."""
    named = environment.get("TEMPORAL_CONFIG_FILE")
    if named and not Path(named).exists():
        raise _unreachable(f"TEMPORAL_CONFIG_FILE={named!r} does not exist.", "Correct it, or unset it.")
    try:
        target = ClientConfig.load_client_connect_config(settings.profile, override_env_vars=dict(environment))
    except Exception as unread:
        raise _unreachable(
            f"Temporal's settings cannot be read: {unread}",
            "Look at TEMPORAL_PROFILE, TEMPORAL_CONFIG_FILE and the other TEMPORAL_ variables.",
        ) from unread
    if settings.address is not None:
        target["target_host"] = settings.address
    if settings.namespace is not None:
        target["namespace"] = settings.namespace
    if "target_host" not in target and (idle := _without_a_server(settings, environment, target)):
        raise _unreachable(
            f"Settings for a Temporal server are given ({', '.join(idle)}), and no address.",
            "Set TEMPORAL_ADDRESS=host:port, or unset them to use the embedded server.",
        )
    return target


def _without_a_server(
    settings: ConnectionSettings, environment: Mapping[str, str], target: ClientConnectConfig
) -> list[str]:
    """What was said of a server that nobody named."""
    profile = settings.profile or environment.get("TEMPORAL_PROFILE")
    namespace = target.get("namespace")
    said = {
        f"profile {profile}": bool(profile),
        f"namespace {namespace}": namespace not in {None, NAMESPACE},
        "an API key": "api_key" in target,
        "TLS": "tls" in target and "api_key" not in target,
        "gRPC metadata": "rpc_metadata" in target,
    }
    return [what for what, given in said.items() if given]


def _explained(failed: Exception, target: ClientConnectConfig, timeout: float) -> Unreachable:
    """What went wrong, as a person would say it, and what to look at."""
    address, namespace = target.get("target_host"), target.get("namespace", NAMESPACE)
    if isinstance(failed, RPCError) and failed.status == RPCStatusCode.NOT_FOUND:
        return _unreachable(
            f"The Temporal server at {address} has no namespace {namespace!r}.",
            f"Set TEMPORAL_NAMESPACE, or make it: temporal operator namespace create {namespace}",
        )
    if isinstance(failed, RPCError) and failed.status in _REFUSALS:
        return _unreachable(
            f"The Temporal server at {address} refuses us for namespace {namespace!r}: {failed.message}",
            "Check TEMPORAL_API_KEY or the client certificate, and what they may do.",
        )
    if isinstance(failed, TimeoutError):
        why = f"no answer within {timeout:g} s"
    else:
        why = next((said for sign, said in _SIGNS.items() if sign in str(failed)), str(failed))
    return _unreachable(
        f"The Temporal server at {address} cannot be reached: {why}.",
        "Check that it runs, TEMPORAL_ADDRESS (host:port), the TLS settings and the network between.",
    )


def _unreachable(message: str, hint: str) -> Unreachable:
    return Unreachable("temporal_unreachable", message, hint)
