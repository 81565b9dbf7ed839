"""A loaded agent file as `verify` and the lints look at it, with what no turn can say (SPEC 10)."""

from collections.abc import Collection, Iterator

from ..contract.mistakes import FileMistake, FileMistakes
from ..contract.reading import Language
from ..rulebook.model import AgentModel, Collision, System
from ..selector.collisions import collisions, unsayable
from ..selector.language import load_language
from ..selector.tool_words import words_of_tool
from ..selector.vocabulary_model import Vocabulary
from ..selector.word_clashes import Clashes
from .loader import LoadedAgent, LoadedFile

__all__ = ["verifiable"]


def verifiable(file: LoadedFile, *, host_facts: Collection[str] | None = None) -> System:
    """Return the whole file as one system.

    Args:
        file: the agent file.
        host_facts: the facts the host gives, or None where that is not known.

    Raises:
        FileMistakes: an agent's privilege is no number, so nobody can say which of two is the higher.
    """
    collisions = dict.fromkeys(
        collision
        for agent in map(file.agent, file.written.agents)
        for language in dict.fromkeys((agent.language, *file.vocabularies))
        for collision in _collisions(agent, language)
    )
    return System(
        agents=tuple(_agents(file)),
        tools={name: tool.contract for name, tool in file.tools.items()},
        rulebook=file.rulebook,
        atomic=file.written.atomic,
        host_facts=tuple(host_facts) if host_facts is not None else None,
        collisions=tuple(collisions),
    )


def _agents(file: LoadedFile) -> Iterator[AgentModel]:
    """Return the agents; a person can speak with each, so a run can begin at each."""
    for name, words in file.written.agents.items():
        origin = file.written.places.of(("agents", name))
        try:
            privilege = int(words.privilege or 0)
        except ValueError:
            at = file.written.places.of(("agents", name, "privilege"))
            said = (
                f"privilege {words.privilege!r} is no number; write one, and a higher one for an agent that may do more"
            )
            raise FileMistakes([FileMistake(said, at)]) from None
        yield AgentModel(
            name=name, tools=words.tools, hands_off_to=words.hands_off_to, privilege=privilege, origin=origin
        )


def _collisions(agent: LoadedAgent, language: Language) -> Iterator[Collision]:
    """Find what no turn says rightly, in a language the agent is meant to read."""
    words = agent.vocabularies.get(language)
    vocabulary = words.vocabulary if words else Vocabulary()
    tools = tuple(agent.contracts.values())
    for found in collisions(tools, language=language, vocabulary=vocabulary):
        others = tuple(name for name in found.meant if name != found.tool)
        yield Collision(tool=found.tool, language=language, problem="ambiguous", others=others)
    file = load_language(language)
    clashes = Clashes(file)
    for name in unsayable(tools, language=language, vocabulary=vocabulary):
        said = words_of_tool(agent.contracts[name], file, vocabulary, clashes)
        why = said.warnings[-1].partition(": ")[2] if said.warnings else "it has no verb"
        yield Collision(tool=name, language=language, problem="unsayable", detail=why)
