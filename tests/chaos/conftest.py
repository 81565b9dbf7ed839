"""The nursery: one for the folder's tests, with one witness."""

from collections.abc import AsyncIterator, Iterator

import pytest
from amends.client import patience
from amends.client.embedded import EmbeddedServer
from amends.tests.chaos.fleet import Nursery, nursery


@pytest.fixture(autouse=True, scope="session")
def patient() -> Iterator[None]:
    """Workers that die and are replaced leave a queue unserved for moments, and no test here is about that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patience, "LOOK_EVERY", 120.0)
        yield


@pytest.fixture(scope="session")
async def workers(temporal: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Nursery]:
    async with nursery(temporal, tmp_path_factory.mktemp("chaos")) as processes:
        yield processes
