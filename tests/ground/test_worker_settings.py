from datetime import timedelta

import pytest
from amends.worker.settings import BadSetting, WorkerSettings
from pydantic import ValidationError


def test_with_nothing_said_every_default_holds_and_says_that_it_is_one() -> None:
    settings = WorkerSettings.resolve({}, {})
    assert settings.model_dump(exclude={"sources"}) == {
        "task_queue": None,
        "max_activities": 100,
        "drain": timedelta(seconds=30),
        "sticky": timedelta(seconds=1),
        "deployment": None,
        "build_id": None,
        "results": None,
        "metrics": None,
    }
    assert settings.sources == dict.fromkeys(settings.model_dump(exclude={"sources"}), "default")


def test_a_flag_wins_over_a_variable_and_each_value_knows_its_place() -> None:
    settings = WorkerSettings.resolve(
        {"max_activities": 7, "task_queue": None, "drain": None},
        {"AMENDS_MAX_ACTIVITIES": "9", "AMENDS_TASK_QUEUE": "desk", "AMENDS_DRAIN": "2m", "AMENDS_STICKY": ""},
    )
    assert (settings.max_activities, settings.task_queue, settings.drain) == (7, "desk", timedelta(minutes=2))
    assert (settings.sources["max_activities"], settings.sources["task_queue"]) == (
        "--max-activities",
        "AMENDS_TASK_QUEUE",
    )
    assert settings.sources["sticky"] == "default"
    with pytest.raises(ValidationError, match="frozen"):
        settings.drain = timedelta(0)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("said", "meant"),
    [("30s", 30), ("45", 45), ("1.5m", 90), ("500ms", 0.5), ("2h", 7200), ("0", 0), (" 5s ", 5), ("24h", 86400)],
)
def test_a_time_is_a_number_with_its_unit(said: str, meant: float) -> None:
    assert WorkerSettings.resolve({"drain": said}, {}).drain == timedelta(seconds=meant)


@pytest.mark.parametrize(
    ("said", "meant"),
    [(":9464", "127.0.0.1:9464"), ("0.0.0.0:9464", "0.0.0.0:9464"), ("[::1]:80", "[::1]:80"), ("pod-1:1", "pod-1:1")],
)
def test_metrics_are_for_this_machine_alone_unless_a_host_is_named(said: str, meant: str) -> None:
    assert WorkerSettings.resolve({}, {"AMENDS_METRICS": said}).metrics == meant


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"AMENDS_DRAIN": "soon"}, "AMENDS_DRAIN = 'soon': a time such as 30s, 2m or 1h, at most 24h"),
        ({"AMENDS_DRAIN": "-1s"}, "AMENDS_DRAIN = '-1s': a time such as 30s, 2m or 1h, at most 24h"),
        ({"AMENDS_DRAIN": "25h"}, "AMENDS_DRAIN = '25h': a time such as 30s, 2m or 1h, at most 24h"),
        ({"AMENDS_MAX_ACTIVITIES": "0"}, "AMENDS_MAX_ACTIVITIES = '0': a whole number from 1 to 10000"),
        ({"AMENDS_MAX_ACTIVITIES": "1e9"}, "AMENDS_MAX_ACTIVITIES = '1e9': a whole number from 1 to 10000"),
        ({"AMENDS_METRICS": "9464"}, "AMENDS_METRICS = '9464': host:port, or :port for this machine alone"),
        ({"AMENDS_METRICS": ":70000"}, "AMENDS_METRICS = ':70000': host:port, or :port for this machine alone"),
        (
            {"AMENDS_TASK_QUEUE": "a desk"},
            "AMENDS_TASK_QUEUE = 'a desk': a task queue's name, at most 200 characters without spaces",
        ),
        ({"AMENDS_BUILD_ID": "7"}, "AMENDS_BUILD_ID = '7': a build's id without spaces, together with a deployment"),
        (
            {"AMENDS_DEPLOYMENT": "d"},
            "AMENDS_DEPLOYMENT = 'd': a deployment's name without spaces, together with a build id",
        ),
    ],
)
def test_a_setting_that_cannot_be_is_named_with_its_value_and_what_is_allowed(
    environment: dict[str, str], message: str
) -> None:
    with pytest.raises(BadSetting) as refused:
        WorkerSettings.resolve({}, environment)
    assert str(refused.value) == message


def test_a_bad_flag_is_named_as_a_flag() -> None:
    with pytest.raises(BadSetting, match=r"^--max-activities = 'many': a whole number"):
        WorkerSettings.resolve({"max_activities": "many"}, {"AMENDS_MAX_ACTIVITIES": "5"})


def test_a_deployment_and_a_build_go_together() -> None:
    settings = WorkerSettings.resolve({"deployment": "desk"}, {"AMENDS_BUILD_ID": "2026.11"})
    assert (settings.deployment, settings.build_id) == ("desk", "2026.11")
