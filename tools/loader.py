"""Loading an agent: its file, its tools, its rulebook and its words, made into one frozen value (SPEC 1.4, 3.5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from ..contract.canonical import canonical_json, sha256
from ..contract.errors import Ambiguous, NotFound, UnknownFact
from ..contract.mistakes import FileMistake, FileMistakes, nearest
from ..contract.question import Expiry
from ..contract.reading import Language
from ..contract.tool import Origin, ToolContract
from ..rulebook.files import load_rulebook
from ..rulebook.rules import Rulebook
from .agent_file import AgentFile, read_agent_file
from .registration import say_lints
from .registry import collect_tools
from .tool import Tool
from .turns import CompileSelector, Selector, own_selector
from .vocabulary_file import VocabularyFile, read_vocabulary_file
from .wire import wire_argument

__all__ = ["LoadedAgent", "LoadedFile", "load_agent", "load_file"]


@dataclass(frozen=True, eq=False)
class LoadedAgent:
    """One agent, ready to be run and never changed: a changed file is another agent, with another digest.

    Attributes:
        name: its name in the file.
        file: the agent file, as it was named.
        model: its model, kept and not used yet.
        tools: the tools it may call, by name, in the order the file lists them.
        rulebook: the rules its calls are checked by.
        facts: what the host says of this deployment, such as ``{"card_on_file": True}``.
        atomic: whether a failed run is undone.
        proof: the public key that answers to its runs must be signed with; empty where none is demanded (SPEC 13.2).
        expiry: how long a write waits to be confirmed, and what becomes of its run then; None for ever.
        on_unread: what becomes of a turn that was not read.
        clarify: whether the one value that a turn lacks is asked for.
        language: the language its turns are read in when neither the request nor the session names one.
        vocabularies: its own words, by language.
    """

    name: str
    file: Path
    model: str | None
    tools: Mapping[str, Tool]
    rulebook: Rulebook
    facts: Mapping[str, JsonValue]
    atomic: bool
    on_unread: Literal["refuse", "ask", "model"]
    clarify: bool
    language: Language
    vocabularies: Mapping[Language, VocabularyFile]
    compile_selector: CompileSelector = own_selector
    proof: str = ""
    expiry: Expiry | None = None
    _selectors: dict[Language, Selector] = field(default_factory=dict, repr=False)

    @cached_property
    def contracts(self) -> Mapping[str, ToolContract]:
        """The contracts of its tools, by name."""
        return {name: tool.contract for name, tool in self.tools.items()}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that decides what a turn becomes: contracts, rulebook, vocabularies, and ``runs``."""
        return sha256(
            {
                "contracts": {name: contract.digest for name, contract in self.contracts.items()},
                "rulebook": self.rulebook.hash,
                "vocabularies": {language: words.digest for language, words in self.vocabularies.items()},
                "atomic": self.atomic,
                **({"proof": self.proof} if self.proof else {}),
                **({"expiry": self.expiry.model_dump()} if self.expiry else {}),
            }
        )

    def selector(self, language: Language | None = None) -> Selector:
        """Return what reads this agent's turns in ``language``, made once; None is the agent's own language."""
        wanted = language or self.language
        if wanted not in self._selectors:
            made = self.compile_selector(wanted, tuple(self.contracts.values()), self.vocabularies.get(wanted))
            self._selectors[wanted] = made
        return self._selectors[wanted]


@dataclass(frozen=True, eq=False)
class LoadedFile:
    """An agent file with everything it names, from which each of its agents is made.

    Attributes:
        written: what the file says.
        tools: every tool its sources offer, by name.
        rulebook: the rules of all its agents.
        vocabularies: its own words, by language.
    """

    written: AgentFile
    tools: Mapping[str, Tool]
    rulebook: Rulebook
    vocabularies: Mapping[Language, VocabularyFile]

    def named(self, agent: str | None) -> str:
        """Return the name of the agent that is meant: the one of that name, or the only one.

        Raises:
            Ambiguous: the file has several agents and none was named.
            NotFound: it has no agent of that name.
        """
        return _choose(self.written, agent)

    def agent(
        self,
        name: str,
        *,
        context: Mapping[str, object] | None = None,
        compile_selector: CompileSelector = own_selector,
    ) -> LoadedAgent:
        """Make one agent of the file.

        Args:
            name: its name; it must be one of the file's.
            context: facts of the host, for the rulebook.
            compile_selector: what makes the agent's selectors, if not our own.

        Raises:
            FileMistakes: a vocabulary that does not go with the agent's tools.
            UnknownFact: the context gives a fact that the rulebook's facts list lacks.
            TypeError, ValueError: the context is not plain exact data.
        """
        canonical_json(context or {})
        _check_facts(self.rulebook, context or {})
        words = self.written.agents[name]
        agent = LoadedAgent(
            name=name,
            file=self.written.path,
            model=words.model,
            tools={tool: self.tools[tool] for tool in words.tools},
            rulebook=self.rulebook,
            facts={fact: wire_argument(value) for fact, value in (context or {}).items()},
            atomic=self.written.atomic,
            on_unread=words.on_unread,
            clarify=words.clarify,
            language=words.language or self.written.language or _spoken(self.vocabularies),
            vocabularies=self.vocabularies,
            compile_selector=compile_selector,
            proof=self.written.proof,
            expiry=words.expiry,
        )
        _compile_own_words(agent)
        return agent


