"""The search attributes of amends on a server: there, made, or done without.

Starting a workflow with an attribute that its namespace does not know is an error, and not everybody who may run
workflows may add attributes. So a connection finds out once whether they can be used, and runs go without if not:
lists are poorer then, runs are the same.
"""

import asyncio
import logging

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from ..contract.names import SEARCH_ATTRIBUTES

__all__ = ["ensure_search_attributes"]

_log = logging.getLogger(__name__)

_KEYWORD = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
_NOT_OURS = {RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.UNIMPLEMENTED}
_SPREAD_SECONDS = 10.0
_BEAT_SECONDS = 0.1
_COMMAND = "temporal operator search-attribute create --namespace {namespace} {names}"


async def ensure_search_attributes(client: Client, *, register: bool = True) -> bool:
    """Whether workflows of this namespace can carry ``contract.names.SEARCH_ATTRIBUTES``.

    Args:
        client: a client of the namespace.
        register: make the missing ones, if the server lets us.

    Returns:
        False if one is missing or has another type; the log then says how to mend it. Callers leave them out.

    Raises:
        RPCError: the server failed in another way than by forbidding or not knowing what was asked.
    """
    try:
        known = await _known(client)
    except RPCError as refused:
        if refused.status not in _NOT_OURS:
            raise
        return await _usable(client)
    mistyped = [name for name in SEARCH_ATTRIBUTES if known.get(name, _KEYWORD) != _KEYWORD]
    if mistyped:
        _log.warning(
            "Search attributes of namespace %s are not of type Keyword: %s. Runs go without search attributes.",
            client.namespace,
            ", ".join(mistyped),
        )
        return False
    missing = [name for name in SEARCH_ATTRIBUTES if name not in known]
    if missing and not (register and await _register(client, missing)):
        names = " ".join(f"--name {name} --type Keyword" for name in missing)
        _log.warning(
            "Namespace %s lacks search attributes, so runs go without. To add them: %s",
            client.namespace,
            _COMMAND.format(namespace=client.namespace, names=names),
        )
        return False
    return not missing or await _usable(client, seconds=_SPREAD_SECONDS)


async def _known(client: Client) -> dict[str, int]:
    request = ListSearchAttributesRequest(namespace=client.namespace)
    return dict((await client.operator_service.list_search_attributes(request)).custom_attributes)


async def _register(client: Client, names: list[str]) -> bool:
    request = AddSearchAttributesRequest(namespace=client.namespace, search_attributes=dict.fromkeys(names, _KEYWORD))
    try:
        await client.operator_service.add_search_attributes(request)
    except RPCError as refused:
        if refused.status == RPCStatusCode.ALREADY_EXISTS:  # another worker was faster
            return True
        if refused.status in _NOT_OURS:
            return False
        raise
    return True


async def _usable(client: Client, seconds: float = 0) -> bool:
    """Whether the server takes the names in a query; a new one takes a moment to spread over a cluster."""
    query = " AND ".join(f"{name} = 'nobody'" for name in SEARCH_ATTRIBUTES)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        try:
            await client.count_workflows(query)
        except RPCError as refused:
            if refused.status not in _NOT_OURS | {RPCStatusCode.INVALID_ARGUMENT}:
                raise
        else:
            return True
        if loop.time() >= deadline:
            return False
        await asyncio.sleep(_BEAT_SECONDS)
