"""The error tree: stable codes, fields, and errors that survive being stored."""

import pickle

import pytest
from amends.contract import errors, mistakes
from amends.contract.errors import AmendsError, ArgumentProblem
from amends.contract.tool import Origin

SAMPLES: list[AmendsError] = [
    errors.UnknownFact("card_on_fle", known=("card_on_file",), near=("card_on_file",)),
    errors.ToolError("it broke"),
    errors.Refused("the card was declined", details={"decline_code": "51"}),
    errors.NotSent("pay.example did not resolve"),
    errors.OutcomeUnknown(),
    errors.Unchanged("it was so", result={"id": 1}),
    errors.CondemnedRunError("run_condemned", "ana had run:shop:u:1:1 undone", run_id="run:shop:u:1:1"),
    errors.Conflict("question_closed", "q1 was answered 'approve' by ana.", "Ask for the run again.", "run:1", "q1"),
    errors.Ambiguous("several_questions", "u-17 has 2 open questions.", choices=("q1", "q2")),
    errors.NotAllowed("not_your_question", "q1 is asked of ana."),
    errors.NotFound("no_such_run", "There is no run run:9.", run_id="run:9"),
    errors.Unreachable("temporal_unreachable", "No answer from 127.0.0.1:7233."),
    errors.BadArguments("charge_card", (ArgumentProblem("amount", "'x'", "it is not a number"),)),
    mistakes.FileMistake("unknown key 'tols'", Origin(file="agent.yaml", line=3), near=("tools",)),
    mistakes.FileMistakes([mistakes.FileMistake("two", Origin(file="a", line=2))]),
]


def classes_of(root: type[AmendsError]) -> set[type[AmendsError]]:
    return {root}.union(*(classes_of(below) for below in root.__subclasses__()))


def test_every_class_of_the_tree_has_a_sample_here_and_a_line_in_the_map():
    ours = {kind for kind in classes_of(AmendsError) if kind.__module__.startswith("amends.contract")}
    assert {type(sample) for sample in SAMPLES} == ours - {AmendsError, errors.CallerError}
    assert errors.__doc__ is not None
    assert [kind.__name__ for kind in ours if kind.__name__ not in errors.__doc__] == []


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_its_fields_and_text(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.code == error.code
    assert {name: str(value) for name, value in again.fields.items()} == {
        name: str(value) for name, value in error.fields.items()
    }


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_is_made_again_from_its_fields(error):
    assert str(type(error)(**error.fields)) == str(error)


class CardDeclined(errors.Refused):
    def __init__(self, bank: str) -> None:
        super().__init__(f"{bank} declined the card")
        self.bank = bank


def test_a_class_that_a_user_derives_survives_pickling():
    again = pickle.loads(pickle.dumps(CardDeclined("Azul")))
    assert (again.bank, str(again), again.code) == ("Azul", "Azul declined the card", "refused")


def test_codes_are_snake_case():
    assert all(sample.code.replace("_", "").isalpha() and sample.code.islower() for sample in SAMPLES)


def test_texts_name_the_place_the_value_and_the_way_out():
    said = {type(sample).__name__: str(sample) for sample in SAMPLES}
    assert said["Conflict"] == "q1 was answered 'approve' by ana. Ask for the run again."
    assert said["BadArguments"] == "charge_card does not take these arguments: amount = 'x': it is not a number"
    assert said["FileMistake"] == "agent.yaml:3: unknown key 'tols'; did you mean tools?"
    assert said["OutcomeUnknown"] == "outcome unknown"
