"""Findings as people read them, as JSON, and as SARIF for code hosts (SPEC 10.2)."""

import json
from collections.abc import Iterator

from ..contract.tool import Origin
from .finding import Finding, RouteStep, Severity
from .lints import LINTS
from .verify import CODES, Verdict

__all__ = ["finding_text", "report_json", "report_sarif", "report_text"]

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_PAGES = {"QG": "docs/verify.md", "": "docs/lints.md"}


def finding_text(finding: Finding) -> str:
    """Return one finding in a few lines: what, the route, the rules on it, and the fix."""
    where = f"{finding.origin}: " if finding.origin.file else ""
    who = ", ".join(filter(None, (finding.agent, finding.tool)))
    lines = [f"{where}{finding.severity} {finding.code}{f' [{who}]' if who else ''}: {finding.message}"]
    if finding.route:
        lines.append(f"  route ({finding.certainty}): {' -> '.join(map(_step_text, finding.route))}")
    if finding.facts:
        lines.append(f"  with the facts: {', '.join(finding.facts)}")
    if finding.rules:
        lines.append(f"  rules: {', '.join(map(str, finding.rules))}")
    if finding.fix:
        lines.append(f"  fix: {finding.fix}")
    return "\n".join(lines)


def report_text(verdict: Verdict) -> str:
    """Return the whole report; its last line says whether it passed."""
    errors = sum(finding.severity == "error" for finding in verdict.findings)
    warnings = len(verdict.findings) - errors
    summary = "passed" if verdict.passed else "failed"
    counted = f"{_count(errors, 'error')}, {_count(warnings, 'warning')}, {_count(len(verdict.lints), 'lint')}"
    return "\n".join([*map(finding_text, (*verdict.findings, *verdict.lints)), f"{summary}: {counted}"])


def report_json(verdict: Verdict) -> str:
    """Return the report as one JSON object: ``passed``, ``findings`` and ``lints``."""
    said = {
        "passed": verdict.passed,
        "findings": [finding.model_dump(mode="json") for finding in verdict.findings],
        "lints": [finding.model_dump(mode="json") for finding in verdict.lints],
    }
    return json.dumps(said, ensure_ascii=False, indent=2)


def report_sarif(verdict: Verdict, *, version: str = "") -> str:
    """Return the report as SARIF 2.1.0, which code hosts show beside the lines it is about.

    Args:
        verdict: what verify said.
        version: the version of amends, for the tool's name in the report.
    """
    driver: dict[str, object] = {"name": "amends verify", "rules": list(_sarif_rules())}
    if version:
        driver["version"] = version
    results = [_sarif_result(finding) for finding in (*verdict.findings, *verdict.lints)]
    log = {"$schema": _SARIF, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, ensure_ascii=False, indent=2)


def _sarif_rules() -> Iterator[dict[str, object]]:
    for code, meaning in CODES.items():
        yield {"id": code, "shortDescription": {"text": meaning}, "help": {"text": f"See {_PAGES['QG']}."}}
    for code in LINTS:
        text = code.replace("_", " ")
        yield {"id": code, "shortDescription": {"text": text}, "help": {"text": f"See {_PAGES['']}."}}


def _sarif_result(finding: Finding) -> dict[str, object]:
    level: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "note"}
    lines = [finding.message]
    if finding.route:
        lines.append(f"Route ({finding.certainty}): {' -> '.join(map(_step_text, finding.route))}.")
    if finding.fix:
        lines.append(f"Fix: {finding.fix}.")
    result: dict[str, object] = {
        "ruleId": finding.code,
        "level": level[finding.severity],
        "message": {"text": "\n".join(lines)},
        "properties": {"agent": finding.agent, "tool": finding.tool, "certainty": finding.certainty},
    }
    if finding.origin.file:
        result["locations"] = [_sarif_place(finding.origin)]
    if finding.rules:
        result["relatedLocations"] = [_sarif_place(origin) for origin in finding.rules]
    return result


def _sarif_place(origin: Origin) -> dict[str, object]:
    place: dict[str, object] = {"artifactLocation": {"uri": origin.file.replace("\\", "/")}}
    if origin.line:
        place["region"] = {"startLine": origin.line}
    return {"physicalLocation": place}


def _step_text(step: RouteStep) -> str:
    arguments = ", ".join(f"{name}={value}" for name, value in step.arguments.items())
    return f"{step.agent}: {step.tool}({arguments})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
