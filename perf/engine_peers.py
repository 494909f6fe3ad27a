#!/usr/bin/env python3
"""Times PyTorch on the two founding workloads: the linear layer alone, and with the epilogue as
separate operations. Medians over replays of a CUDA graph, as engine_speed does. Prints Markdown."""

import statistics

import torch
import torch.nn.functional as functional


def clamp_epilogue(y):
    return torch.clamp(y, max=2.0) - 2.0


def max_epilogue(y):
    largest = y.amax(dim=0, keepdim=True)
    return functional.gelu(largest - largest.mean(dim=1, keepdim=True))


def median_ms(work, inner=10, repeats=21):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(inner):
                work()
        times = []
        for repeat in range(-2, repeats):
            begin = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            begin.record(stream)
            graph.replay()
            end.record(stream)
            end.synchronize()
            if repeat >= 0:
                times.append(begin.elapsed_time(end) / inner)
    return statistics.median(times)


WORKLOADS = (
    ("S1", 128, 16384, 16384, clamp_epilogue),
    ("S2, d = 0", 1024, 8192, 8192, max_epilogue),
)
MODES = (
    ("strict fp32", torch.float32, False),
    ("TF32", torch.float32, True),
    ("fp16", torch.float16, False),
    ("bf16", torch.bfloat16, False),
)


def main():
    print(f"PyTorch {torch.__version__}\n")
    print("| workload | mode | linear layer, ms | with the epilogue, ms |\n|---|---|---|---|")
    for name, m, n, k, epilogue in WORKLOADS:
        bound = k**-0.5
        x = torch.rand(m, k, device="cuda")
        w = (torch.rand(n, k, device="cuda") * 2 - 1) * bound
        bias = (torch.rand(n, device="cuda") * 2 - 1) * bound
        for mode, dtype, allows_tf32 in MODES:
            torch.backends.cuda.matmul.allow_tf32 = allows_tf32
            given = [tensor.to(dtype) for tensor in (x, w, bias)]
            linear = median_ms(lambda: functional.linear(*given))
            whole = median_ms(lambda: epilogue(functional.linear(*given)))
            print(f"| {name} | {mode} | {linear:.4f} | {whole:.4f} |")


if __name__ == "__main__":
    main()
