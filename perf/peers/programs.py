"""The table of perf/programs.json, and each program with PyTorch's functions, as a user would write it.

A program is a function of v, the linear layer with its bias, and of the operands. That is the form in
which PyTorch may fuse the bias into the GEMM.
"""

import json
import pathlib
from typing import NamedTuple

TABLE = pathlib.Path(__file__).resolve().parent.parent / "programs.json"


class Case(NamedTuple):
    set: str
    program: str
    text: str
    operands: dict  # name -> "row", "matrix" or a number
    dtype: str
    m: int
    n: int
    k: int

    @property
    def name(self):
        return f"{self.set}/{self.program}/{self.dtype}/{self.m}x{self.n}x{self.k}"


def cases(size):
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    programs = {program["name"]: program for program in table["programs"]}
    for group in table["cases"][size]:
        names = group["programs"]
        for dtype in group["dtypes"]:
            for m, n, k in group["sizes"]:
                for name in table["lists"][names] if isinstance(names, str) else names:
                    operands = {operand: table["operands"][operand] for operand in programs[name]["operands"]}
                    yield Case(group["set"], name, programs[name]["text"], operands, dtype, m, n, k)


def is_selected(name, parts):
    return not parts or any(part and part in name for part in parts.split(","))


# The row that is added to y first; every other program adds `bias`.
FIRST_ROW = {"add_relu": "other"}

# The results cannot be compared with anybody's: the mask is of PyTorch's own random numbers.
RANDOM = {"dropout_softmax"}


def functions():
    """name -> function(v, operands)."""
    import torch
    import torch.nn.functional as F

    def s2(dim):
        def program(v, o):
            largest = torch.amax(v, dim=dim, keepdim=True)
            return F.gelu(largest - largest.mean(dim=1, keepdim=True))
        return program

    def batch_norm(v, weight, bias):
        return F.batch_norm(v, None, None, weight, bias, training=True)

    def clamped_logsumexp(v, o):
        z = v * 2
        v = torch.logsumexp(torch.clamp(z + z, -10, 10), dim=1, keepdim=True)
        return v * F.mish(v)

    def mean_logsumexp(v, o):
        mean = torch.mean(v - o["other"], dim=1, keepdim=True)
        return F.gelu(torch.logsumexp(mean, dim=1, keepdim=True)) + o["residual"]

    def leaky_gelu(v, o):
        v = torch.logsumexp(v, dim=1, keepdim=True)
        return F.gelu(F.gelu(F.leaky_relu(F.leaky_relu(v, 0.01), 0.01)))

    return {
        "s1": lambda v, o: torch.clamp_max(v, o["c"]) - o["c"],
        "s2_dim0": s2(0),
        "s2_dim1": s2(1),
        "bias_relu": lambda v, o: F.relu(v),
        "multiply_leaky_relu": lambda v, o: F.leaky_relu(v * 2, 0.1),
        "divide_sum_scale": lambda v, o: torch.sum(v / 2, dim=1, keepdim=True) * 1.5,
        "scale_clamp_logsumexp_mish": clamped_logsumexp,
        "mish_mish": lambda v, o: F.mish(F.mish(v)),
        "group_norm_hardtanh": lambda v, o: F.hardtanh(F.group_norm(v, 8, o["other"], o["bias"]), -2, 2),
        "scale_batch_norm": lambda v, o: batch_norm(v * o["other"], o["other"], o["bias"]),
        "scale_batch_norm_given": lambda v, o: F.batch_norm(v * o["other"], o["mu"], torch.abs(o["spread"]) + 0.5,
                                                            o["other"], o["bias"]),
        "silu_add_group_norm": lambda v, o: F.group_norm(torch.sigmoid(v) * v + o["other"], 16, o["other"], o["bias"]),
        "scale_add_unscaled": lambda v, o: v * 0.5 + v,
        "batch_norm_gelu_relu": lambda v, o: F.relu(F.gelu(batch_norm(v, o["other"], o["mu"]))),
        "mean_logsumexp_gelu_residual": mean_logsumexp,
        "scale_hardtanh_gelu": lambda v, o: F.gelu(F.hardtanh(v * 0.5, -2, 2)),
        "max_pool_sum_scale": lambda v, o: torch.sum(F.max_pool1d(v, 2), dim=1, keepdim=True) * 0.5,
        "sigmoid_sum": lambda v, o: torch.sum(torch.sigmoid(v), dim=1, keepdim=True),
        "silu_scale": lambda v, o: F.silu(v) * 2,
        "relu_divide": lambda v, o: F.relu(v) / 2,
        "logsumexp_leaky_relu_gelu": leaky_gelu,
        "dropout_softmax": lambda v, o: F.softmax(F.dropout(v, 0.2, training=True), dim=1),
        "dropout_inference_softmax": lambda v, o: F.softmax(F.dropout(v, 0.2, training=False), dim=1),
        "sigmoid_scale_add": lambda v, o: torch.sigmoid(v) * 2 + v,
        "add_relu": lambda v, o: F.relu(v),
        "silu_divide_clamp_tanh_clamp": lambda v, o: torch.clamp(torch.tanh(torch.clamp(F.silu(v) / 2, -1, 1)), -1, 1),
        "batch_norm_scale_softmax": lambda v, o: F.softmax(batch_norm(v, o["other"], o["mu"]) * o["c"], dim=1),
        "divide_gelu": lambda v, o: F.gelu(v / 10),
        "group_norm_silu_multiply_silu": lambda v, o: F.silu(F.silu(F.group_norm(v, 8, o["other"], o["bias"]))
                                                             * o["other"]),
        "gelu_softmax": lambda v, o: F.softmax(F.gelu(v), dim=1),
        "subtract_multiply_relu": lambda v, o: F.relu((v - 2) * 1.5),
    }
