#!/usr/bin/env python3
"""Measures the programs of perf/programs.json with PyTorch, and writes results as postlude_perf_suite does.

    pytorch_peer.py --output FILE.json [--size full|short|tiny] [--device cuda|cpu] [--filter a,b]
                    [--peers "a;b"] [--seconds S]

The data have the distribution of the suite's and other numbers: x uniform in [0, 1), w and the operands
uniform in +-1/sqrt(K). Every result is compared with the same program in float64 on the same numbers
before it is timed. On a GPU the executions of a sample are captured into a CUDA graph, as the suite's
are. Without PyTorch the file says that every case is missing.
"""

import argparse
import collections
import math
import secrets
import sys
import time

import programs
import writer

TOLERANCE = {"f32": 1e-4, "f64": 1e-11, "f16": 1e-2, "bf16": 1e-2}

EAGER = "pytorch eager"
TF32 = "pytorch eager, tf32"
COMPILE = "pytorch compile"
COMPILE_TF32 = "pytorch compile, tf32"
MAX_AUTOTUNE = "pytorch compile, max-autotune"
PEERS = [EAGER, TF32, COMPILE, COMPILE_TF32, MAX_AUTOTUNE]
NAMED = ("founding", "layers")
REST = ("batch_sweep", "depth_sweep", "dtypes")
# What matters most comes first, for a run that is given little time. Compilation takes seconds a case, so
# each pass has a share of the time that is left when it begins, and leaves to the next what it does not need.
PASSES = [((EAGER, TF32), NAMED + REST, 1), ((COMPILE,), NAMED, 0.7), ((MAX_AUTOTUNE,), NAMED, 0.8),
          ((COMPILE_TF32,), NAMED, 0.8), ((COMPILE, MAX_AUTOTUNE, COMPILE_TF32), REST, 1)]


def dtypes():
    return {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}


def refusal(peer, case, device):
    if "tf32" in peer and device == "cpu":
        return "TF32 is of NVIDIA's GPUs"
    if "tf32" in peer and case.dtype != "f32":
        return "TF32 is a mode of float32"
    return ""


