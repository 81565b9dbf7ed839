"""What registration says of an agent file: its lints, once for each time it is loaded (SPEC 10.1).

They go to the logger ``amends.lints`` as information: a program that logs shows them, a script of five lines stays
quiet, and ``amends lint`` prints them at any time. None fails anything.
"""

import logging
from collections.abc import Mapping

from ..contract.tool import ToolContract
from ..rulebook.lints import lint
from ..rulebook.model import AgentModel
from ..rulebook.rules import Rulebook
from .agent_file import AgentFile

__all__ = ["LOGGER", "say_lints"]

LOGGER = logging.getLogger("amends.lints")


def say_lints(file: AgentFile, contracts: Mapping[str, ToolContract], rulebook: Rulebook) -> None:
    """Log every lint of the file's tools, each with the place where its tool is declared."""
    if not LOGGER.isEnabledFor(logging.INFO):
        return
    agents = [AgentModel(name=name, tools=words.tools) for name, words in file.agents.items()]
    for finding in lint(agents, contracts, rulebook=rulebook):
        LOGGER.info("%s: %s: %s: %s", finding.origin, finding.tool, finding.code, finding.message)
