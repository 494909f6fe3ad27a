#!/usr/bin/env python3
"""Compares every operation of the epilogue language with PyTorch's function of that name.

    tests/pytorch/compare_with_pytorch.py PATH/TO/postlude [--backend NAME] [--table FILE.md]

Runs the postlude command on .npy files and PyTorch in float64 on the same numbers, for float32 and
float64, normal numbers and special ones (NaN, infinities, zeros, halves, subnormals, the largest
numbers), and compares values and the places of NaN and infinity. Ends with code 1 when an operation
differs that is not in the list of intended differences. Needs NumPy and PyTorch; no test of CTest's.
"""

import argparse
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import numpy
import torch
import torch.nn.functional as F

SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1, -1, 3, -3, 6, -6, 20.5, -20.5, 100, -100,
           float("inf"), float("-inf"), float("nan"), 1e30, -1e30, 1e-30, -1e-30, 1e-40]

# Where PyTorch computes 0 * inf or inf / inf at an infinity, Postlude gives the limit.
OVERFLOW = "float32 arithmetic: beside an element of 1e30 the variance overflows"
INTENDED = {
    "gelu": "gelu(-inf) is 0, its limit; PyTorch gives NaN",
    "layer_norm": OVERFLOW,
    "rms_norm": OVERFLOW,
    "group_norm": OVERFLOW,
    "instance_norm": OVERFLOW,
    "batch_norm": OVERFLOW,
    "silu": "silu(-inf) is 0, its limit; PyTorch gives NaN",
    "mish": "mish(-inf) is 0, its limit; PyTorch gives NaN",
    "hardswish": "hardswish(-inf) is 0, its limit; PyTorch gives NaN",
    "gelu_tanh": "gelu_tanh(-inf) is 0, its limit; PyTorch gives NaN",
    "softsign": "softsign of an infinity is 1 or -1, its limit; PyTorch gives NaN",
    "sign": "sign(NaN) is NaN; PyTorch gives 0",
}

def of_v(function):
    return lambda v, a, r: function(v)

POINTWISE = {
    "abs": torch.abs, "sign": torch.sign, "square": torch.square, "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt, "reciprocal": torch.reciprocal, "exp": torch.exp, "expm1": torch.expm1,
    "log": torch.log, "log1p": torch.log1p, "sin": torch.sin, "cos": torch.cos, "erf": torch.erf,
    "tanh": torch.tanh, "floor": torch.floor, "ceil": torch.ceil, "round": torch.round,
    "relu": F.relu, "leaky_relu": F.leaky_relu, "relu6": F.relu6, "elu": F.elu, "selu": F.selu,
    "celu": F.celu, "gelu": F.gelu, "gelu_tanh": lambda v: F.gelu(v, approximate="tanh"),
    "silu": F.silu, "sigmoid": torch.sigmoid, "logsigmoid": F.logsigmoid, "softplus": F.softplus,
    "softsign": F.softsign, "mish": F.mish, "hardtanh": F.hardtanh, "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
}

