"""A client of server-sent events from another project, that comes back with the last id whenever its connection is cut.

Arguments: a URL, the value of an `Authorization` header, then the names of events, which it need not know. Each event is a line of JSON
on stdout. It ends with the event that ends a task, or when it is told that there is nothing more.
"""

import json
import sys

import httpx
from httpx_sse import connect_sse


def read(url: str, authorization: str, *_names: str) -> None:
    last = None
    with httpx.Client(timeout=None) as client:
        while True:
            headers = {"Authorization": authorization} | ({"Last-Event-ID": last} if last else {})
            try:
                with connect_sse(client, "GET", url, headers=headers) as source:
                    if source.response.status_code == httpx.codes.NO_CONTENT:
                        return
                    source.response.raise_for_status()
                    for event in source.iter_sse():
                        last = event.id or last
                        if not event.data:
                            continue
                        data = json.loads(event.data)
                        print(json.dumps({"id": event.id, "event": event.event, "data": data}), flush=True)
                        if data["type"] == "completed" and data["final"]:
                            return
            except httpx.TransportError:
                pass


read(*sys.argv[1:])
