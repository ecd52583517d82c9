"""Lists and calls the tools of a live episode with the Python `mcp` package, in the era that is asked for.

Usage: mcp_client.py URL TOKEN TOOL ARGUMENTS
Prints one line of JSON: the package's version, the protocol's version, the number of tools, and whether the call went well.
"""

import asyncio
import importlib.metadata
import json
import sys


async def main(url: str, token: str, tool: str, arguments: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    version = importlib.metadata.version("mcp")
    told = {"mcp": version}
    if int(version.split(".")[0]) >= 2:
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        transport = streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers))
        async with Client(transport) as client:
            told["protocol"] = getattr(client, "protocol_version", None)
            await use(client, told, tool, arguments)
    else:
        from mcp import ClientSession
        from mcp.client.streamable_http import streamablehttp_client

        async with streamablehttp_client(url, headers=headers) as (read, write, _):
            async with ClientSession(read, write) as session:
                begun = await session.initialize()
                told["protocol"] = begun.protocolVersion
                await use(session, told, tool, arguments)
    print(json.dumps(told))


async def use(client, told: dict, tool: str, arguments: str) -> None:
    names, cursor = [], None
    while True:
        page = await (client.list_tools(cursor=cursor) if cursor else client.list_tools())
        names += [known.name for known in page.tools]
        cursor = getattr(page, "nextCursor", None) or getattr(page, "next_cursor", None)
        if not cursor:
            break
    if len(set(names)) != len(names):
        raise SystemExit("a tool is listed twice")
    answer = await client.call_tool(tool, json.loads(arguments))
    failed = getattr(answer, "isError", None)
    failed = getattr(answer, "is_error", False) if failed is None else failed
    told.update(tools=len(names), has_tool=tool in names, failed=bool(failed), characters=len(answer.content[0].text))


asyncio.run(main(*sys.argv[1:5]))
