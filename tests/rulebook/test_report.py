"""Reports of verify: text, JSON and SARIF."""

import json

from amends.contract.tool import Origin
from amends.rulebook.finding import Finding, RouteStep
from amends.rulebook.lints import LINTS
from amends.rulebook.report import report_json, report_sarif, report_text
from amends.rulebook.verify import CODES, Verdict

ERROR = Finding(
    code="QG013",
    severity="error",
    message="nothing can undo send_receipt",
    fix="let a person confirm send_receipt",
    agent="desk",
    tool="send_receipt",
    route=(
        RouteStep(agent="desk", tool="send_receipt", arguments={"order_id": "1"}),
        RouteStep(agent="back", tool="charge_card", arguments={"order_id": "1", "amount": "1"}),
    ),
    facts=("vip",),
    certainty="certain",
    origin=Origin(file="shop\\tools.py", line=7),
    rules=(Origin(file="rules.yaml", line=2),),
)
WARNING = Finding(code="QG110", severity="warning", message="it can be called alone", fix="add a rule")
NOTE = Finding(code="write_not_retry_safe", severity="note", message="a write with no idempotency", tool="save")


def test_the_text_says_what_where_how_and_the_way_out():
    assert report_text(Verdict((ERROR, WARNING), (NOTE,))) == (
        "shop\\tools.py:7: error QG013 [desk, send_receipt]: nothing can undo send_receipt\n"
        "  route (certain): desk: send_receipt(order_id=1) -> back: charge_card(order_id=1, amount=1)\n"
        "  with the facts: vip\n"
        "  rules: rules.yaml:2\n"
        "  fix: let a person confirm send_receipt\n"
        "warning QG110: it can be called alone\n"
        "  fix: add a rule\n"
        "note write_not_retry_safe [save]: a write with no idempotency\n"
        "failed: 1 error, 1 warning, 1 lint"
    )
    assert report_text(Verdict((), ())) == "passed: 0 errors, 0 warnings, 0 lints"


def test_only_errors_fail():
    assert (Verdict((WARNING,), (NOTE,)).exit_code, Verdict((WARNING, ERROR), ()).exit_code) == (0, 1)


def test_the_json_holds_all_of_it():
    report = json.loads(report_json(Verdict((ERROR,), (NOTE,))))
    assert report["passed"] is False
    assert [Finding.model_validate(one) for one in report["findings"]] == [ERROR]
    assert report["lints"][0]["code"] == "write_not_retry_safe"


def test_the_sarif_points_code_hosts_at_the_lines():
    log = json.loads(report_sarif(Verdict((ERROR, WARNING), (NOTE,)), version="1.2.3"))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("amends verify", "1.2.3")
    assert {rule["id"] for rule in driver["rules"]} == {*CODES, *LINTS}
    first, second, third = run["results"]
    assert [one["level"] for one in run["results"]] == ["error", "warning", "note"]
    place = first["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "shop/tools.py"}, "region": {"startLine": 7}}
    assert first["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "rules.yaml"
    assert "Route (certain): desk: send_receipt(order_id=1) -> back:" in first["message"]["text"]
    assert "locations" not in second
    assert third["ruleId"] == "write_not_retry_safe"
