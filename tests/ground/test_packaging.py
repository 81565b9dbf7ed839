"""What a user installs: built once from what git holds, offline, and tried outside of the checkout."""

import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = {
    package.removeprefix("amends").lstrip(".").replace(".", "/")
    for package in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
}
DATA = {("console", "templates"), ("console", "static")}
NOT_DATA = {"README.md"}
"""Files of packaged folders that only readers of the repository need."""


def held_by_git() -> Iterator[Path]:
    """Every file a commit of this moment would hold, relative to the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for line in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if (ROOT / line).exists():
            yield Path(line)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was made from it and not from the checkout."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for file in held_by_git():
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, source / file)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)],
        check=True,
        capture_output=True,
    )
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


def test_the_wheel_holds_every_file_of_the_packaged_folders_and_nothing_else(wheel: Path) -> None:
    expected = {
        f"amends/{file}"
        for file in held_by_git()
        if file.parent.as_posix().removeprefix(".") in FOLDERS
        and (file.suffix == ".py" or file.parent != Path())
        and file.name not in NOT_DATA
    }
    expected |= {f"amends/{file}" for file in held_by_git() if file.parts[:2] == ("selector", "languages")}
    expected |= {f"amends/{file}" for file in held_by_git() if file.parts[:2] in DATA}
    expected.add("amends/py.typed")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == expected


def test_the_wheel_is_light_typed_licensed_and_has_its_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry,) = [name for name in names if name.endswith("entry_points.txt")]
        (metadata,) = [name for name in names if name.endswith("METADATA")]
        assert "amends = amends.cli.main:main" in archive.read(entry).decode()
        assert "License-Expression: Apache-2.0" in archive.read(metadata).decode()
        assert any(name.endswith("licenses/LICENSE") for name in names)
        assert {name.partition("/")[0] for name in names} == {"amends", metadata.partition("/")[0]}


def test_the_sdist_holds_what_builds_the_wheel_and_no_tests(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "py.typed", "contract/names.py"} <= files
    top = {name.partition("/")[0] for name in files}
    assert not top & {"tests", "docs", "benchmarks", "deploy", ".git", ".ci", ".venv", ".types", "amends"}


def test_the_installed_package_is_used_even_beside_folders_of_the_same_names(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run(pip, check=True, capture_output=True)
    (site,) = (environment / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))

    project = tmp_path / "project"
    for folder in ("workflows", "activities", "worker", "tools"):
        (project / folder).mkdir(parents=True)
        (project / folder / "__init__.py").write_text("OWNER = 'user'\n")
    question = (
        "import workflows, worker, amends, amends.contract.names, amends.worker.settings, amends.client.connect\n"
        "print(workflows.OWNER, worker.OWNER, amends.__file__, amends.client.connect.__file__)"
    )
    said = subprocess.run(
        [python, "-c", question], cwd=project, capture_output=True, text=True, check=True, env={"PATH": ""}
    ).stdout.split()
    assert said == ["user", "user", f"{site}/amends/__init__.py", f"{site}/amends/client/connect.py"]
