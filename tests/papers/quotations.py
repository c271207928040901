"""The words of a paper without its text: short hashes of every four words in a row.

    python tests/papers/quotations.py KEY FILE

writes them for a paper from its text.
"""

import hashlib
import re
import sys
import unicodedata
from pathlib import Path

import numpy as np

BYTES = 4
"""Length of a hash: a paper of 40,000 quadruples has about one wrong quadruple in 100,000 by chance."""
HERE = Path(__file__).parent


def words(text):
    """The words of a text: letters, digits and apostrophes, in lower case, with words that were broken at a
    line's end joined."""
    plain = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    return re.findall(r"[^\W_]+(?:'[^\W_]+)?", re.sub(r"-\s*\n\s*", "", plain))


def quadruples(text):
    """The hashes of every four words in a row; of fewer words, none."""
    found = words(text)
    rows = (" ".join(found[start : start + 4]) for start in range(len(found) - 3))
    return [int.from_bytes(hashlib.sha256(row.encode()).digest()[:BYTES]) for row in rows]


def file_of(key):
    return HERE / key / "quadruples.npy"


def missing(key, quotation):
    """The parts of a quotation, between its gaps, that the paper's text does not have."""
    known = set(np.load(file_of(key)).tolist())
    parts = quotation.split(" ... ")
    return [part for part in parts if not (hashes := quadruples(part)) or not known.issuperset(hashes)]


if __name__ == "__main__":
    key, file = sys.argv[1:]
    hashes = sorted(set(quadruples(Path(file).read_text(encoding="utf-8"))))
    np.save(file_of(key), np.array(hashes, dtype=np.uint32))