class Data:
    """x, w and all operands of one size and dtype, in several copies."""

    def __init__(self, case, device, bytes_wanted, generator):
        self.key = (case.dtype, case.m, case.n, case.k)
        dtype = dtypes()[case.dtype]
        bound = 1 / math.sqrt(case.k)

        def uniform(rows, columns, low, high):
            # In float32 at least: narrower types would round some numbers up to 1.
            wide = torch.float64 if dtype == torch.float64 else torch.float32
            values = torch.rand(rows, columns, generator=generator, device=device, dtype=wide)
            return (values * (high - low) + low).to(dtype)

        size = (case.m + case.n) * case.k * torch.empty(0, dtype=dtype).element_size()
        self.copies = []
        for _ in range(min(64, max(3, bytes_wanted // size + 1))):
            operands = {name: uniform(1, case.n, -bound, bound)[0] for name in ("bias", "other", "mu", "spread")}
            operands["residual"] = uniform(case.m, case.n, -bound, bound)
            operands["c"] = 2.0
            self.copies.append((uniform(case.m, case.k, 0, 1), uniform(case.n, case.k, -bound, bound), operands))


def layer(case):
    program = programs.functions()[case.program]
    row = programs.FIRST_ROW.get(case.program, "bias")
    return lambda x, w, operands: program(torch.nn.functional.linear(x, w, operands[row]), operands)


def variant(peer, case):
    function = layer(case)
    torch.set_float32_matmul_precision("high" if "tf32" in peer else "highest")
    if "compile" not in peer:
        return function
    torch._dynamo.reset()
    if hasattr(torch._inductor.config, "max_autotune_prune_choices_based_on_shared_mem"):
        # Tiles that the GPU has no memory for are refused at once, where trying each takes ten seconds.
        torch._inductor.config.max_autotune_prune_choices_based_on_shared_mem = True
    # The peer's own graphs would copy the inputs; the executions are captured here, as everybody's.
    options = {"mode": "max-autotune-no-cudagraphs"} if peer == MAX_AUTOTUNE else {}
    return torch.compile(function, dynamic=False, **options)


def error_of(case, function, copy):
    """The error against float64, and the number of the result's elements."""
    with torch.no_grad():
        result = function(*copy)
        if case.program in programs.RANDOM:
            return {"tolerance": TOLERANCE[case.dtype], "checked": "nothing: its mask is random", "elements": 0,
                    "violations": 0, "largest_absolute_error": None, "largest_relative_error": None}, result.numel()
        x, w, operands = copy
        wide = {name: value.double() if isinstance(value, torch.Tensor) else value for name, value in operands.items()}
        # Not through the linear function under test: a plain product of float64 matrices.
        y = x.double() @ w.double().T
        expected = programs.functions()[case.program](y + wide[programs.FIRST_ROW.get(case.program, "bias")], wide)
        if result.shape != expected.shape:
            raise RuntimeError(f"the result is {tuple(result.shape)}: expected {tuple(expected.shape)}")
        difference = (result.double() - expected).abs()
        tolerance = TOLERANCE[case.dtype]
        # A NaN is no number that is small enough.
        violations = int((~(difference <= tolerance + tolerance * expected.abs())).sum())
        is_large = expected.abs() > tolerance
        relative = (difference / expected.abs())[is_large]
        numbers = [float(difference.max()), float(relative.max()) if relative.numel() else 0.0]
        numbers = [number if math.isfinite(number) else None for number in numbers]
        return {"tolerance": tolerance, "checked": "all", "elements": result.numel(), "violations": violations,
                "largest_absolute_error": numbers[0], "largest_relative_error": numbers[1]}, result.numel()


class Sampler:
    """Times a function on the copies in turn; of one execution, averaged over those of a sample."""

    def __init__(self, function, copies, sample_seconds):
        self.function, self.copies, self.next = function, copies, 0
        self.is_cuda = copies[0][0].is_cuda
        self.timed(2)
        once = max(min(self.timed(1), self.timed(1)), 1e-9)
        wanted = min(2000, math.ceil(sample_seconds / once))
        count = len(copies)
        self.executions = max(1, wanted) if wanted <= count else -(-wanted // count) * count

    def execute(self, executions):
        result = None
        for _ in range(executions):
            result = self.function(*self.copies[self.next])
            self.next = (self.next + 1) % len(self.copies)
        return result

    def timed(self, executions):
        begin = time.perf_counter()
        self.execute(executions)
        if self.is_cuda:
            torch.cuda.synchronize()
        return time.perf_counter() - begin

    def samples(self, repeats):
        if not self.is_cuda:
            return [self.timed(self.executions) / self.executions for _ in range(repeats)]
        self.next = 0
        count = len(self.copies)
        graphs = []
        for _ in range(1 if self.executions >= count else -(-count // self.executions)):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self.execute(self.executions)
            graphs.append(graph)
        return [self.replay(graphs[i % len(graphs)]) for i in range(-len(graphs), repeats)][len(graphs):]

    def replay(self, graph):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / self.executions


def measure_roofs(device, size):
    extent = {"full": 8192, "short": 1024, "tiny": 128}[size]
    roofs = {}
    kinds = [("f32", "f32", "highest"), ("f64", "f64", "highest")]
    if device == "cuda":
        kinds += [("f16", "f16", "highest"), ("bf16", "bf16", "highest"), ("tf32", "f32", "high")]
    for name, dtype, precision in kinds:
        torch.set_float32_matmul_precision(precision)
        copies = [(torch.rand(extent, extent, device=device).to(dtypes()[dtype]),
                   torch.rand(extent, extent, device=device).to(dtypes()[dtype]) - 0.5) for _ in range(3)]
        best = min(Sampler(lambda x, w: x @ w.T, copies, 0).samples(5))
        roofs[name] = 2.0 * extent ** 3 / best
    torch.set_float32_matmul_precision("highest")
    return {"gemm_extent": extent, "gemm_flops_per_second": roofs}


def cache_bytes(device):
    if device == "cuda":
        return torch.cuda.get_device_properties(0).L2_cache_size
    return 256 << 20


class Peer:
    def __init__(self, arguments, device):
        self.arguments, self.device, self.data = arguments, device, None
        self.begin = time.monotonic()
        self.generator = torch.Generator(device=device).manual_seed(arguments.seed)
        name = torch.cuda.get_device_name(0) if device == "cuda" else None
        software = {"pytorch": torch.__version__, "python": sys.version.split()[0]}
        if torch.version.cuda:
            software["cuda"] = torch.version.cuda
        threads = 1 if device == "cuda" else torch.get_num_threads()
        self.report = writer.Report(arguments.output, arguments.size, f"pytorch {device}", arguments.seed,
                                    writer.machine(name, threads), software, measure_roofs(device, arguments.size))

    def data_of(self, case):
        if self.data is None or self.data.key != (case.dtype, case.m, case.n, case.k):
            self.data = None  # before the new ones take their memory
            wanted = 0 if self.arguments.size == "tiny" else 2 * cache_bytes(self.device)
            self.data = Data(case, self.device, wanted, self.generator)
        return self.data

    def measure(self, case, peer):
        copies = self.data_of(case).copies
        function = variant(peer, case)
        error, elements = error_of(case, function, copies[secrets.randbelow(len(copies))])
        with torch.no_grad():
            sampler = Sampler(function, copies, self.arguments.sample_seconds)
            samples = sampler.samples(self.arguments.repeats)
        size = torch.empty(0, dtype=dtypes()[case.dtype]).element_size()
        self.report.measured(case, peer, samples, sampler.executions, len(copies), error, size, elements)
        seconds = writer.statistics_of(samples)
        wrong = "" if error["violations"] == 0 else f"  OUTSIDE TOLERANCE: {error['violations']} of {elements}"
        largest = error["largest_absolute_error"]
        print(f"{case.name:58} {peer:42} {seconds['median'] * 1e3:10.4f} ms +- {seconds['mad'] * 1e3:.4f}  "
              f"error {'-' if largest is None else format(largest, '.2g')}{wrong}", flush=True)

    def left(self):
        return self.arguments.seconds - (time.monotonic() - self.begin)

    def run(self, case, peer, end):
        reason = refusal(peer, case, self.device)
        if not reason and time.monotonic() > end:
            reason = "its share of --seconds was spent"
        try:
            if not reason:
                self.measure(case, peer)
        except Exception as error:  # whatever a compiler or a driver throws, the other cases go on
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        if reason:
            self.report.missing(peer, case.name, reason)
            print(f"{case.name:58} {peer:42} missing: {reason}", flush=True)


def report_absence(arguments, reason):
    report = writer.Report(arguments.output, arguments.size, "pytorch", arguments.seed, writer.machine(None, 1), {}, {})
    for peer in PEERS:
        report.missing(peer, "*", reason)
    print(f"pytorch is missing: {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default="")
    parser.add_argument("--size", choices=("full", "short", "tiny"), default="short")
    parser.add_argument("--device", choices=("cuda", "cpu"))
    parser.add_argument("--filter", default="")
    parser.add_argument("--peers", default="")
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--sample-seconds", type=float, default=0.005)
    parser.add_argument("--seconds", type=float, default=math.inf, help="start no measurement after so many")
    parser.add_argument("--seed", type=int, default=secrets.randbits(48))
    arguments = parser.parse_args()
    global torch
    try:
        import torch
        import torch._inductor.config
    except ImportError as error:
        report_absence(arguments, f"PyTorch is not installed ({error})")
        return 0
    device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cuda" and not torch.cuda.is_available():
        report_absence(arguments, "PyTorch finds no GPU")
        return 0
    peer = Peer(arguments, device)
    cases = [case for case in programs.cases(arguments.size) if programs.is_selected(case.name, arguments.filter)]
    for peers, sets, share in PASSES:
        end = time.monotonic() + share * peer.left()
        # Each size is tuned anew: the size that most programs share comes first.
        sizes = collections.Counter((case.m, case.n, case.k) for case in cases if case.set in sets)
        is_tuned = MAX_AUTOTUNE in peers
        for case in sorted(cases, key=lambda case: -sizes[case.m, case.n, case.k]) if is_tuned else cases:
            for name in peers:
                # Matched whole, since the name of one is a part of another's.
                if case.set in sets and (not arguments.peers or name in arguments.peers.split(";")):
                    peer.run(case, name, end)
    return 0


if __name__ == "__main__":
    sys.exit(main())
