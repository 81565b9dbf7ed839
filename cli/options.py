"""Options that several commands share: which agent, where its runs live, how to print."""

import functools
import getpass
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import click

__all__ = [
    "agent_file_argument",
    "agent_file_option",
    "agent_options",
    "as_json_option",
    "by_option",
    "context_option",
    "language_option",
    "name_option",
    "read_pairs",
    "same_place",
    "state_option",
    "worker_options",
]

_AGENT_FILE = "agent.yaml"

_WORKER_SETTINGS = (
    ("--task-queue", "NAME", "The task queue.  [default: one for each agent, amends-<agent>]"),
    ("--max-activities", "N", "Tool calls at a time.  [default: 100]"),
    ("--drain", "TIME", "How long calls in flight may go on once told to stop.  [default: 30s]"),
    ("--sticky", "TIME", "How long a run waits for the worker that has it cached.  [default: 1s]"),
    ("--deployment", "NAME", "For versioned workers: the deployment.  [default: off]"),
    ("--build-id", "ID", "For versioned workers: the build.  [default: off]"),
    ("--results", "DIR", "Where results too large for a history are kept.  [default: off; embedded: the state folder]"),
    ("--metrics", "HOST:PORT", "Where to serve Prometheus metrics.  [default: off]"),
)

_Command = TypeVar("_Command", bound=Callable[..., object])


def agent_options(command: _Command) -> _Command:
    """Add ``--agent FILE`` as ``file`` and ``--name NAME`` as ``name``."""
    return agent_file_option(name_option(command))


def name_option(command: _Command) -> _Command:
    """Add ``--name NAME`` as ``name``."""
    return click.option("--name", help="Which agent of the file, where it has several.")(command)


def agent_file_argument(command: _Command) -> _Command:
    """Add ``[AGENT_FILE]``, and ``--agent FILE`` for the same, as ``file``."""

    @functools.wraps(command)
    def with_one(*args: object, agent_file: Path | None, **options: object) -> object:
        return command(*args, **{**options, "file": agent_file or options["file"]})

    argument = click.argument("agent_file", required=False, type=click.Path(path_type=Path))
    return cast("_Command", argument(agent_file_option(with_one)))


def state_option(command: _Command) -> _Command:
    """Add ``--state-folder DIR`` as ``state``."""
    return click.option(
        "--state-folder",
        "state",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="The embedded server's folder.  [default: AMENDS_STATE, else .amends beside the agent file]",
    )(command)


def context_option(command: _Command) -> _Command:
    """Add ``--context FACT=true`` as ``context``, a dict."""
    return click.option(
        "--context",
        multiple=True,
        callback=_read_context,
        metavar="FACT=true",
        help="A fact the rulebook may ask for; may be given several times.",
    )(command)


def as_json_option(command: _Command) -> _Command:
    """Add ``--json`` as ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def by_option(said: str) -> Callable[[_Command], _Command]:
    """Add ``--by WHO`` as ``by``: who does what is done from outside, by default whoever is logged in here."""
    return click.option(
        "--by", metavar="WHO", default=_login_name, help=f"{said}  [default: the name you are logged in with]"
    )


def language_option(command: _Command) -> _Command:
    """Add ``--language`` as ``language``."""
    return click.option(
        "--language",
        type=click.Choice(["en", "pt-BR"]),
        help="The language to read in.  [default: the session's, else the agent's, else English]",
    )(command)


def worker_options(command: _Command) -> _Command:
    """Add the settings of a worker, named as the fields of `worker.settings.WorkerSettings`, where they are read."""
    for flag, metavar, said in reversed(_WORKER_SETTINGS):
        command = click.option(flag, metavar=metavar, help=said)(command)
    return command


def same_place() -> str:
    """Return the options that make another command speak of the same agent and state as the one that runs now."""
    chosen = click.get_current_context().params
    said = {"--agent": chosen.get("file"), "--name": chosen.get("name"), "--state-folder": chosen.get("state")}
    if str(said["--agent"]) == _AGENT_FILE:
        del said["--agent"]
    return "".join(f" {flag} {shlex.quote(str(value))}" for flag, value in said.items() if value is not None)


def read_pairs(said: tuple[str, ...]) -> dict[str, str]:
    """Read ``name=value`` words.

    Raises:
        click.BadParameter: a word without a name or without ``=``.
    """
    pairs: dict[str, str] = {}
    for word in said:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"{word!r} is not NAME=VALUE")
        pairs[name] = value
    return pairs


agent_file_option = click.option(
    "--agent",
    "file",
    type=click.Path(path_type=Path),
    default=Path(_AGENT_FILE),
    envvar="AMENDS_AGENT",
    show_default=True,
    show_envvar=True,
    metavar="FILE",
    help="The agent file.",
)


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return "an operator"


def _read_context(_: click.Context, __: click.Parameter, said: tuple[str, ...]) -> dict[str, object]:
    words = {"true": True, "false": False}
    return {name: words.get(value, value) for name, value in read_pairs(said).items()}
