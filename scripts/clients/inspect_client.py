"""Lists and calls the tools of a live episode with Inspect's MCP client.

Usage: inspect_client.py URL TOKEN TOOL ARGUMENTS
"""

import asyncio
import importlib.metadata
import json
import sys

from inspect_ai.tool import ToolDef, mcp_server_http


async def main(url: str, token: str, tool: str, arguments: str) -> None:
    server = mcp_server_http(url=url, headers={"Authorization": f"Bearer {token}"})
    async with server:
        tools = await server.tools()
        named = {ToolDef(known).name: known for known in tools}
        answer = await named[tool](**json.loads(arguments))
    text = answer if isinstance(answer, str) else "".join(part.text for part in answer)
    told = {"inspect_ai": importlib.metadata.version("inspect_ai"), "tools": len(named), "characters": len(text)}
    print(json.dumps(told))


asyncio.run(main(*sys.argv[1:5]))
