"""``amends undo``: the plan of undoing a run from outside, and doing it with an operator token (SPEC 8.1, 8.2)."""

import os
import shlex
import sys
from pathlib import Path

import click

from ..client.blocking import Agent
from ..client.unwinding import LONGEST_REASON
from ..contract.names import unwind_id
from ..contract.unwind import UnwindReport, UnwindVerdict
from .exits import Exit
from .options import agent_options, as_json_option, by_option, same_place, state_option
from .targets import is_run, run_meant
from .terminal import document, note, say
from .unwind_lines import plan_lines, report_lines, would_do_something

__all__ = ["command"]

TOKEN_VARIABLE = "AMENDS_OPERATOR_TOKEN"  # noqa: S105 - the name of a variable
_OF_VERDICT: dict[UnwindVerdict, Exit] = {
    "unwound": Exit.DONE,
    "nothing-to-undo": Exit.DONE,
    "unwound-with-leftovers": Exit.LEFT,
    "abandoned": Exit.LEFT,
    "stuck": Exit.STUCK,
    "swept": Exit.STUCK,
    "unwinding": Exit.GOES_ON,
}


def _read_steps(_: click.Context, __: click.Parameter, said: str | None) -> tuple[int, ...]:
    if said is None:
        return ()
    words = [word.strip() for word in said.split(",")]
    if not all(word.isascii() and word.isdigit() and int(word) > 0 for word in words):
        raise click.BadParameter(f"{said!r} are no steps such as 1,3")
    return tuple(sorted({int(word) for word in words}))


@click.command()
@click.argument("target", metavar="RUN|USER")
@click.option("--apply", is_flag=True, help="Do it. Without, the plan is printed and nothing is done.")
@click.option("--dry-run", is_flag=True, help="The same as no --apply, said aloud.")
@click.option("--plan-digest", "digest", default="", metavar="DIGEST", help="Do it only if this is still the plan.")
@click.option("--steps", callback=_read_steps, metavar="1,3", help="Undo these steps alone.  [default: every write]")
@click.option("--reason", default="", help="Why; it stands in the record and in the reply. --apply needs it.")
@by_option("Who undoes it.")
@click.option(
    "--continue-past-uncertain",
    "past_uncertain",
    is_flag=True,
    help="Go on past a write that nobody knows of, instead of asking.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help=f"Where the operator token is, - for stdin.  [default: {TOKEN_VARIABLE}]",
)
@click.option(
    "--wait",
    type=click.FloatRange(0, 3600),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the undos. They go on after that.",
)
@agent_options
@state_option
@as_json_option
def command(
    *,
    target: str,
    apply: bool,
    dry_run: bool,
    digest: str,
    steps: tuple[int, ...],
    reason: str,
    by: str,
    past_uncertain: bool,
    token_file: Path | None,
    wait: float,
    file: Path,
    name: str | None,
    state: Path | None,
    as_json: bool,
) -> Exit:
    """Show what undoing RUN would do, or undo it: its writes, latest first, whether it is open or over.

    Of a USER, the plan of their open or latest run is shown; to undo it, name the run.

    With --apply the run is condemned first: it can never go on, whatever becomes of the undos. That needs a reason and
    an operator token of the scope undo. The same command again goes on where an unwind got stuck.
    """
    if apply and dry_run:
        raise click.UsageError("--apply does it and --dry-run does not: give one of the two")
    if apply and not 0 < len(reason.strip()) <= LONGEST_REASON:
        raise click.UsageError(f"--apply needs a --reason of 1 to {LONGEST_REASON} characters: it stands in the record")
    if not apply and (said := _idle(reason=reason, token_file=token_file, digest=digest)):
        raise click.UsageError(f"{said} goes with --apply; without it nothing is done")
    if apply and not is_run(target):
        raise click.UsageError(f"--apply needs the id of a run: `amends undo {target}` shows it, with its plan")
    token = _token(token_file) if apply else None
    with Agent.from_file(file, agent=name, state=state) as desk:
        run = target.removeprefix(unwind_id("")) if is_run(target) else run_meant(desk, target).run
        try:
            report = desk.undo(
                run,
                dry_run=not apply,
                steps=steps,
                reason=reason.strip(),
                by=by,
                token=token,
                digest=digest,
                continue_past_uncertain=past_uncertain,
                patience=wait,
            )
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        _tell(report, as_json=as_json)
        if not apply and not as_json:
            _tell_how(report, steps, past_uncertain=past_uncertain)
    return _OF_VERDICT[report.verdict] if apply else Exit.DONE


def _idle(*, reason: str, token_file: Path | None, digest: str) -> str:
    given = {"--reason": reason, "--token-file": token_file, "--plan-digest": digest}
    return next((flag for flag, value in given.items() if value), "")


def _token(token_file: Path | None) -> str | None:
    """Return the token that was given, if one was. Whether it will do is found out with it in hand, and recorded."""
    if token_file is None:
        return os.environ.get(TOKEN_VARIABLE, "").strip() or None
    try:
        text = sys.stdin.read() if str(token_file) == "-" else token_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"--token-file {token_file} cannot be read: {error}") from error
    return text.strip() or None


def _tell(report: UnwindReport, *, as_json: bool) -> None:
    if as_json:
        document("amends.undo/1", report.model_dump(mode="json"))
        return
    for line in plan_lines(report) if report.dry_run else report_lines(report):
        say(line)


def _tell_how(plan: UnwindReport, steps: tuple[int, ...], *, past_uncertain: bool) -> None:
    note("Nothing was done.")
    if plan.verdict == "swept" or (plan.condemned and not would_do_something(plan)):
        return
    words = ["amends", "undo", plan.run, "--apply", "--plan-digest", plan.digest]
    words += ["--steps", ",".join(map(str, steps))] if steps else []
    words += ["--continue-past-uncertain"] if past_uncertain else []
    note(f"To do it:  {shlex.join(words)} --reason TEXT{same_place()}")