# Name, expression of v (matrix), a (matrix) and r (row), and the same with PyTorch.
PROGRAMS = [(name, f"{name}(v)", of_v(function)) for name, function in POINTWISE.items()]
PROGRAMS += [
    ("min", "min(v, a)", lambda v, a, r: torch.minimum(v, a)),
    ("max", "max(v, a)", lambda v, a, r: torch.maximum(v, a)),
    ("clamp", "clamp(v, -1, 2)", lambda v, a, r: torch.clamp(v, -1, 2)),
    ("clamp, min above max", "clamp(v, 4, 2)", lambda v, a, r: torch.clamp(v, 4, 2)),
    ("where", "where(v > a, v, r)", lambda v, a, r: torch.where(v > a, v, r)),
    ("power", "v ** 3", lambda v, a, r: v ** 3),
    ("threshold", "threshold(v, 0.5, -7)", lambda v, a, r: F.threshold(v, 0.5, -7)),
    ("divide", "v / a", lambda v, a, r: v / a),
    ("equal", "v == a", lambda v, a, r: (v == a).to(v.dtype)),
    ("less_equal", "v <= a", lambda v, a, r: (v <= a).to(v.dtype)),
    ("elu, alpha", "elu(v, 0.3)", lambda v, a, r: F.elu(v, 0.3)),
    ("softplus, beta", "softplus(v, 2, 5)", lambda v, a, r: F.softplus(v, 2, 5)),
]
for dim in (0, 1):
    keep = {"dim": dim, "keepdim": True}
    PROGRAMS += [
        (f"sum, dim {dim}", f"sum(v, dim={dim})", lambda v, a, r, k=keep: torch.sum(v, **k)),
        (f"mean, dim {dim}", f"mean(v, dim={dim})", lambda v, a, r, k=keep: torch.mean(v, **k)),
        (f"prod, dim {dim}", f"prod(v, dim={dim})", lambda v, a, r, k=keep: torch.prod(v, **k)),
        (f"max, dim {dim}", f"max(v, dim={dim})", lambda v, a, r, k=keep: torch.amax(v, **k)),
        (f"min, dim {dim}", f"min(v, dim={dim})", lambda v, a, r, k=keep: torch.amin(v, **k)),
        (f"amax, dim {dim}", f"amax(v, dim={dim})", lambda v, a, r, k=keep: torch.amax(v.abs(), **k)),
        (f"logsumexp, dim {dim}", f"logsumexp(v, dim={dim})", lambda v, a, r, k=keep: torch.logsumexp(v, **k)),
        (f"norm, dim {dim}", f"norm(v, dim={dim})", lambda v, a, r, k=keep: torch.linalg.vector_norm(v, **k)),
        (f"norm p=3, dim {dim}", f"norm(v, dim={dim}, p=3)", lambda v, a, r, k=keep: torch.linalg.vector_norm(v, 3, **k)),
        (f"norm p=inf, dim {dim}", f"norm(v, dim={dim}, p=inf)", lambda v, a, r, k=keep: torch.linalg.vector_norm(v, float("inf"), **k)),
        (f"var, dim {dim}", f"var(v, dim={dim})", lambda v, a, r, k=keep: torch.var(v, **k)),
        (f"std, correction 0, dim {dim}", f"std(v, dim={dim}, correction=0)", lambda v, a, r, k=keep: torch.std(v, correction=0, **k)),
        (f"argmax, dim {dim}", f"argmax(v, dim={dim})", lambda v, a, r, k=keep: torch.argmax(v, **k)),
        (f"argmin, dim {dim}", f"argmin(v, dim={dim})", lambda v, a, r, k=keep: torch.argmin(v, **k)),
        (f"any, dim {dim}", f"any(v, dim={dim})", lambda v, a, r, k=keep: torch.any(v, **k)),
        (f"all, dim {dim}", f"all(v, dim={dim})", lambda v, a, r, k=keep: torch.all(v, **k)),
        (f"softmax, dim {dim}", f"softmax(v, dim={dim})", lambda v, a, r, d=dim: F.softmax(v, d)),
        (f"log_softmax, dim {dim}", f"log_softmax(v, dim={dim})", lambda v, a, r, d=dim: F.log_softmax(v, d)),
        (f"l2_normalize, dim {dim}", f"l2_normalize(v, dim={dim})", lambda v, a, r, d=dim: F.normalize(v, dim=d)),
    ]
PROGRAMS += [
    ("layer_norm", "layer_norm(v, r, r)", lambda v, a, r: F.layer_norm(v, v.shape[1:], r, r)),
    ("rms_norm", "rms_norm(v, r, eps=1e-5)", lambda v, a, r: F.rms_norm(v, v.shape[1:], r, 1e-5)),
    ("group_norm", "group_norm(v, 8, r, r)", lambda v, a, r: F.group_norm(v, 8, r, r)),
    ("instance_norm", "instance_norm(v)", lambda v, a, r: F.instance_norm(v[:, None, :])[:, 0, :]),
    ("batch_norm", "batch_norm(v, weight=r, bias=r)", lambda v, a, r: F.batch_norm(v, None, None, r, r, True)),
    ("batch_norm, given", "batch_norm(v, r, r * r, r, r)", lambda v, a, r: F.batch_norm(v, r, r * r, r, r)),
    ("max_pool", "max_pool(v, 4, 3)", lambda v, a, r: F.max_pool1d(v, 4, 3)),
    ("avg_pool", "avg_pool(v, 4)", lambda v, a, r: F.avg_pool1d(v, 4)),
]


