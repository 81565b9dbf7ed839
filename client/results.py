"""Reading the whole result of a step, wherever it is kept (SPEC 13.3)."""

from pydantic import JsonValue

from ..contract.errors import NotFound
from ..contract.run import RunView
from ..contract.sizes import KEPT_AS, LEFT_OUT
from ..tools.result_store import ResultStore
from .place import Place

__all__ = ["read_result"]


def read_result(view: RunView, position: int, place: Place) -> JsonValue:
    """Return the whole result of the step at ``position``, counted from 1.

    Raises:
        NotFound: ``no_such_step``, ``no_such_result``.
    """
    if not 0 < position <= len(view.steps):
        said = f"The run {view.run} has {len(view.steps)} steps; there is no step {position}."
        raise NotFound("no_such_step", said, run_id=view.run)
    result = view.steps[position - 1].result
    if not isinstance(result, dict) or LEFT_OUT not in result:
        return result
    reference = result.get(KEPT_AS)
    where = f"The rest of the result of step {position}, of {result[LEFT_OUT]} bytes in all,"
    if not isinstance(reference, str):
        hint = "Give the workers a folder for such results: --results, or AMENDS_RESULTS."
        raise NotFound("no_such_result", f"{where} was not kept.", hint, run_id=view.run)
    if place.results is None:
        hint = "Set AMENDS_RESULTS to the folder that the workers use."
        raise NotFound("no_such_result", f"{where} is kept as {reference}.", hint, run_id=view.run)
    try:
        return ResultStore(place.results).read(reference)
    except (OSError, ValueError) as error:
        said = f"{where} is kept as {reference}, and cannot be read from {place.results}: {error}."
        raise NotFound("no_such_result", said, run_id=view.run) from error
