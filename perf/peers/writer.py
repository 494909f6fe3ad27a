"""Writes results in the schema of perf/README.md."""

import datetime
import json
import os
import pathlib
import statistics
import subprocess


def statistics_of(samples):
    median = statistics.median(samples)
    return {"median": median, "minimum": min(samples), "maximum": max(samples),
            "mad": statistics.median(abs(sample - median) for sample in samples), "samples": len(samples)}


def entry_of(path, name):
    """What follows "name:" in a file of lines such as those of /proc/cpuinfo, or None."""
    try:
        for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            if line.startswith(name) and ":" in line:
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return None


def driver():
    """The number in "NVRM version: NVIDIA UNIX ... Kernel Module  580.00.00  date"."""
    words = (entry_of("/proc/driver/nvidia/version", "NVRM version") or "").split()
    return next((word for word in words if "." in word and word.replace(".", "").isdigit()), "unknown")


def git_state():
    here = pathlib.Path(__file__).resolve().parent
    def git(*arguments):
        return subprocess.run(["git", "-C", str(here), *arguments], capture_output=True, text=True, check=True).stdout
    try:
        return {"commit": git("rev-parse", "HEAD").strip(),
                "changed": bool(git("status", "--porcelain", "--untracked-files=no").strip())}
    except (OSError, subprocess.CalledProcessError):
        return {"commit": "unknown", "changed": False}


def machine(device, threads):
    """`device` is the name of a GPU, or None."""
    return {"processor": entry_of("/proc/cpuinfo", "model name") or "unknown", "cores": os.cpu_count(),
            "device": device, "driver": driver() if device else None, "threads": threads}


def text_of(data):
    """A line for each entry of the lists, so that a file is small and two of them can be compared."""
    def text(value):
        if not isinstance(value, list) or not value:
            return json.dumps(value)
        return "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
    return "{\n " + ",\n ".join(f"{json.dumps(name)}: {text(value)}" for name, value in data.items()) + "\n}\n"


class Report:
    """The file is written anew after every entry, so that a run that is cut short leaves what it had."""

    def __init__(self, path, size, backend, seed, machine_entry, software, roofs):
        self.path = path
        self.data = {"schema": 1, "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                     "size": size, "backend": backend, "seed": seed, "git": git_state(), "machine": machine_entry,
                     "software": software, "roofs": roofs, "measurements": [], "missing": []}
        self.write()

    def measured(self, case, peer, samples, executions, copies, error, size_of_element, result_elements):
        elements = (case.m + case.n) * case.k + result_elements
        elements += sum({"row": case.n, "matrix": case.m * case.n}.get(kind, 0) for kind in case.operands.values())
        self.data["measurements"].append(
            {"case": case.name, "peer": peer, "set": case.set, "program": case.program, "text": case.text,
             "dtype": case.dtype, "m": case.m, "n": case.n, "k": case.k, "flops": 2.0 * case.m * case.n * case.k,
             "bytes": float(elements * size_of_element),
             "seconds": {**statistics_of(samples), "executions_per_sample": executions, "copies": copies},
             "error": error})
        self.write()

    def missing(self, peer, case_name, reason):
        self.data["missing"].append({"peer": peer, "case": case_name, "reason": reason})
        self.write()

    def write(self):
        if not self.path:
            return
        unfinished = f"{self.path}.unfinished"
        pathlib.Path(unfinished).write_text(text_of(self.data), encoding="utf-8")
        os.replace(unfinished, self.path)
