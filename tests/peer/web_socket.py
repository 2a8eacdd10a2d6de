"""A WebSocket client of another project, for a test to speak through.

Arguments: a URL, the value of an `Authorization` header or `-`, then the subprotocols that it offers. A line of JSON on stdin is sent
as it is, or as what its text after the first letter says: `!N` sends a text of N bytes, `=N` a binary frame of N bytes, `?N` N pings.
Each frame that comes is a line on stdout; the last line says how the connection was closed.
"""

import asyncio
import json
import sys

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus


def say(value: object) -> None:
    print(json.dumps(value) if not isinstance(value, str) else value, flush=True)


async def write(socket) -> None:
    stdin = asyncio.StreamReader(limit=64 * 1024 * 1024)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    while line := (await stdin.readline()).decode().rstrip("\n"):
        match line[0], line[1:]:
            case "!", size:
                await socket.send("x" * int(size))
            case "=", size:
                await socket.send(b"x" * int(size))
            case "?", count:
                for _ in range(int(count)):
                    await socket.ping()
            case _:
                await socket.send(line)
    await socket.close()


async def main(url: str, authorization: str, *subprotocols: str) -> None:
    headers = {} if authorization == "-" else {"Authorization": authorization}
    try:
        socket = await connect(url, subprotocols=list(subprotocols) or None, additional_headers=headers, max_size=None)
    except InvalidStatus as refused:
        say({"refused": refused.response.status_code, "body": refused.response.body.decode()})
        return
    say({"open": socket.subprotocol})
    writing = asyncio.create_task(write(socket))
    try:
        async for frame in socket:
            say(frame)
    except ConnectionClosed:
        pass
    writing.cancel()
    say({"closed": socket.close_code, "reason": socket.close_reason})


asyncio.run(main(*sys.argv[1:]))
