"""Importing the modules an agent file names: by name beside the file, by path, and what goes wrong in a user's code."""

import sys
from pathlib import Path

import pytest
from amends.contract.mistakes import FileMistake
from amends.contract.tool import Origin
from amends.tools.sources import declared_functions, import_source

HERE = Origin(file="agent.yaml", line=8)
ONE_TOOL = "from amends import tool\n\n@tool\ndef look(order_id: str) -> None: ...\n"


def names(target: str, folder: Path) -> list[str]:
    module = import_source(target, folder=folder, origin=HERE)
    return [function.__name__ for function, _ in declared_functions(module)]


def mistake(target: str, folder: Path) -> str:
    with pytest.raises(FileMistake) as caught:
        import_source(target, folder=folder, origin=HERE)
    return str(caught.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "import nothing_of_this_name\n",
            "ModuleNotFoundError: No module named 'nothing_of_this_name' (user.py:1)",
        ),
        ("x = 1\n\n1 / 0\n", "importing ./user.py failed: ZeroDivisionError: division by zero (user.py:3)"),
        ("def (\n", "./user.py is not readable as Python: invalid syntax (user.py:1)"),
        ("raise SystemExit\n", "importing ./user.py ends the program; keep what runs under `if __name__"),
        (
            "from amends import tool\n@tool(irreversible=True)\ndef f(): ...\n",
            "user.py:2: @tool: it says irreversible but not that it writes",
        ),
    ],
)
def test_a_module_that_cannot_be_imported_says_on_which_line(tmp_path, text, said):
    (tmp_path / "user.py").write_text(text)
    assert said in mistake("./user.py", tmp_path)


def test_a_file_that_failed_is_tried_again_when_it_was_put_right(tmp_path):
    (tmp_path / "user.py").write_text("1 / 0\n")
    mistake("./user.py", tmp_path)
    (tmp_path / "user.py").write_text(ONE_TOOL)
    assert names("./user.py", tmp_path) == ["look"]


def test_a_module_by_name_is_looked_for_beside_the_file_and_the_path_is_put_back(tmp_path):
    (tmp_path / "wares_of_sources_test.py").write_text(ONE_TOOL)
    before = list(sys.path)
    assert names("wares_of_sources_test", tmp_path) == ["look"]
    assert sys.path == before
    assert (
        mistake("wares_of_sources_tst", tmp_path)
        == "agent.yaml:8: python: there is no module 'wares_of_sources_tst'; did you mean wares_of_sources_test?"
    )


def test_a_module_beside_the_file_is_never_replaced_by_another_of_its_name(tmp_path):
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "twins_of_sources_test.py").write_text(ONE_TOOL)
    names("twins_of_sources_test", tmp_path / "one")
    said = mistake("twins_of_sources_test", tmp_path / "other")
    assert f"another module 'twins_of_sources_test' is imported already, from {tmp_path}/one/" in said
    assert names("./twins_of_sources_test.py", tmp_path / "other") == ["look"]


def test_a_module_in_a_package_beside_the_file(tmp_path):
    package = tmp_path / "corner_of_sources_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tools.py").write_text(ONE_TOOL)
    assert names("corner_of_sources_test.tools", tmp_path) == ["look"]
    assert mistake("corner_of_sources_test.tols", tmp_path).endswith(
        "'corner_of_sources_test.tols'; did you mean corner_of_sources_test.tools?"
    )


def test_a_file_by_path_may_import_its_neighbours_and_is_loaded_once(tmp_path):
    (tmp_path / "neighbour_of_sources_test.py").write_text("LOADED = []\n")
    (tmp_path / "user.py").write_text(f"from neighbour_of_sources_test import LOADED\nLOADED.append(1)\n{ONE_TOOL}")
    names("./user.py", tmp_path)
    names("user.py", tmp_path)
    assert sys.modules["neighbour_of_sources_test"].LOADED == [1]


@pytest.mark.parametrize("target", ["shop tools", "shop-tools", "", "shop..tools", "3shop"])
def test_what_is_no_module_name_is_refused_with_how_to_write_it(tmp_path, target):
    assert "is no module name; write it as `shop.tools` or `./tools.py`" in mistake(target, tmp_path)


def test_an_imported_tool_counts_once_and_in_order(tmp_path):
    (tmp_path / "first_of_sources_test.py").write_text(ONE_TOOL)
    text = "from first_of_sources_test import look\nalias = look\nfrom amends import tool\n@tool\ndef act(): ...\n"
    (tmp_path / "user.py").write_text(text)
    assert names("./user.py", tmp_path) == ["look", "act"]
