"""Reads files of results, written by postlude_perf_suite or a peer, and refuses those that do not
have the schema of perf/README.md."""

import json
import math

SCHEMA = 1

HEAD = {"schema": int, "date": str, "size": str, "backend": str, "seed": int, "git": dict, "machine": dict,
        "software": dict, "roofs": dict, "measurements": list, "missing": list}
MEASUREMENT = {"case": str, "peer": str, "set": str, "program": str, "text": str, "dtype": str, "m": int, "n": int,
               "k": int, "flops": (int, float), "bytes": (int, float), "seconds": dict, "error": dict}
SECONDS = {"median": (int, float), "minimum": (int, float), "maximum": (int, float), "mad": (int, float),
           "samples": int, "executions_per_sample": int, "copies": int}
ERROR = {"tolerance": (int, float), "checked": str, "elements": int, "violations": int}
ERROR_OR_NULL = ("largest_absolute_error", "largest_relative_error")  # null: not finite
MISSING = {"peer": str, "case": str, "reason": str}

POSTLUDE = "postlude"
# What stands for Postlude beside a peer: the first of these that was measured in a case. Weights are prepared
# once, as they are in a model; not every engine has something to prepare.
OURS = ["postlude, prepared weights", "postlude, f32_emulated_f16x3, prepared weights", POSTLUDE]
# The programs that the targets speak of.
NAMED_SETS = ("founding", "layers")


class SchemaError(Exception):
    pass


def require(entry, fields, place):
    if not isinstance(entry, dict):
        raise SchemaError(f"{place} is no object")
    for name, kind in fields.items():
        if name not in entry:
            raise SchemaError(f"{place} has no '{name}'")
        # bool is an int to Python, and no number to anybody else.
        if not isinstance(entry[name], kind) or isinstance(entry[name], bool):
            raise SchemaError(f"{place}: '{name}' is {json.dumps(entry[name])}")


def validate(data):
    """Raises SchemaError unless `data` has the schema."""
    require(data, HEAD, "the file")
    if data["schema"] != SCHEMA:
        raise SchemaError(f"the schema is {data['schema']}: expected {SCHEMA}")
    for number, entry in enumerate(data["measurements"]):
        place = f"measurement {number}"
        require(entry, MEASUREMENT, place)
        require(entry["seconds"], SECONDS, f"{place}, seconds")
        require(entry["error"], ERROR, f"{place}, error")
        seconds = entry["seconds"]
        if not 0 < seconds["minimum"] <= seconds["median"] <= seconds["maximum"]:
            raise SchemaError(f"{place}: minimum, median and maximum are in no order")
        for name in ERROR_OR_NULL:
            value = entry["error"].get(name, "")
            if value is not None and not isinstance(value, (int, float)):
                raise SchemaError(f"{place}, error: '{name}' is {json.dumps(value)}")
    for number, entry in enumerate(data["missing"]):
        require(entry, MISSING, f"missing entry {number}")


def read(path):
    """The contents of a file; SchemaError and OSError name it."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        validate(data)
    except (json.JSONDecodeError, SchemaError) as error:
        raise SchemaError(f"{path}: {error}") from None
    return data


def merge(files):
    """(case, peer) -> measurement of all files; of two for the same, the later file's."""
    return {(entry["case"], entry["peer"]): entry for data in files for entry in data["measurements"]}


def is_right(entry):
    return entry["error"]["violations"] == 0


def is_postlude(peer):
    return peer == POSTLUDE or peer.startswith(POSTLUDE + ",")


def head(files):
    """The file that speaks for all: the first with Postlude's own results."""
    return next((data for data in files if any(is_postlude(entry["peer"]) for entry in data["measurements"])), files[0])


def ours(measurements, case):
    """What stands for Postlude in a case, or None."""
    return next((measurements[case, peer] for peer in OURS if (case, peer) in measurements), None)


def peers_of(measurements):
    """Postlude's own variants first, otherwise in the order of the files."""
    return sorted(dict.fromkeys(peer for _, peer in measurements), key=lambda peer: not is_postlude(peer))


def ratios(measurements, peer, ours_of=ours):
    """case -> time of the peer over Postlude's, where both were measured."""
    pairs = [(case, entry, ours_of(measurements, case)) for (case, name), entry in measurements.items() if name == peer]
    return {case: entry["seconds"]["median"] / mine["seconds"]["median"] for case, entry, mine in pairs if mine}


def machine_text(data):
    """"NVIDIA H200, driver 580.1" or "AMD EPYC, 2 threads"."""
    machine = data["machine"]
    if machine.get("device"):
        return f"{machine['device']}, driver {machine.get('driver') or 'unknown'}"
    threads = machine.get("threads", 1)
    return f"{machine.get('processor', 'unknown')}, {threads} thread{'' if threads == 1 else 's'}"


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def time_text(seconds):
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} us"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
