"""The client of the official Python SDK, told what to do by a story in Rust.

A line of JSON on stdin is something to do: {"number": 1, "seat": "opponent", "do": "call", ...}; a line on stdout is
what came of it, with the same number. Each seat is a client of its own. What comes back is what the SDK has accepted:
it checks each message against the protocol, and the structured part of a result against the tool's output schema.
"""

import json
import sys
import time

import anyio
from mcp import Client, MCPError, StdioServerParameters

# How the SDK asks for each revision: "auto" looks for the current one first.
MODES = {"2026-07-28": "auto", "2025-11-25": "legacy"}


def say(number, what):
    print(json.dumps({"number": number} | what), flush=True)


def plain(result):
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def do(client, order):
    match order["do"]:
        case "tools":
            return plain(await client.list_tools())
        case "prompts":
            return plain(await client.list_prompts())
        case "prompt":
            return plain(await client.get_prompt(order["name"], order["arguments"]))
        case "resources":
            return plain(await client.list_resources())
        case "templates":
            return plain(await client.list_resource_templates())
        case "read":
            return plain(await client.read_resource(order["uri"]))
        case "call":
            began, told = time.monotonic(), []

            async def progress(done, total, message):
                told.append({"after": time.monotonic() - began, "done": done, "total": total, "message": message})

            watch = progress if order["progress"] else None
            result = await client.call_tool(order["tool"], order["arguments"], progress_callback=watch)
            return plain(result) | {"progress": told}


async def sit(opening, orders, calls):
    """Everything that one client does, one thing after the other."""
    server = opening["url"] if "url" in opening else StdioServerParameters(**opening["stdio"])
    async with Client(server, mode=MODES[opening["revision"]]) as client:
        info = plain(client.server_info) if client.server_info else None
        about = {"revision": client.protocol_version, "server": info, "instructions": client.instructions}
        say(opening["number"], {"result": about | {"capabilities": plain(client.server_capabilities)}})
        async for order in orders:
            with anyio.CancelScope() as calls[order["seat"]]:
                try:
                    say(order["number"], {"result": await do(client, order)})
                except MCPError as error:
                    say(order["number"], {"error": plain(error.error)})
                except Exception as error:  # the SDK does not accept it; the story says which
                    say(order["number"], {"rejected": repr(error)})
            if calls[order["seat"]].cancelled_caught:
                say(order["number"], {"cancelled": True})


async def main():
    seats, calls = {}, {}
    async with anyio.create_task_group() as everybody:
        async for line in anyio.wrap_file(sys.stdin):
            order = json.loads(line)
            seat = order["seat"]
            if order["do"] == "open":
                seats[seat], orders = anyio.create_memory_object_stream(10)
                everybody.start_soon(sit, order, orders, calls)
            elif order["do"] == "cancel":
                calls[seat].cancel()
            else:
                await seats[seat].send(order)
        for orders in seats.values():
            orders.close()


anyio.run(main)
