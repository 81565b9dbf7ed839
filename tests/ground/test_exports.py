import ast
import importlib
import subprocess
import sys
from pathlib import Path

import amends
import pytest

ROOT = Path(__file__).parents[2]
HEAVY = {"anthropic", "asyncio", "click", "pydantic", "rich", "temporalio", "yaml"}


def names_for_type_checkers() -> dict[str, str]:
    """The public names and their modules, as ``if TYPE_CHECKING:`` imports them."""
    tree = ast.parse((ROOT / "__init__.py").read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    return {
        alias.asname or alias.name: str(node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_the_public_names_are_sorted_and_the_same_for_people_type_checkers_and_import() -> None:
    assert amends.__all__ == sorted(amends.__all__)
    assert set(amends.__all__) - {"__version__"} == set(amends._HOMES)
    assert names_for_type_checkers() == amends._HOMES
    assert dir(amends) == amends.__all__


@pytest.mark.parametrize("name", sorted(amends._HOMES))
def test_a_public_name_is_the_one_its_module_exports(name: str) -> None:
    home = importlib.import_module(f"amends.{amends._HOMES[name]}")
    assert getattr(amends, name) is getattr(home, name)
    assert name in home.__all__


def test_a_name_that_is_not_there_is_told_as_python_tells_it() -> None:
    with pytest.raises(AttributeError, match=r"^module 'amends' has no attribute 'Agnet'$"):
        amends.Agnet  # noqa: B018


def test_importing_the_package_loads_nothing_else() -> None:
    question = "import sys; before = set(sys.modules); import amends; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not HEAVY & {name.partition(".")[0] for name in loaded}
    assert {name for name in loaded if name.startswith("amends")} == {"amends"}


def test_every_module_exports_names_that_it_has_and_names_each_once() -> None:
    for file in ROOT.glob("*/*.py"):
        if file.parent.name in {"tests", "benchmarks", "docs"} or file.name == "__init__.py":
            continue
        if "__all__" not in file.read_text():
            continue
        module = importlib.import_module(f"amends.{file.parent.name}.{file.stem}")
        assert [name for name in module.__all__ if not hasattr(module, name)] == [], file
        assert len(set(module.__all__)) == len(module.__all__), file
