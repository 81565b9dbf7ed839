"""The page on testing is a set of files that a reader can put beside their agent file and run."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "testing.md"
FILE = re.compile(r"^<!-- file: (?P<name>\S+) -->\n```\w+\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_example_of_the_page_is_a_file_that_runs(tmp_path: Path):
    shop = Path(shutil.copytree(ROOT / "examples" / "shop", tmp_path / "shop"))
    (shop / "__init__.py").unlink()
    page = PAGE.read_text()
    files = {found["name"]: found["body"] for found in FILE.finditer(page)}
    assert len(files) == page.count("\n```") / 2
    for name, body in files.items():
        (shop / name).write_text(body)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"],
        cwd=shop,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    tests = sum(body.count("async def test_") for body in files.values())
    assert f"{tests} passed" in ran.stdout
