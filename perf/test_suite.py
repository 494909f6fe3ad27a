#!/usr/bin/env python3
"""Runs the suite on tiny sizes, and asks of the results that they are right and complete; of the times,
nothing.

    test_suite.py PATH/TO/postlude_perf_suite
"""

import pathlib
import subprocess
import sys
import tempfile

import over_gemm
import results

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))
import programs


def check(what, is_so):
    if not is_so:
        sys.exit(f"FAILED: {what}")


def main():
    suite = sys.argv[1]
    listed = subprocess.run([suite, "--list", "--size", "tiny"], capture_output=True, text=True, check=True).stdout
    names = [line for line in listed.splitlines() if not line.startswith(" ")]
    check("the suite and the Python peers have the same cases", names == [case.name for case in programs.cases("tiny")])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.json"
        command = [suite, "--size", "tiny", "--repeats", "1", "--sample-seconds", "0", "--output", str(path)]
        finished = subprocess.run(command, capture_output=True, text=True)
        print(finished.stdout)
        check(f"{' '.join(command)} succeeds: {finished.stderr}", finished.returncode == 0)
        data = results.read(path)  # also checks the schema
    measured = {(entry["case"], entry["peer"]): entry for entry in data["measurements"]}
    missing = {(entry["case"], entry["peer"]) for entry in data["missing"]}
    peers = {peer for _, peer in set(measured) | missing if peer not in {p for c, p in missing if c == "*"}}
    for name in names:
        check(f"Postlude computes {name}", (name, results.POSTLUDE) in measured)
        for peer in peers:
            check(f"{peer} is measured or missing in {name}", ((name, peer) in measured) != ((name, peer) in missing))
    for (name, peer), entry in measured.items():
        # TF32 need not be, and cuBLASLt's gelu is the one with tanh: their errors stand in the results.
        if "tf32" not in peer and not (peer.startswith("cuBLASLt") and "gelu" in name):
            check(f"{peer} is right in {name}", results.is_right(entry))
        check(f"{peer} is compared with float64 in {name}", entry["error"]["elements"] > 0)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.json"
        command = [suite, "--backend", "openmp", "--size", "tiny", "--filter", "batch_sweep,founding/s2_dim0", "--repeats", "3",
                   "--sample-seconds", "0", "--in-turns", "--output", str(path)]
        finished = subprocess.run(command, capture_output=True, text=True)
        if "which this build does not have" not in finished.stderr:
            check(f"{' '.join(command)} succeeds: {finished.stderr}", finished.returncode == 0)
            data = results.read(path)
            for entry in data["measurements"]:
                seconds = entry["seconds"]
                check("the samples in turns are those of the median", sorted(seconds["in_turns"])[1] == seconds["median"])
            lines = over_gemm.table(data)
            check("every case is compared with the GEMM alone", len(lines) == 5)
    failed = subprocess.run([suite, "--size", "unheard of"], capture_output=True, text=True)
    check("another size class is refused", failed.returncode == 2 and "unheard of" in failed.stderr)
    print(f"{len(measured)} measurements, {len(missing)} named as missing")


if __name__ == "__main__":
    main()
