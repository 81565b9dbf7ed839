import logging
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from amends.client import connect as connecting
from amends.client import dev_server, processes
from amends.client.connect import MEMORY, ConnectionSettings, connect
from amends.client.embedded import EmbeddedServer
from amends.client.search_attributes import ensure_search_attributes
from amends.contract.errors import Unreachable
from amends.contract.names import SEARCH_ATTRIBUTES, USER_ATTRIBUTE
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError, RPCStatusCode


@pytest.fixture(autouse=True)
def abruptly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers are killed where they would be asked to end, which takes them a second."""
    monkeypatch.setattr(dev_server, "_ASK_THEN_KILL", dev_server._KILL)


@pytest.fixture
async def bare() -> AsyncIterator[Client]:
    """A client of a server that knows no search attribute of ours."""
    async with await EmbeddedServer.open(None, attributes=()) as server:
        yield await Client.connect(server.address)


@pytest.fixture
def mute() -> Iterator[str]:
    """An address where somebody takes the connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def closed() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


async def test_with_no_address_anywhere_it_is_the_embedded_server_in_the_chosen_folder(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    async with await connect(environment={"AMENDS_STATE": str(folder)}) as connection:
        assert connection.embedded is not None
        assert connection.search_attributes
        assert connection.client.data_converter is pydantic_data_converter
        assert (folder / "temporal.db").exists()
    assert processes.look_at(connection.embedded.pid) is None


@pytest.mark.parametrize(
    ("chosen", "variable", "folder"),
    [
        (None, None, Path("shop/.amends")),
        (None, "var/state", Path("var/state")),
        (Path("mine"), "var/state", Path("mine")),
        (None, MEMORY, None),
        (MEMORY, "var/state", None),
    ],
)
def test_the_state_folder_is_the_callers_then_the_environments_then_beside_the_agent_file(
    chosen: Path | None, variable: str | None, folder: Path | None
) -> None:
    settings = ConnectionSettings(state=chosen, beside=Path("shop"))
    assert settings.state_folder({"AMENDS_STATE": variable} if variable else {}) == folder


async def test_the_environments_server_is_used_and_left_running(temporal: EmbeddedServer) -> None:
    async with await connect(environment={"TEMPORAL_ADDRESS": temporal.address}) as connection:
        assert connection.embedded is None
        assert connection.search_attributes
        assert connection.client.service_client.config.target_host == temporal.address
    assert processes.look_at(temporal.pid) is not None


async def test_a_profile_of_temporals_own_file_is_used(temporal: EmbeddedServer, tmp_path: Path) -> None:
    file = tmp_path / "temporal.toml"
    file.write_text(f'[profile.desk]\naddress = "{temporal.address}"\n')
    connection = await connect(ConnectionSettings(profile="desk"), environment={"TEMPORAL_CONFIG_FILE": str(file)})
    assert connection.client.service_client.config.target_host == temporal.address


async def test_an_address_in_the_arguments_wins_over_the_environment(temporal: EmbeddedServer, closed: str) -> None:
    settings = ConnectionSettings(address=temporal.address)
    connection = await connect(settings, environment={"TEMPORAL_ADDRESS": closed})
    assert connection.embedded is None


async def test_the_embedded_server_can_be_demanded_or_refused(closed: str) -> None:
    demanded = ConnectionSettings(embedded=True, state=MEMORY)
    async with await connect(demanded, environment={"TEMPORAL_ADDRESS": closed}) as connection:
        assert connection.embedded is not None
    with pytest.raises(Unreachable, match=r"No address of a Temporal server is given\. Set TEMPORAL_ADDRESS"):
        await connect(ConnectionSettings(embedded=False), environment={})


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"TEMPORAL_API_KEY": "secret"}, "an API key"),
        ({"TEMPORAL_NAMESPACE": "prod"}, "namespace prod"),
        ({"TEMPORAL_TLS": "true"}, "TLS"),
        ({"TEMPORAL_GRPC_META_TEAM": "desk"}, "gRPC metadata"),
    ],
)
async def test_settings_of_a_server_that_nobody_named_are_refused(environment: dict[str, str], named: str) -> None:
    with pytest.raises(Unreachable) as refused:
        await connect(environment=environment)
    assert f"are given ({named}), and no address. Set TEMPORAL_ADDRESS=host:port, or unset" in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"TEMPORAL_PROFILE": "nope"}, "Temporal's settings cannot be read: Profile 'nope' not found"),
        ({"TEMPORAL_CONFIG_FILE": "/nope.toml"}, "TEMPORAL_CONFIG_FILE='/nope.toml' does not exist."),
    ],
)
async def test_settings_that_cannot_be_read_are_refused(environment: dict[str, str], said: str) -> None:
    with pytest.raises(Unreachable) as refused:
        await connect(environment=environment)
    assert str(refused.value).startswith(said)


