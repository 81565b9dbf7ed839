"""What the repository promises about itself: layout, sizes, words."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOT_PACKAGED = {"tests", "benchmarks", "docs"}
MAY_NEST = {"examples"}
MOST_LINES = 400
FORBIDDEN = {
    "unfinished work": re.compile("TODO|FIXME|XXX"),
    "a registry's address": re.compile(r"(?:pypi|pythonhosted|npmjs|registry\.[a-z]+)\.(?:org|com|io)", re.IGNORECASE),
    "a developer's own folder": re.compile(r"/home/\w|/Users/\w|/root/|/work/"),
}


def tracked() -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(line) for line in said.splitlines() if (ROOT / line).is_file()]


MODULES = [file for file in tracked() if file.suffix == ".py"]


def text(file: Path) -> str:
    return (ROOT / file).read_text()


def test_every_folder_with_code_is_packaged_or_is_named_as_one_that_is_not() -> None:
    packaged = set(tomllib.loads(text(Path("pyproject.toml")))["tool"]["setuptools"]["packages"])
    folders = {file.parent for file in MODULES if file.parts[0] not in NOT_PACKAGED}
    assert packaged == {".".join(("amends", *folder.parts)) for folder in folders}


def test_packaged_folders_are_flat() -> None:
    nested = {file.parent for file in MODULES if len(file.parts) > 2} - {Path()}
    assert {folder.parts[0] for folder in nested} <= NOT_PACKAGED | MAY_NEST


def test_every_packaged_folder_says_what_it_is() -> None:
    for file in MODULES:
        if file.parts[0] not in NOT_PACKAGED:
            assert ast.get_docstring(ast.parse(text(file))), file


def test_no_module_is_longer_than_a_person_reads_at_once() -> None:
    assert [str(file) for file in MODULES if len(text(file).splitlines()) > MOST_LINES] == []


def test_no_module_is_named_for_nothing_in_particular() -> None:
    nothing = {"base", "common", "helpers", "manager", "misc", "util", "utils"}
    assert [str(file) for file in MODULES if file.stem in nothing] == []


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_holds(what: str) -> None:
    found = []
    for file in tracked():
        if file.name == Path(__file__).name:  # which must name what it looks for
            continue
        try:
            lines = text(file).splitlines()
        except UnicodeDecodeError:
            continue
        found += [f"{file}:{number}" for number, line in enumerate(lines, 1) if FORBIDDEN[what].search(line)]
    assert found == []


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("unfinished work", "# TODO: later"),
        ("a registry's address", "https://files.{}.org/x".format("pythonhosted")),
        ("a developer's own folder", "see /home/ana/notes"),
    ],
)
def test_what_no_file_may_hold_would_be_found(what: str, line: str) -> None:
    assert FORBIDDEN[what].search(line)


def test_the_license_is_the_apache_license_in_full() -> None:
    license_text = text(Path("LICENSE"))
    assert license_text.split()[:5] == ["Apache", "License", "Version", "2.0,", "January"]
    assert len(license_text.splitlines()) == 202


def test_the_changelog_knows_this_version() -> None:
    version = tomllib.loads(text(Path("pyproject.toml")))["project"]["version"]
    assert re.search(rf"^## \[?{re.escape(version)}", text(Path("CHANGELOG.md")), re.MULTILINE)
