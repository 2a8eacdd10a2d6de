"""Serves fakellm, a mock of OpenAI's and Anthropic's APIs, on a free port of the loopback, until stdin closes.

It answers by the rules in fakellm.yaml. The first line on stdout is the base URL.
"""

import os
import pathlib
import socket
import sys
import threading

# A script's own folder comes first in the path, and this script would be taken for the package.
del sys.path[0]
os.environ["FAKELLM_CONFIG"] = str(pathlib.Path(__file__).with_suffix(".yaml"))

import uvicorn
from fakellm.server import app


def main() -> None:
    # fakellm's own command line takes no port 0; listening before the address is printed makes an early client wait.
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))

    def end_with_stdin() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=end_with_stdin, daemon=True).start()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    server.run(sockets=[listener])


if __name__ == "__main__":
    main()
