"""Drives the daemon with the JSON-RPC connection of `agent-client-protocol`: newline-delimited JSON in both directions.

Arguments: the daemon's socket, a workspace, a prompt. Starts a task, answers its question with the first choice, allows its calls
once, and prints what the library received as one JSON document: the replies by method, and the number of notifications by name.
"""

import asyncio
import json
import sys
from collections import Counter

from acp.connection import Connection
from acp.exceptions import RequestError

# asyncio's default of 64 KiB is less than a line may have.
LONGEST_LINE = 64 * 1024 * 1024


async def main(path: str, workspace: str, prompt: str) -> None:
    replies: dict[str, object] = {}
    notified: Counter[str] = Counter()
    inbox: asyncio.Queue[dict] = asyncio.Queue()
    ended = asyncio.Event()

    async def notification(method: str, params: dict, is_notification: bool) -> None:
        assert is_notification, method
        notified[method] += 1
        if method == "inboxUpdate":
            for item in params["added"]:
                inbox.put_nowait(item)
        elif method == "taskEvent" and "task_ended" in params["record"]["body"]:
            ended.set()

    async def answer() -> None:
        while True:
            item = await inbox.get()
            match item["pending"]:
                case {"question": question}:
                    response = {"taskId": item["taskId"], "response": question["choices"][0]}
                    await call("userResponse", response)
                case {"approval": approval}:
                    decision = {"approvalId": approval["id"], "decision": "allow_once"}
                    await call("decideApproval", decision)

    async def call(method: str, params: dict) -> dict:
        replies[method] = await connection.send_request(method, params)
        return replies[method]

    reader, writer = await asyncio.open_unix_connection(path, limit=LONGEST_LINE)
    async with Connection(notification, writer, reader) as connection:
        await call("hello", {"protocol": {"min": 1, "max": 1}, "client": {"name": "json_rpc.py", "version": "1"}})
        await call("subscribe", {"scope": "all"})
        try:
            await connection.send_request("dance", {})
        except RequestError as error:
            replies["dance"] = error.to_error_obj()
        task = await call("startTask", {"message": prompt, "workspace": workspace, "mode": "agent", "approvals": "ask"})
        answering = asyncio.create_task(answer())
        end = asyncio.create_task(ended.wait())
        # What fails while answering ends the script, and does not leave it waiting.
        await asyncio.wait([answering, end], return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            answering.result()
        answering.cancel()
        await call("getTask", {"taskId": task["taskId"]})
    print(json.dumps({"replies": replies, "notified": notified}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