def largest_difference(ours, theirs, scale):
    """Largest |ours - theirs| / (scale + |theirs|) over finite places, infinite where those differ."""
    theirs = theirs.numpy().astype(numpy.float64)
    ours = ours.astype(numpy.float64)
    if ours.shape != theirs.shape:
        return float("inf")
    both_nan = numpy.isnan(ours) & numpy.isnan(theirs)
    same = (ours == theirs) | both_nan
    with numpy.errstate(all="ignore"):
        error = numpy.abs(ours - theirs) / (scale + numpy.abs(theirs))
    error[same] = 0
    error[~same & ~(numpy.isfinite(ours) & numpy.isfinite(theirs))] = float("inf")
    return float(error.max(initial=0))


def run(arguments, folder, expression, arrays):
    out = folder / "out.npy"
    command = [arguments.postlude, "run", expression, "--backend", arguments.backend]
    for name, array in arrays.items():
        numpy.save(folder / f"{name}.npy", array)
    command += ["--x", str(folder / "x.npy"), "--w", str(folder / "w.npy"), "-o", str(out)]
    for name in sorted(set(re.findall(r"\b[var]\b", expression))):
        command += ["-D", f"{name}={folder / (name + '.npy')}"]
    finished = subprocess.run(command, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{finished.stderr}")
    return numpy.load(out)


def data(kind, dtype, generator):
    rows, columns = 25, 64
    v = generator.normal(0, 3, (rows, columns))
    a = generator.normal(0, 3, (rows, columns))
    if kind == "special":
        for i in range(rows):
            v[i, i % columns] = SPECIAL[i % len(SPECIAL)]
            v[i, (7 * i + 40) % columns] = SPECIAL[(i * 5 + 3) % len(SPECIAL)]
            a[i, (3 * i + 1) % columns] = SPECIAL[(i * 3 + 1) % len(SPECIAL)]
    r = generator.normal(0, 1, columns)
    arrays = {"v": v, "a": a, "r": r, "x": numpy.zeros((rows, 1)), "w": numpy.zeros((columns, 1))}
    with numpy.errstate(over="ignore"):
        return {name: array.astype(dtype) for name, array in arrays.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("postlude")
    parser.add_argument("--backend", default="serial")
    parser.add_argument("--table", type=pathlib.Path)
    arguments = parser.parse_args()
    seed = int(numpy.random.SeedSequence().entropy % 2**32)
    print(f"seed {seed}")
    generator = numpy.random.default_rng(seed)
    rows, unexpected = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, expression, reference in PROGRAMS:
            cells, differs = [], False
            for dtype, tolerance in ((numpy.float32, 1e-5), (numpy.float64, 1e-12)):
                for kind in ("normal", "special"):
                    arrays = data(kind, dtype, generator)
                    inputs = [torch.from_numpy(arrays[n].astype(numpy.float64)) for n in ("v", "a", "r")]
                    expected = reference(*inputs)
                    if dtype == numpy.float32 and expected.is_floating_point():
                        expected = expected.to(torch.float32)
                    ours = run(arguments, folder, expression, arrays)
                    difference = largest_difference(ours, expected, 1)
                    # An intended difference is one on special numbers only.
                    differs = differs or difference > tolerance
                    if difference > tolerance and kind == "normal":
                        unexpected += 1
                    cells.append("other NaN or inf" if difference == float("inf") else f"{difference:.1e}")
            remark = INTENDED.get(title) or ""
            verdict = "agrees" if not differs else ("intended" if remark else "DIFFERS")
            unexpected += verdict == "DIFFERS"
            rows.append([title, f"`{expression}`", *cells, verdict, remark if differs else ""])
            print(f"{title:28} {'  '.join(cells)}  {verdict}")
    print(f"{len(rows)} operations, {unexpected} unexpected differences")
    if arguments.table:
        heads = ["operation", "expression", "f32", "f32, special", "f64", "f64, special", "verdict", "remark"]
        lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
        lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
        about = f"PyTorch {torch.__version__}, NumPy {numpy.__version__}, Python {platform.python_version()}, backend {arguments.backend}"
        arguments.table.write_text(about + "\n\n" + "\n".join(lines) + "\n")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
