"""The entry point: finds the command, runs it, and ends the process with its exit code.

Nothing is imported before it is needed: ``amends --help`` loads click and this file, ``amends plan`` no Temporal.
"""

import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import NoReturn, cast

import click

from .. import __version__

__all__ = ["COMMANDS", "commands", "main", "run"]

COMMANDS: Mapping[str, str] = {
    "demo": "Run the failed order: two orders fail half-way and are undone.",
    "dev": "One process: Temporal server with its UI, worker, console.",
    "serve": "Serve the HTTP API and the web console of an agent.",
    "token": "Make a token for the console.",
    "operator": "Make, list and revoke operator tokens.",
    "worker": "Serve the agents of a file, until told to stop.",
    "init": "Write a first agent, with an undo, a rule and a test.",
    "chat": "Talk to an agent in the terminal, and confirm its writes.",
    "confirm": "Answer the open confirmation of a run.",
    "answer": "Answer a question about a doubtful call or a failed undo.",
    "stop": "Stop a run, a session, an agent or everything, and undo it.",
    "undo": "Undo any run from outside: show the plan, or do it.",
    "inbox": "List what waits for a person.",
    "runs": "List runs, latest first.",
    "watch": "Follow a run as it happens.",
    "show": "Show one run: steps, undos, questions, answers, reply.",
    "plan": "Show how a turn would be read, checked and asked; run nothing.",
    "tools": "List an agent's tools, and what undoes each.",
    "lint": "Say what recovery needs of each write and does not have.",
    "verify": "Look for routes that cannot be undone, before anything runs.",
    "audit": "Export or verify the record of a session.",
    "doctor": "Look whether everything is there, and say what is missing.",
    "openapi": "Print the OpenAPI document of the HTTP API.",
    "completion": "Print what teaches a shell to complete amends.",
    "version": "Say which versions are in use.",
}
"""The commands, in the order of the help, each in the module of its name."""

_TRACEBACK_VARIABLE = "AMENDS_TRACEBACK"
_UNANSWERED = {"UNAVAILABLE", "DEADLINE_EXCEEDED"}
"""The states of a Temporal call that found nobody, as its errors name them."""
_UNEXPECTED = 1
_DETACHED = 130


class _Commands(click.Group):
    """The group of all commands; each is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        if cmd_name not in COMMANDS:
            return None
        return cast("click.Command", import_module(f".{cmd_name}", __package__).command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="amends %(version)s")
def commands() -> None:
    """Durable, confirmed, undoable tool calls for AI agents and plain sentences, on Temporal."""


def main() -> NoReturn:
    """Run the command of this process and end it."""
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.stderr.flush()
    if "temporalio" in sys.modules:
        # Temporal's runtime has threads that Python does not know of, and an interpreter that ends while they run may
        # crash after all the work was done. Everything of ours is closed by now.
        os._exit(code)
    sys.exit(code)


def run(words: Sequence[str]) -> int:
    """Run one command; return its exit code. Whatever it raises is said on stderr."""
    as_json = "--json" in words
    try:
        return int(commands.main(args=list(words), prog_name="amends", standalone_mode=False) or 0)
    except click.ClickException as error:
        if as_json:
            said = {"title": "usage", "status": 400, "detail": error.format_message(), "code": "usage"}
            sys.stderr.write(json.dumps(said, ensure_ascii=False) + "\n")
        else:
            error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _DETACHED
    except BrokenPipeError:
        return 0
    except Exception as error:  # noqa: BLE001 - the last line of defence: a person gets words, not a traceback
        return _tell(error, as_json=as_json)


def _tell(error: Exception, *, as_json: bool) -> int:
    errors = import_module("..contract.errors", __package__)
    if isinstance(error, errors.AmendsError):
        import_module(".problems", __package__).tell(error, as_json=as_json)
        return int(import_module(".exits", __package__).exit_of_error(error))
    if getattr(getattr(error, "status", None), "name", "") in _UNANSWERED:
        hint = "Check that it runs; nothing that was accepted is lost."
        gone = errors.Unreachable("temporal_unreachable", f"Temporal does not answer: {error}.", hint)
        return _tell(gone, as_json=as_json)
    if os.environ.get(_TRACEBACK_VARIABLE):
        traceback.print_exception(error)
    detail = f"{type(error).__name__}: {error}"
    hint = f"This is a fault of amends. {_TRACEBACK_VARIABLE}=1 shows where."
    if as_json:
        said = {"title": "unexpected error", "status": 500, "detail": detail, "code": "unexpected", "hint": hint}
        sys.stderr.write(json.dumps(said, ensure_ascii=False) + "\n")
    else:
        sys.stderr.write(f"error: {detail}\n{hint}\n")
    return _UNEXPECTED


if __name__ == "__main__":
    main()