def load_agent(
    path: str | Path,
    *,
    agent: str | None = None,
    context: Mapping[str, object] | None = None,
    compile_selector: CompileSelector = own_selector,
) -> LoadedAgent:
    """Load an agent from its file.

    Args:
        path: the ``agent.yaml``.
        agent: which of its agents; it may be left out when there is one.
        context: facts of the host, for the rulebook.
        compile_selector: what makes the agent's selectors, if not our own.

    Raises:
        FileMistakes: everything that is wrong in the file, in the modules, the rulebook or the vocabulary it names.
        Ambiguous: the file has several agents and none was named.
        NotFound: it has no agent of that name.
        UnknownFact: the context gives a fact that the rulebook's facts list lacks.
        TypeError, ValueError: the context is not plain exact data.
    """
    file = load_file(path)
    return file.agent(file.named(agent), context=context, compile_selector=compile_selector)


def load_file(path: str | Path) -> LoadedFile:
    """Load everything an agent file says, for all of its agents together.

    Raises:
        FileMistakes: everything that is wrong in the file, in the modules, the rulebook or the vocabulary it names.
    """
    file = read_agent_file(Path(path))
    mistakes: list[FileMistake] = []
    tools = _tools(file, mistakes)
    vocabularies = _vocabularies(file, mistakes)
    _check_agents(file, tools, mistakes)
    rulebook = _rulebook(file, tools, mistakes)
    if mistakes:
        raise FileMistakes(mistakes)
    loaded = LoadedFile(written=file, tools=tools or {}, rulebook=rulebook, vocabularies=vocabularies)
    say_lints(file, {name: tool.contract for name, tool in loaded.tools.items()}, rulebook)
    return loaded


def _check_facts(rulebook: Rulebook, context: Mapping[str, object]) -> None:
    """Refuse a fact that no rule can ask for: a slip in its name would refuse, or ask, where nobody expects it."""
    for fact in context if rulebook.facts is not None else ():
        if fact not in (known := rulebook.facts or ()):
            raise UnknownFact(fact, known, nearest(fact, known))


def _choose(file: AgentFile, agent: str | None) -> str:
    names = tuple(file.agents)
    if agent is None and len(names) > 1:
        said = f"{file.path} has {len(names)} agents: {', '.join(names)}."
        raise Ambiguous("several_agents", said, f"Name one, such as agent={names[0]!r}.", choices=names)
    if agent is not None and agent not in names:
        near = nearest(agent, names)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"It has {', '.join(names)}."
        raise NotFound("no_such_agent", f"{file.path} has no agent {agent!r}.", hint)
    return agent or names[0]


def _tools(file: AgentFile, mistakes: list[FileMistake]) -> dict[str, Tool] | None:
    try:
        return collect_tools(file.sources, file.entries, folder=file.path.parent)
    except FileMistakes as found:
        mistakes += found.mistakes
        return None


def _check_agents(file: AgentFile, tools: Mapping[str, Tool] | None, mistakes: list[FileMistake]) -> None:
    """Refuse agents that list tools or agents which do not exist. Where tools are None, an earlier mistake says why."""
    for name, words in file.agents.items():
        for index, tool in enumerate(words.tools):
            at = file.places.of(("agents", name, "tools", index))
            if tools is not None and tool not in tools:
                said = f"agent {name} lists the tool {tool!r}, which no source offers"
                mistakes.append(FileMistake(said, at, nearest(tool, tools)))
            elif tool in words.tools[:index]:
                mistakes.append(FileMistake(f"agent {name} lists the tool {tool!r} twice", at))
        for index, other in enumerate(words.hands_off_to):
            if other not in file.agents:
                said = f"agent {name} hands off to {other!r}, which is no agent of this file"
                at = file.places.of(("agents", name, "hands_off_to", index))
                mistakes.append(FileMistake(said, at, nearest(other, file.agents)))


def _vocabularies(file: AgentFile, mistakes: list[FileMistake]) -> dict[Language, VocabularyFile]:
    read: dict[Language, VocabularyFile] = {}
    for language, said in file.vocabulary.items():
        origin = file.places.of(("vocabulary",) if language is None else ("vocabulary", language))
        try:
            vocabulary = read_vocabulary_file(file.path.parent / said, language=language, origin=origin)
        except FileMistake as mistake:
            mistakes.append(mistake)
        except FileMistakes as several:
            mistakes += several.mistakes
        else:
            read[vocabulary.language] = vocabulary
    return read


def _compile_own_words(agent: LoadedAgent) -> None:
    """Compile what has words of its own, so that a vocabulary that does not go with the tools is found now."""
    for language, words in agent.vocabularies.items():
        try:
            agent.selector(language)
        except ValueError as error:
            raise FileMistakes([FileMistake(str(error), Origin(file=str(words.path)))]) from error


def _rulebook(file: AgentFile, tools: Mapping[str, Tool] | None, mistakes: list[FileMistake]) -> Rulebook:
    """Read the rules. They may speak of every tool of the file, since its agents share them."""
    paths = [file.path.parent / file.rulebook] if file.rulebook is not None else []
    for path in paths:
        if not path.is_file():
            beside = (other.name for other in path.parent.iterdir()) if path.parent.is_dir() else ()
            said = f"rulebook {str(file.rulebook)!r}: there is no such file"
            mistakes.append(FileMistake(said, file.places.of(("rulebook",)), nearest(path.name, beside)))
            return Rulebook()
    if tools is None:
        return Rulebook()
    try:
        return load_rulebook(paths, tools={name: tool.contract for name, tool in tools.items()})
    except FileMistakes as found:
        mistakes += found.mistakes
        return Rulebook()


def _spoken(vocabularies: Mapping[Language, VocabularyFile]) -> Language:
    """The language of the one vocabulary there is; with none or several, English."""
    return next(iter(vocabularies)) if len(vocabularies) == 1 else "en"