async def test_a_server_that_cannot_be_reached_is_named_with_the_reason_and_the_way_out(
    closed: str, mute: str, temporal: EmbeddedServer
) -> None:
    check = "Check that it runs, TEMPORAL_ADDRESS (host:port), the TLS settings and the network between."
    for environment, why in [
        ({"TEMPORAL_ADDRESS": closed}, "nothing listens there"),
        ({"TEMPORAL_ADDRESS": mute}, "no answer within 0.5 s"),
        ({"TEMPORAL_ADDRESS": "a b"}, "that is no address"),
        ({"TEMPORAL_ADDRESS": temporal.address, "TEMPORAL_TLS": "true"}, "it does not speak TLS"),
    ]:
        with pytest.raises(Unreachable) as failed:
            await connect(ConnectionSettings(timeout=0.5), environment=environment)
        address = environment["TEMPORAL_ADDRESS"]
        assert str(failed.value) == f"The Temporal server at {address} cannot be reached: {why}. {check}"
        assert failed.value.code == "temporal_unreachable"


async def test_a_missing_namespace_is_named_with_the_command_that_makes_it(temporal: EmbeddedServer) -> None:
    with pytest.raises(Unreachable) as failed:
        await connect(environment={"TEMPORAL_ADDRESS": temporal.address, "TEMPORAL_NAMESPACE": "desks"})
    assert str(failed.value) == (
        f"The Temporal server at {temporal.address} has no namespace 'desks'. "
        "Set TEMPORAL_NAMESPACE, or make it: temporal operator namespace create desks"
    )


async def test_a_connection_that_fails_halfway_leaves_no_server_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []

    async def fail(client: Client) -> bool:
        opened.append(int((tmp_path / "server.json").read_text().split('"pid": ')[1].split(",")[0]))
        raise RPCError("broken", RPCStatusCode.INTERNAL, b"")

    monkeypatch.setattr(connecting, "ensure_search_attributes", fail)
    with pytest.raises(RPCError, match="broken"):
        await connect(ConnectionSettings(state=tmp_path), environment={})
    assert [processes.look_at(pid) for pid in opened] == [None]


async def registered(client: Client) -> set[str]:
    listed = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace="default"))
    return set(listed.custom_attributes)


async def test_missing_search_attributes_are_registered_and_usable_at_once(bare: Client) -> None:
    assert not await ensure_search_attributes(bare, register=False)
    assert not await registered(bare)

    assert await ensure_search_attributes(bare)
    assert await registered(bare) == set(SEARCH_ATTRIBUTES)
    assert (await bare.count_workflows(f"{USER_ATTRIBUTE} = 'ana'")).count == 0
    assert await ensure_search_attributes(bare, register=False)


async def test_a_search_attribute_of_another_type_is_not_used(bare: Client, caplog: pytest.LogCaptureFixture) -> None:
    wrong = {USER_ATTRIBUTE: IndexedValueType.INDEXED_VALUE_TYPE_INT}
    await bare.operator_service.add_search_attributes(
        AddSearchAttributesRequest(namespace="default", search_attributes=wrong)
    )
    with caplog.at_level(logging.WARNING):
        assert not await ensure_search_attributes(bare)
    assert "not of type Keyword: AmendsUser" in caplog.text


@pytest.mark.parametrize("status", [RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED])
async def test_who_may_not_add_search_attributes_goes_without_and_is_told_the_command(
    bare: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: RPCStatusCode
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise RPCError("no", status, b"")

    monkeypatch.setattr(bare.operator_service, "add_search_attributes", refuse)
    with caplog.at_level(logging.WARNING):
        assert not await ensure_search_attributes(bare)
    assert "temporal operator search-attribute create --namespace default --name AmendsState" in caplog.text


async def test_who_may_not_list_search_attributes_still_uses_those_that_work(
    client: Client, bare: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise RPCError("no", RPCStatusCode.PERMISSION_DENIED, b"")

    for each, usable in [(client, True), (bare, False)]:
        monkeypatch.setattr(each.operator_service, "list_search_attributes", refuse)
        assert await ensure_search_attributes(each) is usable
