"""A desk with the rules of a test: an agent file of its own, read from disk as users' files are."""

from collections.abc import Callable
from pathlib import Path

import pytest
from amends.testing.bench import ToolBench
from amends.testing.plain import compile_plain_selector
from amends.tools.loader import load_agent

TOOLS = Path(__file__).parent / "desk" / "desk_tools.py"
FILE = """\
agents:
  {name}:
    tools: [get_order, charge_card, refund_card, update_crm, restore_crm, send_receipt]
tools:
  - python: {tools}
rulebook: ./{rules}
"""

Ruled = Callable[..., ToolBench]


@pytest.fixture
def ruled(tmp_path: Path, task_queue: str) -> Ruled:
    """Return what makes a bench of a desk with rules. Its agent has a name that no other test on the server uses."""

    def make(rules: str, *, file: str = "rules.yaml", **facts: object) -> ToolBench:
        name = task_queue.replace("test", "desk")
        (tmp_path / file).write_text(rules)
        (tmp_path / "agent.yaml").write_text(FILE.format(name=name, tools=TOOLS, rules=file))
        agent = load_agent(tmp_path / "agent.yaml", context=facts, compile_selector=compile_plain_selector)
        return ToolBench(agent)

    return make
