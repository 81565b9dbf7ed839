"""`@tool`: the function stays a function, and a word that makes no sense is refused where it is written."""

import datetime as dt

import pytest
from amends import Undo, tool
from amends.contract.mistakes import FileMistake
from amends.contract.tool import UndoBinding
from amends.tools.declaration import DECLARATION, Declaration
from amends.tools.tool import make_tool


def words(function) -> dict[str, object]:
    return dict(getattr(function, DECLARATION).said)


def test_g077_the_function_stays_itself_and_callable():
    def add(one: int, other: int) -> int:
        return one + other

    assert tool(add) is add
    assert add(1, other=2) == 3


def test_only_the_words_that_were_given_are_said():
    @tool
    def look(order_id: str) -> None: ...

    @tool(writes=True, undo="put_back", at_most=3, timeout=1.5, after="look", not_after=["close", "ship"])
    def take(order_id: str) -> None: ...

    assert words(look) == {}
    assert words(take) == {
        "writes": True,
        "undo": UndoBinding(tool="put_back"),
        "at_most": 3,
        "timeout_ms": 1500,
        "after": ("look",),
        "not_after": ("close", "ship"),
    }


def test_a_timeout_may_be_a_timedelta():
    @tool(timeout=dt.timedelta(minutes=2))
    def slow() -> None: ...

    assert words(slow) == {"timeout_ms": 120_000}


def test_undo_none_is_said_and_an_undo_not_mentioned_is_not():
    @tool(writes=True, undo=None)
    def draft(text: str) -> None: ...

    @tool(writes=True)
    def post(text: str) -> None: ...

    assert words(draft) == {"writes": True, "undo": None}
    assert words(post) == {"writes": True}


def test_an_undo_may_bind_its_arguments_even_one_named_tool():
    @tool(writes=True, undo=Undo("label", tool="$args.tool", add="$args.remove", remove="$args.add"))
    def label(tool: str, add: str = "", remove: str = "") -> None: ...

    assert words(label)["undo"] == UndoBinding(
        tool="label", arguments={"tool": "$args.tool", "add": "$args.remove", "remove": "$args.add"}
    )
    assert repr(Undo("label", add="$args.remove")) == "Undo('label', add='$args.remove')"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"writes": True, "undo": "put_back", "irreversible": True}, "irreversible and undone by put_back: keep one"),
        ({"writes": True, "undo": None, "irreversible": True}, "irreversible alone says it"),
        ({"undo": "put_back"}, "says undo but not that it writes: add writes: true"),
        ({"irreversible": True}, "says irreversible but not that it writes"),
        ({"at_most": -1}, "at_most=-1"),
        ({"timeout": 0}, "timeout_ms=0"),
        ({"writes": "yes"}, "writes='yes'"),
        ({"writes": True, "undo": "Put Back"}, "'Put Back'"),
        ({"name": "Take!"}, "name='Take!'"),
        ({"after": ["Look Up"]}, "'Look Up'"),
    ],
)
def test_words_that_make_no_sense_are_refused_with_file_and_line(given, said):
    with pytest.raises(FileMistake) as caught:

        @tool(**given)
        def take() -> None: ...

    assert said in str(caught.value)
    assert caught.value.file == __file__
    assert caught.value.line > 0


def test_what_is_no_function_or_yields_is_refused():
    with pytest.raises(FileMistake, match="marks a function, not 'take'"):
        tool("take")  # type: ignore[call-overload]  # it is the mistake
    with pytest.raises(FileMistake, match="yields; a tool returns one result"):

        @tool
        def stream():
            yield 1


def test_what_a_file_says_goes_over_what_the_decorator_says_word_by_word():
    code = Declaration(writes=True, undo=UndoBinding(tool="put_back"), at_most=3)
    assert code.overridden_by(Declaration(at_most=1)).said == {
        "writes": True,
        "undo": UndoBinding(tool="put_back"),
        "at_most": 1,
    }
    assert code.overridden_by(Declaration(irreversible=True)).said == {
        "writes": True,
        "irreversible": True,
        "at_most": 3,
    }
    irreversible = Declaration(writes=True, irreversible=True)
    assert irreversible.overridden_by(Declaration(undo=UndoBinding(tool="put_back"))).said == {
        "writes": True,
        "undo": UndoBinding(tool="put_back"),
    }
    assert code.overridden_by(Declaration(undo=None)).said == {"writes": True, "undo": None, "at_most": 3}


def test_g059_to_say_that_a_write_is_not_safe_to_repeat_is_to_say_nothing():
    def pay(order_id: str) -> None: ...

    silent = make_tool(pay, Declaration(writes=True))
    assert make_tool(pay, Declaration(writes=True, retry_safe=False)).contract == silent.contract
    assert make_tool(pay, Declaration(writes=True, retry_safe=True)).contract != silent.contract
