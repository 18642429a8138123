# SPDX-License-Identifier: Apache-2.0
"""Model files that are altered and signed again, as tests/support/model_file.c does."""
import hashlib
import json


def rewrite(path, change, names=()):
    """change(metadata) alters the words of the file in place; `names` maps names of arrays to new ones."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header, payload = json.loads(raw[8:8 + length]), raw[8 + length:]
    header = {dict(names).get(name, name): entry for name, entry in header.items()}
    metadata = header["__metadata__"]
    change(metadata)
    metadata.pop("sha256", None)
    metadata.pop("header_sha256", None)
    parts = [part for pair in metadata.items() for part in pair]
    for wide in (True, False):
        for name, entry in header.items():
            if "dtype" in entry and ("64" in entry["dtype"]) == wide:
                parts += [name, entry["dtype"], *map(str, entry["shape"])]
    metadata["header_sha256"] = hashlib.sha256(b"".join(part.encode() + b"\0" for part in parts)).hexdigest()
    metadata["sha256"] = hashlib.sha256(payload).hexdigest()
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + payload)
