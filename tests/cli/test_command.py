#!/usr/bin/env python3
"""Runs the postlude command as a user does.

    test_command.py PATH/TO/postlude PATH/TO/examples [unittest arguments]

POSTLUDE_TEST_SEED repeats a run, POSTLUDE_TEST_BACKEND chooses a backend.
"""

import json
import math
import os
import pathlib
import pty
import secrets
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np

POSTLUDE = None
EXAMPLES = None
SEED = int(os.environ.get("POSTLUDE_TEST_SEED", secrets.randbits(32)))
BACKEND = os.environ.get("POSTLUDE_TEST_BACKEND", "default")
# |out - ref| <= T + T |ref|, as the library states it for float32 and float64.
TOLERANCE = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-11}


def postlude(*arguments, stdin=None, cwd=None, stdout=subprocess.PIPE, timeout=300):
    """Runs the command; stdout and stderr are pipes."""
    return subprocess.run(
        [str(POSTLUDE), *(str(argument) for argument in arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=cwd,
        timeout=timeout,
        check=False,
        # Limits that somebody measured here would change what 'explain' prints.
        env={**os.environ, "POSTLUDE_MACHINE_FILE": "/nonexistent/machine.json"},
    )


DTYPES = ("f16", "bf16", "f32", "f64")
NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
# The tolerance that `check` takes by itself, and the relative error of one rounding.
CHECK_TOLERANCE = {"f16": 1e-2, "bf16": 1e-2, "f32": 1e-4, "f64": 1e-11}
ROUNDING = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}


def rounded(array, dtype):
    """float32 numbers as `dtype` stores them, to the nearest, ties to even; as float64."""
    array = np.asarray(array, dtype=np.float32)
    if dtype == "f16":
        return array.astype(np.float16).astype(np.float64)
    # NumPy has no bfloat16: the upper half of a float32.
    bits = array.view(np.uint32).astype(np.uint64)
    upper, lower = bits >> 16, bits & 0xFFFF
    upper += (lower > 0x8000) | ((lower == 0x8000) & (upper % 2 == 1))
    return (upper << 16).astype(np.uint32).view(np.float32).astype(np.float64)


def random_numbers(seed, stream, low, high, count):
    """The command's random float32 numbers: splitmix64 on a counter."""
    golden = np.uint64(0x9E3779B97F4A7C15)

    def mix(z):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    # Arrays wrap around silently where NumPy's scalars warn.
    seed, stream = np.array([seed], np.uint64), np.array([stream + 1], np.uint64)
    start = mix(mix(seed + golden) + stream * golden)
    bits = mix(start + np.arange(count, dtype=np.uint64) * golden)
    unit = (bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
    return np.float32(low) + np.float32(high - low) * unit


def gelu(v):
    return v * 0.5 * (1 + np.vectorize(math.erf)(v / math.sqrt(2)))


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="postlude-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.numbers = np.random.default_rng(SEED)

    # ---- Making inputs ---------------------------------------------------------------------------

    def save(self, name, array):
        path = self.folder / f"{name}.npy"
        np.save(path, array)
        return path

    def layer(self, batch=5, in_features=13, out_features=7, dtype=np.float32):
        """Random x and w, saved as x.npy and w.npy."""
        x = self.numbers.uniform(-1, 1, (batch, in_features)).astype(dtype)
        w = self.numbers.uniform(-1, 1, (out_features, in_features)).astype(dtype)
        self.save("x", x)
        self.save("w", w)
        return x, w

    @staticmethod
    def product(x, w):
        return x.astype(np.float64) @ w.astype(np.float64).T

    def row(self, name, extent, dtype=np.float32):
        array = self.numbers.uniform(-1, 1, extent).astype(dtype)
        self.save(name, array)
        return array.astype(np.float64)

    # ---- Running ---------------------------------------------------------------------------------

    def command(self, command, *arguments, **options):
        return postlude(command, *arguments, "--backend", BACKEND, cwd=self.folder, **options)

    def run_files(self, expression, *arguments, outputs=1):
        """`postlude run` on x.npy and w.npy; the results as arrays."""
        names = [f"out{i}.npy" for i in range(outputs)]
        options = [word for name in names for word in ("-o", name)]
        done = self.command(
            "run", expression, "--x", "x.npy", "--w", "w.npy", *arguments, *options
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(done.stderr, b"")
        self.assertEqual(done.stdout, b"")
        self.assert_no_leftovers()
        results = [np.load(self.folder / name) for name in names]
        return results[0] if outputs == 1 else results

    def assert_close(self, result, reference):
        reference = np.asarray(reference, dtype=np.float64)
        self.assertEqual(result.shape, reference.shape)
        tolerance = TOLERANCE[result.dtype]
        np.testing.assert_allclose(result, reference, rtol=tolerance, atol=tolerance)

    def assert_same_bits(self, result, expected):
        self.assertEqual(result.dtype, expected.dtype)
        self.assertEqual(result.shape, expected.shape)
        # Adding 0 makes -0 and 0 one.
        self.assertEqual((result + 0).tobytes(), (expected + 0).tobytes(), (result, expected))

    def assert_refused(self, done, *parts):
        """Exit code 2, one message on stderr with all `parts`, nothing on stdout."""
        message = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 2, message)
        self.assertEqual(done.stdout, b"")
        self.assertTrue(message.startswith("postlude: error: "), message)
        self.assertTrue(message.endswith("\n"), message)
        self.assertEqual(message.count("postlude: error: "), 1, message)
        for part in parts:
            self.assertIn(part, message)
        self.assert_no_leftovers()

    def assert_no_leftovers(self):
        self.assertEqual(list(self.folder.glob(".postlude-*")), [])

    def assert_caret_under(self, done, line, column, length=None):
        """A caret under `column` (from 0) of `line`, which the message repeats."""
        lines = done.stderr.decode().splitlines()
        shown = [i for i, text in enumerate(lines) if text.strip() == line.strip()]
        self.assertEqual(len(shown), 1, lines)
        begin = lines[shown[0]].index(line.strip()) - (len(line) - len(line.lstrip()))
        marks = lines[shown[0] + 1]
        self.assertEqual(marks.index("^") - begin, column, lines)
        if length is not None:
            self.assertEqual(len(marks.strip()), length, lines)


class RunTest(CommandTest):
    def test_every_order_of_files(self):
        x, w = self.layer()
        bias = self.row("bias", 7)
        reference = np.minimum(self.product(x, w) + bias, 0.25) - 0.25
        for x_order in "CF":
            for w_order in "CF":
                with self.subTest(x=x_order, w=w_order):
                    self.save("x", np.asarray(x, order=x_order))
                    self.save("w", np.asarray(w, order=w_order))
                    out = self.run_files("min(y + bias, c) - c", "-D", "c=0.25", "-D", "bias=bias.npy")
                    self.assertEqual(out.dtype, np.float32)
                    self.assert_close(out, reference)

    def test_float64(self):
        x, w = self.layer(dtype=np.float64)
        bias = self.row("bias", 7, np.float64)
        for compute in ("auto", "f64"):
            out = self.run_files("gelu(y + bias)", "-D", "bias=bias.npy", "--compute", compute)
            self.assertEqual(out.dtype, np.float64)
            self.assert_close(out, gelu(self.product(x, w) + bias))

    def test_float16(self):
        # Whole numbers, whose products are exact, so that NumPy gives the same bits.
        x, w = (
            self.numbers.integers(-4, 5, shape).astype(np.float16) for shape in ((5, 13), (7, 13))
        )
        y = self.product(x, w)
        for x_order in "CF":
            for w_order in "CF":
                with self.subTest(x=x_order, w=w_order):
                    self.save("x", np.asarray(x, order=x_order))
                    self.save("w", np.asarray(w, order=w_order))
                    out = self.run_files("y * y")
                    self.assert_same_bits(out, (y * y).astype(np.float16))
        third = (y.astype(np.float32) / np.float32(3)).astype(np.float16)
        for compute in ("auto", "f32"):
            self.assert_same_bits(self.run_files("y / 3", "--compute", compute), third)
        with np.errstate(over="ignore"):
            large = (y * 4096).astype(np.float16)
        large[y == 16] = np.inf  # 65536
        self.assert_same_bits(self.run_files("y * 4096"), large)
        # Subnormal numbers, and half of the smallest.
        small = (y * 3 * 2.0**-26).astype(np.float16)
        self.assert_same_bits(self.run_files("y * c", "-D", f"c={3 * 2.0**-26}"), small)
        self.assert_same_bits(
            self.run_files("y / 3", "--layout", "column"), np.asfortranarray(third)
        )

    def test_float16_operands(self):
        x, w = self.layer(batch=5, out_features=7, dtype=np.float16)
        y = self.product(x, w)
        row = self.row("row", 7, np.float16)
        column = self.row("column", (5, 1), np.float16)
        full = self.row("full", (5, 7), np.float32)
        element = self.row("element", (), np.float64)
        names = ("row", "column", "full", "element")
        definitions = [word for name in names for word in ("-D", f"{name}={name}.npy")]
        out = self.run_files(
            "(y + row) * column - full + element", "--output-dtype", "f32", *definitions
        )
        self.assert_close(out, (y + row) * column - full + element)
        # float16 operands of a float32 problem.
        x, w = self.layer(batch=5, out_features=7)
        out = self.run_files("y * row", "-D", "row=row.npy")
        self.assert_close(out, self.product(x, w) * row)

    def test_output_dtype(self):
        program = "z = y / 3; return z, y, max(z, dim=1), argmax(z, dim=1)"
        numpy_of = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
        for dtype in numpy_of.values():
            x, w = (
                self.numbers.integers(-4, 5, shape).astype(dtype) for shape in ((5, 13), (7, 13))
            )
            self.save("x", x)
            self.save("w", w)
            # The arithmetic has the type of the problem, and each result is rounded once.
            y = self.product(x, w).astype(np.float64 if dtype == np.float64 else np.float32)
            z = y / y.dtype.type(3)
            index = z.argmax(axis=1).reshape(-1, 1)
            for name, output in [(None, dtype), *numpy_of.items()]:
                for layout in ("row", "column"):
                    with self.subTest(dtype=dtype, output=name, layout=layout):
                        option = ("--output-dtype", name) if name else ()
                        results = self.run_files(program, *option, "--layout", layout, outputs=4)
                        for result, expected in zip(results, (z, y, z.max(axis=1, keepdims=True))):
                            self.assert_same_bits(result, expected.astype(output))
                        self.assertEqual(results[3].dtype, np.int64)
                        np.testing.assert_array_equal(results[3], index)

    def test_output_dtype_bfloat16_is_refused(self):
        self.layer(dtype=np.float16)
        for output in ((), ("-o", "out.npy")):
            done = self.command(
                "run", "y", "--x", "x.npy", "--w", "w.npy", "--output-dtype", "bf16", *output
            )
            self.assert_refused(done, "--output-dtype bf16", ".npy", "f16, f32 or f64")
        self.assertFalse((self.folder / "out.npy").exists())

    def test_every_kind_of_operand(self):
        x, w = self.layer(batch=4, out_features=6)
        y = self.product(x, w)
        operands = {
            "row": (6,),
            "row_matrix": (1, 6),
            "column": (4, 1),
            "full": (4, 6),
            "element": (),
            "element_vector": (1,),
            "element_matrix": (1, 1),
        }
        for name, shape in operands.items():
            for order in "CF":
                with self.subTest(operand=name, order=order):
                    value = self.numbers.uniform(-1, 1, shape).astype(np.float32)
                    self.save(name, np.asarray(value, order=order))
                    out = self.run_files(f"y * {name}", "-D", f"{name}={name}.npy")
                    self.assert_close(out, y * value.astype(np.float64))

    def test_vector_is_a_row_of_a_square_result(self):
        x, w = self.layer(batch=5, out_features=5)
        y = self.product(x, w)
        row = self.row("row", 5)
        column = self.row("column", (5, 1))
        self.assert_close(self.run_files("y + row", "-D", "row=row.npy"), y + row)
        self.assert_close(self.run_files("y + column", "-D", "column=column.npy"), y + column)

    def test_vector_of_batch_elements_is_refused_with_a_hint(self):
        self.layer(batch=5, out_features=7)
        self.row("column", 5)
        done = self.command("run", "y + c", "--x", "x.npy", "--w", "w.npy", "-D", "c=column.npy")
        self.assert_refused(done, "column.npy", "(5,)", "(5, 1)", "reshape")

    def test_several_results(self):
        x, w = self.layer()
        y = self.product(x, w)
        total, largest, z = self.run_files(
            "z = 2 * y; return sum(z, dim=1), max(z, dim=0), z", outputs=3
        )
        self.assert_close(total, 2 * y.sum(axis=1, keepdims=True))
        self.assert_close(largest, 2 * y.max(axis=0, keepdims=True))
        self.assert_close(z, 2 * y)

    def test_written_file_is_format_1_in_c_order(self):
        x, w = self.layer()
        out = self.run_files("y")
        self.assertTrue(out.flags.c_contiguous)
        data = (self.folder / "out0.npy").read_bytes()
        self.assertEqual(data[:8], b"\x93NUMPY\x01\x00")
        header = struct.unpack("<H", data[8:10])[0]
        self.assertEqual((10 + header) % 64, 0)
        self.assertEqual(len(data), 10 + header + 4 * 35)
        mask = os.umask(0)
        os.umask(mask)
        mode = stat.S_IMODE((self.folder / "out0.npy").stat().st_mode)
        self.assertEqual(mode, 0o666 & ~mask)

    def test_column_layout_is_written_in_fortran_order(self):
        x, w = self.layer()
        out = self.run_files("y", "--layout", "column")
        self.assertTrue(out.flags.f_contiguous)
        self.assert_close(out, self.product(x, w))

    def test_compute_modes(self):
        x, w = self.layer()
        strict = self.run_files("y")
        self.assert_same_bits(self.run_files("y", "--compute", "auto"), strict)
        self.assert_same_bits(self.run_files("y", "--compute", "f32"), strict)
        files = ("--x", "x.npy", "--w", "w.npy", "-o", "out.npy")
        self.assert_refused(self.command("run", "y", *files, "--compute", "f64"), "f64", "x.npy")
        self.assert_refused(self.command("run", "y", *files, "--compute", "fp32"), "--compute")
        # 11 bits of every element in the last of them.
        for mode, error in (("f32_emulated_f16x3", 2.0**-18), ("f32_fast_tf32", 2.0**-8)):
            with self.subTest(mode=mode):
                if BACKEND == "cuda":
                    bound = error * self.product(np.abs(x), np.abs(w))
                    out = self.run_files("y", "--compute", mode)
                    self.assertTrue((np.abs(out - self.product(x, w)) <= bound).all())
                else:
                    done = self.command("run", "y", *files, "--compute", mode)
                    self.assert_refused(done, mode, "cublaslt", "split", "kokkos_kernels")

    def test_scalars(self):
        x, w = self.layer()
        y = self.product(x, w)
        self.assert_close(self.run_files("min(y, c)", "-D", "c=inf"), y)
        self.assert_close(self.run_files("max(y, c)", "-D", "c=-inf"), y)
        self.assert_close(self.run_files("y * c", "-D", "c=0x1.8p1"), 3 * y)
        self.assert_close(self.run_files("y + c", "-D", "c=-2.5e-1"), y - 0.25)
        out = self.run_files("min(y, c)", "-D", "c=-inf")
        self.assertTrue(np.isneginf(out).all())
        for expression in ("min(y, c)", "max(c, y)", "y + c"):
            with self.subTest(expression=expression):
                out = self.run_files(expression, "-D", "c=nan")
                self.assertTrue(np.isnan(out).all())

    def test_nan_and_infinity_in_files(self):
        x, w = self.layer()
        x[1, 2] = np.nan
        self.save("x", x)
        out = self.run_files("max(y, 0)")
        self.assertTrue(np.isnan(out[1]).all())
        self.assertTrue(np.isfinite(np.delete(out, 1, axis=0)).all())

    def test_empty_sizes(self):
        bias = self.row("bias", 3)
        for batch, in_features, out_features in ((2, 0, 3), (0, 4, 3), (2, 4, 0), (0, 0, 0)):
            with self.subTest(shape=(batch, in_features, out_features)):
                self.layer(batch, in_features, out_features)
                out = self.run_files("y - 1")
                self.assert_close(out, np.full((batch, out_features), -1.0))
        self.layer(2, 0, 3)
        out = self.run_files("relu(y + bias)", "-D", "bias=bias.npy")
        self.assert_close(out, np.tile(np.maximum(bias, 0), (2, 1)))

    def test_size_one(self):
        for batch, in_features, out_features in ((4, 5, 1), (1, 5, 4), (3, 1, 2), (1, 1, 1)):
            with self.subTest(shape=(batch, in_features, out_features)):
                x, w = self.layer(batch, in_features, out_features)
                bias = self.row("bias", out_features)
                total = self.run_files("sum(y + bias, dim=1)", "-D", "bias=bias.npy")
                self.assert_close(
                    total, (self.product(x, w) + bias).sum(axis=1, keepdims=True)
                )

    def test_prints_results_without_output_files(self):
        x = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)
        self.save("x", x)
        self.save("w", np.array([[1, 2], [0.5, 0]], dtype=np.float32))
        done = self.command("run", "return y, sum(y, dim=0)", "--x", "x.npy", "--w", "w.npy")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(done.stderr, b"")
        text = done.stdout.decode()
        self.assertIn("[[  5 0.5]\n [ 11 1.5]\n [ 17 2.5]]\n", text)
        self.assertIn("float32 (3, 2)", text)
        self.assertIn("float32 (1, 2)\n[[ 33 4.5]]\n", text)

    def test_prints_float16(self):
        self.save("x", np.array([[1], [3], [-2048]], dtype=np.float16))
        self.save("w", np.array([[1], [1 / 3], [32]], dtype=np.float16))
        done = self.command("run", "y", "--x", "x.npy", "--w", "w.npy")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(
            done.stdout.decode(),
            "result: float16 (3, 3)\n"
            "[[       1 0.333252       32]\n"
            " [       3        1       96]\n"
            " [   -2048   -682.5     -inf]]\n",
        )
        done = self.command("run", "y * c", "--x", "x.npy", "--w", "w.npy", "-D", f"c={2.0**-24}")
        self.assertIn(b"[[ 5.96046e-08            0  1.90735e-06]\n", done.stdout)

    def test_prints_the_edges_of_large_results(self):
        self.layer(batch=300, in_features=2, out_features=200)
        done = self.command("run", "y", "--x", "x.npy", "--w", "w.npy")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(len(done.stdout.splitlines()), 8)
        self.assertIn(b"...", done.stdout)

    def test_expression_from_standard_input(self):
        x, w = self.layer()
        done = self.command(
            "run", "-", "--x", "x.npy", "--w", "w.npy", "-o", "out.npy",
            stdin=b"# a comment\nz = y + 1\nreturn z\n",
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assert_close(np.load(self.folder / "out.npy"), self.product(x, w) + 1)

    def test_expression_that_begins_with_a_minus(self):
        x, w = self.layer()
        y = self.product(x, w)
        for expression, reference in (("-y", -y), ("-(y + 1)", -y - 1), ("--y + 1", y + 1)):
            with self.subTest(expression=expression):
                self.assert_close(self.run_files(expression), reference)
        done = self.command("run", "--x", "x.npy", "--w", "w.npy", "-o", "out.npy", "--", "-y")
        # --backend comes after --, where everything is positional.
        self.assertEqual(done.returncode, 2)
        done = postlude(
            "run", "--x", "x.npy", "--w", "w.npy", "-o", "out.npy", "--", "-y", cwd=self.folder
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assert_close(np.load(self.folder / "out.npy"), -y)

    def test_backends(self):
        x, w = self.layer()
        listed = postlude("backends")
        self.assertEqual(listed.returncode, 0)
        names = listed.stdout.decode().split()
        self.assertIn("serial", names)
        for name in names:
            if name in ("serial", "openmp", "threads"):
                done = postlude(
                    "run", "y * 2", "--x", "x.npy", "--w", "w.npy", "-o", f"{name}.npy",
                    "--backend", name, cwd=self.folder,
                )
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                self.assert_close(np.load(self.folder / f"{name}.npy"), 2 * self.product(x, w))

    def test_example_data(self):
        data = EXAMPLES / "data"
        x, w, bias, scale, mask = (
            np.load(data / f"{name}.npy").astype(np.float64)
            for name in ("x", "w", "bias", "scale", "mask")
        )
        done = self.command(
            "run", "z = gelu(y + bias) * scale; return z * mask, max(z, dim=1)",
            "--x", data / "x.npy", "--w", data / "w.npy", "-D", f"bias={data}/bias.npy",
            "-D", f"scale={data}/scale.npy", "-D", f"mask={data}/mask.npy",
            "-o", "z.npy", "-o", "m.npy",
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        z = gelu(x @ w.T + bias) * scale
        self.assert_close(np.load(self.folder / "z.npy"), z * mask)
        self.assert_close(np.load(self.folder / "m.npy"), z.max(axis=1, keepdims=True))


class OutputTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.layer()

    def run_to(self, *paths, expression="y", **options):
        words = [word for path in paths for word in ("-o", path)]
        return self.command(
            "run", expression, "--x", "x.npy", "--w", "w.npy", *words, **options
        )

    def test_unwritable_paths(self):
        (self.folder / "folder").mkdir()
        (self.folder / "file").write_bytes(b"kept")
        for path in ("missing/out.npy", "folder", "folder/", "file/out.npy", "/proc/out.npy", ""):
            with self.subTest(path=path):
                self.assert_refused(self.run_to(path), "cannot write", path)
        self.assertEqual((self.folder / "file").read_bytes(), b"kept")

    def test_devices_are_not_replaced(self):
        self.assert_refused(self.run_to("/dev/null"), "/dev/null", "not a regular file")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_read_only_places(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        (self.folder / "closed").mkdir(mode=0o500)
        self.assert_refused(self.run_to("closed/out.npy"), "cannot write")
        kept = self.folder / "kept.npy"
        kept.write_bytes(b"kept")
        kept.chmod(0o400)
        self.assert_refused(self.run_to("kept.npy"), "cannot write")
        self.assertEqual(kept.read_bytes(), b"kept")

    def test_full_disk_leaves_nothing(self):
        # A limit on the size of files stands in for a full disk.
        done = subprocess.run(
            ["bash", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$@"', "-", str(POSTLUDE), "run", "y",
             "--x", "x.npy", "--w", "w.npy", "-o", "large.npy", "--backend", BACKEND],
            cwd=self.big_layer(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
        )
        self.assert_refused(done, "cannot write 'large.npy'")
        self.assertFalse((self.folder / "large.npy").exists())

    def big_layer(self):
        self.layer(batch=40, in_features=3, out_features=50)
        return self.folder

    def test_a_failed_run_keeps_the_former_file(self):
        former = self.folder / "out.npy"
        former.write_bytes(b"former")
        self.assert_refused(self.run_to("out.npy", expression="y + bias"), "bias")
        self.assert_refused(self.run_to("out.npy", "missing/out.npy", expression="return y, y + 1"))
        self.assertEqual(former.read_bytes(), b"former")

    def test_replaces_a_file_and_follows_a_link(self):
        target = self.folder / "target.npy"
        target.write_bytes(b"former")
        target.chmod(0o640)
        (self.folder / "link.npy").symlink_to("target.npy")
        done = self.run_to("link.npy")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertTrue((self.folder / "link.npy").is_symlink())
        self.assertEqual(np.load(target).shape, (5, 7))
        self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o640)

    def test_output_may_replace_an_input(self):
        w = np.load(self.folder / "w.npy")
        x = np.load(self.folder / "x.npy")
        done = self.run_to("x.npy")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assert_close(np.load(self.folder / "x.npy"), self.product(x, w))

    def test_long_file_name(self):
        name = "n" * 251 + ".npy"
        done = self.run_to(name)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertTrue((self.folder / name).exists())

    def test_number_of_outputs(self):
        self.assert_refused(self.run_to("a.npy", "b.npy"), "-o is given 2 times")
        self.assert_refused(self.run_to("a.npy", expression="return y, y + 1"), "once for each")
        self.assert_refused(
            self.run_to("a.npy", "./a.npy", expression="return y, y + 1"), "for two results"
        )
        self.assertEqual(list(self.folder.glob("[ab].npy")), [])

    def test_standard_output_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            done = postlude("--version", stdout=full)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"postlude: error: ", done.stderr)


class BadFileTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.layer()

    def run_with(self, **paths):
        files = {"x": "x.npy", "w": "w.npy", **paths}
        bias = ("-D", f"bias={files['bias']}") if "bias" in files else ()
        expression = "y + bias" if bias else "y"
        return self.command(
            "run", expression, "--x", files["x"], "--w", files["w"], *bias, "-o", "out.npy"
        )

    def assert_refused(self, done, *parts):
        super().assert_refused(done, *parts)
        self.assertFalse((self.folder / "out.npy").exists())

    def test_wrong_dtype(self):
        for dtype in (np.int8, np.int32, np.int64, np.uint8, np.bool_, np.complex64, "S3"):
            with self.subTest(dtype=dtype):
                self.save("x", np.ones((5, 13)).astype(dtype))
                self.assert_refused(self.run_with(), "x.npy", "dtype", "expected float16")

    def test_bfloat16(self):
        # As NumPy saves the type of other packages: two bytes without a meaning.
        self.save("x", np.ones((5, 13), dtype=np.uint16).view("V2"))
        self.assert_refused(self.run_with(), "x.npy", "bfloat16", ".astype(numpy.float32)")

    def test_big_endian(self):
        self.save("w", np.ones((7, 13), dtype=">f4"))
        self.assert_refused(self.run_with(), "w.npy", "big-endian", ".astype('<f4')")
        self.save("w", np.ones((7, 13), dtype=">f2"))
        self.assert_refused(self.run_with(), "w.npy", "big-endian", ".astype('<f2')")

    def test_structured_and_object_arrays(self):
        self.save("x", np.ones((5, 13), dtype=[("a", "<f4"), ("b", "<f4")]))
        self.assert_refused(self.run_with(), "structured")
        self.save("x", np.array([[None]]))
        self.assert_refused(self.run_with(), "objects")

    def test_mixed_dtypes(self):
        self.save("x", np.ones((5, 13)))
        self.assert_refused(self.run_with(), "float64", "float32", "x.npy", "w.npy")
        self.save("x", np.ones((5, 13), dtype=np.float16))
        self.assert_refused(self.run_with(), "float16", "float32", "x.npy", "w.npy")

    def test_compute_that_does_not_fit(self):
        done = self.command("run", "y", "--x", "x.npy", "--w", "w.npy", "--compute", "f64")
        self.assert_refused(done, "--compute f64", "float32")
        self.layer(dtype=np.float16)
        done = self.command("run", "y", "--x", "x.npy", "--w", "w.npy", "--compute", "f64")
        self.assert_refused(done, "--compute f64", "float16")
        self.layer(dtype=np.float64)
        done = self.command("run", "y", "--x", "x.npy", "--w", "w.npy", "--compute", "f32")
        self.assert_refused(done, "--compute f32", "float64")

    def test_wrong_rank(self):
        for shape in ((), (13,), (1, 5, 13)):
            with self.subTest(shape=shape):
                self.save("x", np.ones(shape, dtype=np.float32))
                self.assert_refused(self.run_with(), "x.npy", "two dimensions")
        self.layer()
        self.save("bias", np.ones((1, 5, 7), dtype=np.float32))
        self.assert_refused(self.run_with(bias="bias.npy"), "bias.npy", "(1, 5, 7)", "5 x 7")

    def test_wrong_shape(self):
        self.save("w", np.ones((7, 12), dtype=np.float32))
        self.assert_refused(self.run_with(), "in_features", "(5, 13)", "(7, 12)")
        self.layer()
        for shape in ((6,), (7, 1), (1, 5), (7, 5), (0,), (2, 7)):
            with self.subTest(shape=shape):
                self.save("bias", np.ones(shape, dtype=np.float32))
                self.assert_refused(self.run_with(bias="bias.npy"), "bias.npy", "5 x 7")

    def test_truncated_at_every_length(self):
        # Both formats that NumPy writes for plain arrays, and both orders.
        for version in ((1, 0), (2, 0)):
            whole = self.folder / "whole.npy"
            with open(whole, "wb") as file:
                array = np.asfortranarray(np.ones((5, 13), dtype=np.float32))
                np.lib.format.write_array(file, array, version=version)
            data = whole.read_bytes()
            self.assertEqual(self.run_with(x="whole.npy").returncode, 0)
            (self.folder / "out.npy").unlink()
            part = self.folder / "part.npy"
            lengths = {0, 1, 5, 6, 9, 11, 12, 60, 127, 128, 129, len(data) - 4, len(data) - 1}
            for length in sorted(lengths):
                with self.subTest(version=version, length=length):
                    part.write_bytes(data[:length])
                    self.assert_refused(self.run_with(x="part.npy"), "part.npy")
            part.write_bytes(data + b"\0")
            self.assert_refused(self.run_with(x="part.npy"), "damaged or holds several")

    def header_file(self, text, data=b"", version=(1, 0), length=None):
        path = self.folder / "made.npy"
        text = text.encode("latin-1")
        text += b" " * (-(len(text) + 11) % 64) + b"\n"
        size = struct.pack("<H" if version[0] == 1 else "<I", length or len(text))
        path.write_bytes(b"\x93NUMPY" + bytes(version) + size + text + data)
        return "made.npy"

    def test_damaged_headers(self):
        good = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 13), }"
        data = np.ones((5, 13), dtype=np.float32).tobytes()
        self.assertEqual(self.run_with(x=self.header_file(good, data)).returncode, 0)
        # The format lets the keys have any order, and double quotes.
        other = '{"shape": (5, 13), "fortran_order": True, "descr": "<f4"}'
        self.assertEqual(self.run_with(x=self.header_file(other, data, (3, 0))).returncode, 0)
        (self.folder / "out.npy").unlink()
        for text in (
            "", "{", "{}", "[]", "nonsense", "{'descr': '<f4'}",
            good.replace("'<f4'", "<f4"), good.replace("False", "Maybe"),
            good.replace("(5, 13)", "(-5, 13)"), good.replace("(5, 13)", "(5, 13"),
            good.replace("(5, 13)", "(5 13)"), good.replace("(5, 13)", "(5.0, 13)"),
            good.replace("(5, 13)", "(99999999999999999999, 13)"),
            good.replace("(5, 13)", "5"), good.replace("'shape'", "'shpae'"),
            good.replace("'shape'", "'descr'"), good + "}", good.replace("'shape'", "'sha"),
            good.replace("<f4", "\xff\xfe"),
        ):
            with self.subTest(text=text):
                self.assert_refused(self.run_with(x=self.header_file(text, data)), "made.npy")

    def test_headers_that_claim_too_much(self):
        for shape in (
            "(1099511627776, 13)", "(4611686018427387905, 4)", "(9223372036854775807, 1)",
            "(3037000500, 3037000500)",
        ):
            with self.subTest(shape=shape):
                text = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % shape
                self.assert_refused(self.run_with(x=self.header_file(text, b"\0" * 64)), "made.npy")
        text = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 13), }"
        self.assert_refused(
            self.run_with(x=self.header_file(text, b"", (2, 0), 0xFFFFFFFF)), "made.npy", "claims"
        )
        self.assert_refused(self.run_with(x=self.header_file(text, b"", (9, 9))), "format 9.9")
        empty = "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 0, 8), }"
        self.assert_refused(self.run_with(x=self.header_file(empty)), "two dimensions")

    def test_random_damage(self):
        data = (self.folder / "x.npy").read_bytes()
        bad = self.folder / "bad.npy"
        for _ in range(60):
            damaged = bytearray(data)
            for place in self.numbers.integers(0, 128, self.numbers.integers(1, 4)):
                damaged[place] = self.numbers.integers(0, 256)
            with self.subTest(header=bytes(damaged[:128])):
                bad.write_bytes(damaged)
                done = self.run_with(x="bad.npy")
                self.assertIn(done.returncode, (0, 2), done.stderr)
                if done.returncode == 2:
                    self.assert_refused(done)
                else:  # a byte that does not matter
                    (self.folder / "out.npy").unlink()

    def test_what_is_no_file(self):
        (self.folder / "folder.npy").mkdir()
        os.mkfifo(self.folder / "pipe.npy")
        (self.folder / "text.npy").write_text("1 2 3\n")
        self.assert_refused(self.run_with(x="missing.npy"), "missing.npy", "No such file")
        self.assert_refused(self.run_with(x="folder.npy"), "folder.npy")
        self.assert_refused(self.run_with(x="pipe.npy"), "pipe.npy", "regular file")
        self.assert_refused(self.run_with(x="/dev/zero"), "/dev/zero", "regular file")
        self.assert_refused(self.run_with(x="text.npy"), "text.npy", "not a .npy file")
        self.assert_refused(self.run_with(bias="missing.npy"), "missing.npy")


class ExpressionTest(CommandTest):
    """Wrong expressions; `explain` answers them without computing anything."""

    def explain(self, expression, *arguments, **options):
        return self.command("explain", expression, "--shape", "4,5,6", *arguments, **options)

    def test_unknown_name(self):
        text = "min(y + bais, c) - c"
        done = self.explain(text, "-D", "bias=random:row", "-D", "c=2")
        self.assert_refused(done, "bais")
        self.assert_caret_under(done, text, 8, 4)

    def test_missing_operand(self):
        text = "min(y + bias, c) - c"
        done = self.explain(text, "-D", "c=2")
        self.assert_refused(done, "bias", "-D")
        self.assert_caret_under(done, text, 8, 4)

    def test_unknown_function(self):
        done = self.explain("y + geluu(y)")
        self.assert_refused(done, "geluu")
        self.assert_caret_under(done, "y + geluu(y)", 4)

    def test_syntax(self):
        for text, column in (("y +* 2", 3), ("min(y, 2", 8), ("y)", 1), ("y @ y", 2), ("y y", 2)):
            with self.subTest(text=text):
                done = self.explain(text)
                self.assert_refused(done)
                self.assert_caret_under(done, text, column)

    def test_second_line(self):
        done = self.explain("z = y + 1\nz + oops")
        self.assert_refused(done, "oops", "line 2")
        self.assert_caret_under(done, "z + oops", 4, 4)

    def test_dimension(self):
        for dimension in ("2", "-3", "x"):
            with self.subTest(dimension=dimension):
                self.assert_refused(self.explain(f"sum(y, dim={dimension})"))

    def test_shapes_that_do_not_fit(self):
        self.assert_refused(self.explain("y + max(y, dim=1) * max(y, dim=2)"))
        x, w = self.layer(0, 3, 4)
        done = self.command("run", "max(y, dim=0)", "--x", "x.npy", "--w", "w.npy")
        self.assert_refused(done, "max")

    def test_empty(self):
        for text in ("", " ", ";", "\n", "# nothing"):
            with self.subTest(text=text):
                self.assert_refused(self.explain(text))
                self.assert_refused(self.explain("-", stdin=text.encode()))

    def test_a_megabyte(self):
        # Longer than an argument may be, so it comes by standard input.
        self.assert_answered(self.explain("-", stdin=b"y" + b" + 1" * 262144))
        done = self.explain("-", stdin=b"y" * 1048576)
        self.assert_refused(done)
        self.assertLess(len(done.stderr), 4096)
        self.assert_answered(self.explain("-", stdin=b"y" + b" " * 1048576))
        self.assert_refused(self.explain("-", stdin=b"\xff" * 1048576))

    def test_deep_nesting(self):
        for depth in (100, 10000, 300000):
            for opening, closing in (("(", ")"), ("-", ""), ("abs(", ")")):
                with self.subTest(depth=depth, opening=opening):
                    text = opening * depth + "y" + closing * depth
                    self.assert_answered(self.explain("-", stdin=text.encode()))

    def assert_answered(self, done):
        """A plan or a refusal, but neither a crash nor silence."""
        if done.returncode == 0:
            self.assertEqual(done.stderr, b"")
            self.assertNotEqual(done.stdout, b"")
        else:
            self.assert_refused(done)
            self.assertLess(len(done.stderr), 4096)

    def test_strange_bytes(self):
        self.assert_refused(self.explain("-", stdin=b"y\0 + 1"), "NUL")
        self.assert_refused(self.explain("y + \u00fc"))
        self.assert_refused(self.explain("-", stdin=b"y + \xff\xfe"))
        done = self.explain("-", stdin=b"y + \x1b[2J")
        self.assert_refused(done)
        self.assertNotIn(b"\x1b", done.stderr)


class ExplainTest(CommandTest):
    def test_explain(self):
        done = self.command(
            "explain", "min(y + bias, c) - c", "--shape", "128,64,32", "-D", "c=2", "-D",
            "bias=random:row",
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(done.stderr, b"")
        self.assertIn("min", done.stdout.decode())
        self.assertTrue(done.stdout.endswith(b"\n"))

    def test_dtypes(self):
        arguments = ("explain", "z = y + 1; return z, argmax(z, dim=0)", "--shape", "5,6,7")
        for dtype in DTYPES:
            done = self.command(*arguments, "--dtype", dtype)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            self.assertIn(f", {dtype}, backend", done.stdout.decode())
            self.assertNotIn(b"stored as", done.stdout)
            for output in DTYPES:
                with self.subTest(dtype=dtype, output=output):
                    text = self.command(
                        *arguments, "--dtype", dtype, "--output-dtype", output
                    ).stdout.decode()
                    note = (
                        f"z is stored as {NAMES[output]}; its bytes are counted as {NAMES[dtype]}\n"
                    )
                    self.assertEqual(text.count(note), 0 if output == dtype else 1, text)
                    self.assertEqual(text.count("stored as"), text.count(note), text)

    def test_rewrites(self):
        arguments = ("explain", "relu(relu(y)) * 1", "--shape", "4,3,5")
        text = self.command(*arguments).stdout.decode()
        self.assertIn("clamps: relu(relu(y)) -> relu(y)", text)
        self.assertIn("program as executed", text)
        text = self.command(*arguments, "--without-rewrite", "clamps").stdout.decode()
        self.assertNotIn("clamps:", text)
        self.assertIn("arithmetic:", text)
        text = self.command(*arguments, "--without-rewrite", "all").stdout.decode()
        self.assertNotIn("rewrites", text)
        self.assert_refused(self.command(*arguments, "--without-rewrite", "clamp"), "clamps")

    def test_json(self):
        done = self.command(
            "explain", "relu(relu(y + b))", "--shape", "4,3,5", "-D", "b=random:row", "--json"
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        plan = json.loads(done.stdout)
        self.assertEqual(plan["problem"]["m"], 4)
        self.assertEqual(plan["problem"]["n"], 5)
        self.assertEqual([rewrite["name"] for rewrite in plan["rewrites"]], ["clamps"])
        self.assertEqual(len(plan["written"]), len(plan["program"]) + 1)
        self.assertEqual(plan["stages"][0]["domain"], [1, 4, 5])
        self.assertEqual(plan["gemm"]["flops"], 2 * 4 * 5 * 3)
        self.assertIn("kokkos_kernels", [engine["name"] for engine in plan["engines"]])

    def test_needs_no_memory_for_large_shapes(self):
        done = self.command("explain", "y", "--shape", "1000000,1000000,1000000")
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_json_has_what_the_text_has(self):
        arguments = (
            "explain", "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1)) # 'n'",
            "--shape", "128,64,32", "-D", "bias=random:row",
        )
        text = self.command(*arguments).stdout.decode()
        done = self.command(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        plan = json.loads(done.stdout)
        self.assertEqual(plan["schema"], 1)
        self.assertEqual(
            {key: plan["problem"][key] for key in ("batch", "m", "n", "k", "dtype")},
            {"batch": 1, "m": 128, "n": 32, "k": 64, "dtype": "f32"},
        )
        self.assertIn(f", f32, backend {plan['problem']['backend']}\n", text)
        for line in plan["program"]:
            self.assertIn(f"  {line}\n", text)
        for engine in plan["engines"]:
            self.assertIn(f"  {engine['name']}: {engine['state']} ({engine['reason']})\n", text)
        self.assertEqual([engine["state"] for engine in plan["engines"]].count("chosen"), 1)
        self.assertEqual(len(plan["stages"]), text.count("  stage "))
        for index, stage in enumerate(plan["stages"], start=1):
            self.assertIn(f"  stage {index}: {stage['sweep']} over ", text)
            self.assertIn(f"reads {', '.join(stage['reads'])}; writes {', '.join(stage['writes'])};", text)
        self.assertEqual(plan["gemm"]["flops"], 2 * 128 * 64 * 32)
        self.assertEqual(plan["gemm"]["bytes"], 4 * (128 * 64 + 32 * 64 + 128 * 32))
        self.assertEqual(plan["totals"]["minimum_bytes"], 4 * (128 * 64 + 32 * 64 + 32 + 32))
        self.assertIsNone(plan["limits"])
        self.assertIsNone(plan["predicted_seconds"])

    def test_measured_limits(self):
        path = self.folder / "new" / "machine.json"
        done = self.command("bench", "--calibrate", "--machine", path)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn(str(path), done.stdout.decode())
        backends = json.loads(path.read_text())["backends"]
        self.assertEqual(len(backends), 1)
        [(backend, limits)] = backends.items()
        self.assertGreater(limits["copy_bytes_per_second"], 0)
        for dtype in ("f64", "f32", "f16", "bf16"):
            self.assertGreater(limits["gemm_flops_per_second"][dtype], 0)

        # Numbers by which the prediction can be computed by hand.
        limits["copy_bytes_per_second"] = 1e9
        limits["gemm_flops_per_second"]["f32"] = 1e9
        path.write_text(json.dumps({"schema": 1, "backends": {backend: limits, "abacus": {}}}))
        arguments = ("explain", "sum(y, dim=1)", "--machine", path)
        plan = json.loads(self.command(*arguments, "--shape", "100,1,100", "--json").stdout)
        self.assertEqual(plan["limits"]["copy_bytes_per_second"], 1e9)
        predicted = plan["predicted_seconds"]
        self.assertTrue(predicted["gemm_is_limited_by_memory"])
        self.assertAlmostEqual(predicted["gemm"], 4 * (100 + 100 + 10000) / 1e9)
        self.assertEqual(predicted["stages"], [stage["bytes"] / 1e9 for stage in plan["stages"]])
        self.assertAlmostEqual(predicted["total"], predicted["gemm"] + sum(predicted["stages"]))
        plan = json.loads(self.command(*arguments, "--shape", "100,1000,100", "--json").stdout)
        self.assertFalse(plan["predicted_seconds"]["gemm_is_limited_by_memory"])
        self.assertAlmostEqual(plan["predicted_seconds"]["gemm"], 2 * 100 * 1000 * 100 / 1e9)
        text = self.command(*arguments, "--shape", "100,1000,100").stdout.decode()
        self.assertIn("GEMM: 20 ms, limited by arithmetic\n", text)
        self.assertIn("predicted time 20", text)

        # Another calibration keeps what it does not measure.
        del limits["gemm_flops_per_second"]["f32"]
        path.write_text(json.dumps({"schema": 1, "backends": {backend: limits, "abacus": {}}}))
        self.assertIn(
            "no GEMM in this mode", self.command(*arguments, "--shape", "3,4,5").stdout.decode()
        )
        for text in ("", "[]", "{", '{"schema": 2, "backends": {}}', '{"schema": 1}',
                     json.dumps({"schema": 1, "backends": {backend: {"date": "now"}}}),
                     json.dumps({"schema": 1, "backends": {backend: {**limits, "copy_bytes_per_second": 0}}})):
            path.write_text(text)
            with self.subTest(text=text):
                self.assert_refused(self.command(*arguments, "--shape", "3,4,5"), "machine.json")
        self.assert_refused(self.command("bench", "--machine", path), "EXPR")

    def test_engine(self):
        self.assert_refused(
            self.command("explain", "y", "--shape", "4,5,6", "--engine", "steam"), "steam"
        )

    def test_gemm_choice(self):
        shape = ("--shape", "4,5,6")
        path = str(self.folder / "choice.txt")
        done = self.command("explain", "y", *shape, "--autotune", "--save-gemm-choice", path)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        with open(path) as file:
            choice = file.read()
        self.assertRegex(choice, r"\A\w+; f32 in f32, batch 1, m 4, n 6, k 5, [^;\n]*; [^;\n]*\n\Z")
        again = self.command("explain", "y", *shape, "--gemm-choice", path)
        self.assertEqual((again.returncode, again.stdout), (0, done.stdout), again.stderr.decode())
        self.assert_refused(
            self.command("explain", "y", "--shape", "4,5,7", "--gemm-choice", path),
            "gemm_choice is for",
        )
        self.assert_refused(
            self.command("explain", "y", *shape, "--gemm-choice", str(self.folder / "none.txt")),
            "none.txt",
        )
        for text in (b"", b"steam", b"a\0b", b"x" * 70000):
            with open(path, "wb") as file:
                file.write(text)
            self.assert_refused(
                self.command("explain", "y", *shape, "--gemm-choice", path), "gemm"
            )
        self.assert_refused(
            self.command("explain", "y", *shape, "--save-gemm-choice", str(self.folder / "no/choice.txt")),
            "no/choice.txt",
        )


class CheckTest(CommandTest):
    def check(self, expression, shape, *arguments, **options):
        return self.command("check", expression, "--shape", shape, *arguments, **options)

    def assert_passes(self, done):
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 0, done.stderr.decode() + text)
        self.assertEqual(done.stderr, b"")  # a pipe sees no progress
        self.assertIn("seed", text)
        self.assertIn("passed", text)

    def test_founding_workloads_in_small(self):
        self.assert_passes(
            self.check(
                "min(y + bias, c) - c", "33,257,129", "-D", "c=2", "-D", "bias=random:row",
                "--seed", SEED,
            )
        )
        for dimension in (0, 1):
            self.assert_passes(
                self.check(
                    f"m = max(y + bias, dim={dimension}); gelu(m - mean(m, dim=1))", "67,129,65",
                    "-D", "bias=random:row", "--seed", SEED,
                )
            )

    def test_every_random_kind(self):
        done = self.check(
            "(y + a) * b - c + d * e", "7,11,5", "-D", "a=random:row", "-D", "b=random:col", "-D",
            "c=random:full", "-D", "d=random:scalar", "-D", "e=random:element", "--seed", SEED,
        )
        self.assert_passes(done)

    def test_float64(self):
        done = self.check("gelu(y)", "7,11,5", "--dtype", "f64")
        self.assert_passes(done)
        self.assertIn(b"float64", done.stdout)

    def table(self, done):
        """The lines of the report: result, dtype, elements, largest errors, violations."""
        lines = done.stdout.decode().splitlines()
        self.assertEqual(lines[1].split()[:3], ["result", "dtype", "elements"])
        return [line.split() for line in lines[2:-1]]

    def test_every_dtype(self):
        for dtype in DTYPES:
            for output in (None, *DTYPES):
                with self.subTest(dtype=dtype, output=output):
                    done = self.check(
                        "z = exp(y + a); return z, argmax(z, dim=0)", "33,65,17", "--dtype", dtype,
                        *(("--output-dtype", output) if output else ()), "-D", "a=random:row",
                        "--seed", SEED,
                    )
                    self.assert_passes(done)
                    stored = output or dtype
                    text = done.stdout.decode()
                    to = "" if stored == dtype else f" to {NAMES[stored]}"
                    self.assertIn(f"M=33 K=65 N=17, {NAMES[dtype]}{to}, backend ", text)
                    # The index is as exact as the problem, z no more exact than what it is stored in.
                    least = CHECK_TOLERANCE[dtype]
                    tolerance = max(least, CHECK_TOLERANCE[stored])
                    limit = f"{least:g}" if tolerance == least else f"{least:g} to {tolerance:g}"
                    self.assertIn(f"passed (tolerance: {limit} absolute + relative)", text)
                    z, index = self.table(done)
                    self.assertEqual(z[1:3], [NAMES[stored], "561"])
                    self.assertEqual(index[1:3], ["int64", "17"])
                    # A type that is coarser than the arithmetic shows in the errors: they reach
                    # its rounding, but no more than that and those of the arithmetic.
                    if stored in ("f16", "bf16"):
                        self.assertGreater(float(z[4]), 0.7 * ROUNDING[stored])
                        self.assertLess(float(z[4]), 1.01 * ROUNDING[stored] + 1e-5)
                    elif dtype != "f64" or stored == "f32":
                        self.assertGreater(float(z[4]), 0.3 * ROUNDING["f32"])
                        self.assertLess(float(z[4]), 1e-5)
                    else:
                        self.assertLess(float(z[4]), 1e-12)

    def test_16_bit_inputs_are_the_nearest_to_the_numbers_of_float32(self):
        # Products of two 16-bit numbers are exact in float32, so the only error is that of the
        # result, and NumPy knows it. Inputs that were rounded in another way have other errors.
        batch, out_features = 301, 17
        tolerance = 1e-30  # every error counts
        for dtype in ("f16", "bf16"):
            for seed in (SEED, SEED + 1, SEED + 2, 2**64 - 1):
                with self.subTest(dtype=dtype, seed=seed):
                    x = rounded(random_numbers(seed, 0, 0, 1, batch), dtype)
                    w = rounded(random_numbers(seed, 1, -1, 1, out_features), dtype)
                    a = rounded(random_numbers(seed, 2, -1, 1, out_features), dtype)
                    arguments = (
                        "return y, y * 0 + a * a", f"{batch},1,{out_features}", "--dtype", dtype,
                        "-D", "a=random:row", "--seed", seed, "--tolerance", tolerance,
                    )
                    shown = self.table(self.check(*arguments))
                    for line, exact in zip(shown, (np.outer(x, w), np.tile(a * a, (batch, 1)))):
                        error = np.abs(rounded(exact, dtype) - exact)
                        size = np.abs(exact)
                        relative = error[size > tolerance] / size[size > tolerance]
                        self.assertEqual(line[3:5], [f"{error.max():.3e}", f"{relative.max():.3e}"])
                        violations = np.count_nonzero(error > tolerance + tolerance * size)
                        self.assertEqual(int(line[5]), violations)
                    # In float64 nothing is lost.
                    done = self.check(*arguments, "--output-dtype", "f64")
                    self.assert_passes(done)
                    for line in self.table(done):
                        self.assertEqual(line[3:], ["0.000e+00", "0.000e+00", "0"])

    def test_the_tolerance_that_was_used(self):
        done = self.check("y", "5,6,7", "--tolerance", "0.25")
        self.assertIn(b"(tolerance: 0.25 absolute + relative)", done.stdout)
        done = self.check(
            "exp(y)", "64,99,65", "--dtype", "f16", "--tolerance", "1e-4", "--seed", SEED
        )
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 1, text)
        self.assertRegex(text, r"failed: [1-9]\d* elements outside the tolerance \(0.0001 abs")
        # Indices are not rounded, whatever the results are stored in.
        done = self.check("argmax(y, dim=1)", "5,6,7", "--dtype", "f64", "--output-dtype", "f16")
        self.assert_passes(done)
        self.assertIn(b"(tolerance: 1e-11 absolute", done.stdout)

    def test_several_results(self):
        done = self.check("z = y + 1; return z, sum(z, dim=1)", "7,11,5")
        self.assert_passes(done)
        self.assertIn(" 35 ", done.stdout.decode())
        self.assertIn(" 7 ", done.stdout.decode())

    def test_empty_and_single_sizes(self):
        for shape in ("3,0,4", "0,3,4", "3,4,0", "0,0,0", "3,4,1", "1,4,3", "3,1,4"):
            with self.subTest(shape=shape):
                self.assert_passes(self.check("relu(y + b) - 1", shape, "-D", "b=random:row"))

    def test_special_scalars(self):
        for value in ("inf", "-inf", "nan"):
            with self.subTest(value=value):
                self.assert_passes(self.check("min(y, c)", "5,6,7", "-D", f"c={value}"))

    def test_absurd_tolerance_fails(self):
        done = self.check("exp(y)", "64,999,65", "--tolerance", "1e-12", "--seed", SEED)
        self.assertEqual(done.returncode, 1, done.stdout.decode())
        self.assertEqual(done.stderr, b"")
        self.assertIn(b"failed", done.stdout)

    def test_seed(self):
        first = self.check("y", "9,100,8", "--seed", "7").stdout
        self.assertEqual(first, self.check("y", "9,100,8", "--seed", "7").stdout)
        self.assertIn(b"seed 7", first)
        fresh = {self.check("y", "2,2,2").stdout.split(b"seed ")[1].split()[0] for _ in range(3)}
        self.assertEqual(len(fresh), 3)

    def test_layout_and_threads(self):
        self.assert_passes(self.check("y + 1", "9,10,8", "--layout", "column", "--threads", "1"))


class BenchTest(CommandTest):
    def bench(self, *arguments):
        return self.command(
            "bench", "min(y + bias, c) - c", "--shape", "16,32,64", "-D", "c=2", "-D",
            "bias=random:row", "--repeat", "3", "--warm-up", "1", *arguments,
        )

    def test_text(self):
        done = self.bench()
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(done.stderr, b"")
        for word in ("GFLOP/s", "GB/s", "seed", "median", "bare GEMM"):
            self.assertIn(word, done.stdout.decode())

    def test_json(self):
        done = self.bench("--json", "--check", "--seed", str(2**64 - 1))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(done.stderr, b"")
        report = json.loads(done.stdout)
        self.assertEqual(report["shape"], {"batch": 16, "in_features": 32, "out_features": 64})
        self.assertEqual(report["seed"], 2**64 - 1)
        seconds = report["seconds"]
        self.assertEqual(len(seconds["samples"]), 3)
        self.assertEqual(seconds["median"], sorted(seconds["samples"])[1])
        self.assertLessEqual(seconds["minimum"], seconds["lower_quartile"])
        self.assertLessEqual(seconds["upper_quartile"], seconds["maximum"])
        self.assertEqual(report["gemm_flops"], 2 * 16 * 32 * 64)
        self.assertGreater(report["limit"]["share_of_bare_gemm"], 0)
        self.assertTrue(report["passed"])
        self.assertEqual(report["checks"][0]["elements"], 16 * 64)
        self.assertEqual(report["checks"][0]["violations"], 0)

    def test_dtypes_in_json(self):
        inputs = 16 * 32 + 64 * 32 + 64
        for dtype, output, tolerance, size, output_size in (
            ("f32", None, 1e-4, 4, 4), ("f16", None, 1e-2, 2, 2), ("bf16", "f32", 1e-2, 2, 4),
            ("f32", "f16", 1e-2, 4, 2), ("f64", "f32", 1e-4, 8, 4),
        ):
            with self.subTest(dtype=dtype, output=output):
                done = self.bench(
                    "--json", "--check", "--dtype", dtype,
                    *(("--output-dtype", output) if output else ()),
                )
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                report = json.loads(done.stdout)
                self.assertEqual(report["dtype"], NAMES[dtype])
                self.assertEqual(
                    [result["dtype"] for result in report["results"]], [NAMES[output or dtype]]
                )
                self.assertEqual([check["tolerance"] for check in report["checks"]], [tolerance])
                self.assertTrue(report["passed"])
                self.assertEqual(report["minimum_bytes"], size * inputs + output_size * 16 * 64)
        done = self.bench("--json", "--check", "--tolerance", "0.5")
        self.assertEqual(json.loads(done.stdout)["checks"][0]["tolerance"], 0.5)

    def test_dtypes_in_text(self):
        done = self.bench("--check", "--dtype", "bf16", "--output-dtype", "f16")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        text = done.stdout.decode()
        self.assertIn("M=16 K=32 N=64, bfloat16 to float16, backend ", text)
        self.assertIn("passed (tolerance: 0.01 absolute + relative)", text)

    def test_check_fails(self):
        done = self.bench("--check", "--tolerance", "1e-12")
        self.assertEqual(done.returncode, 1, done.stdout.decode())

    def test_empty_sizes(self):
        for shape in ("0,3,4", "3,0,4", "3,4,0"):
            with self.subTest(shape=shape):
                done = self.command(
                    "bench", "y", "--shape", shape, "--repeat", "1", "--warm-up", "0", "--json"
                )
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                json.loads(done.stdout)

    def test_progress_on_a_terminal_only(self):
        # A sample takes at least 20 ms, so that the progress has to be shown.
        work = (
            "bench", "gelu(y)", "--shape", "8,8,8", "--repeat", "60", "--backend", BACKEND
        )
        piped = postlude(*work)
        self.assertEqual(piped.returncode, 0)
        self.assertEqual(piped.stderr, b"")
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [str(POSTLUDE), *work], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave
        )
        os.close(slave)
        shown = b""
        try:
            while part := os.read(master, 65536):
                shown += part
        except OSError:  # the terminal is closed
            pass
        os.close(master)
        out = process.stdout.read()
        process.stdout.close()
        self.assertEqual(process.wait(), 0, out)
        self.assertNotIn(b"measuring", out)
        self.assertIn(b"measuring, sample", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)


class UsageTest(CommandTest):
    def test_version(self):
        done = postlude("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout.decode(), r"^postlude \d+\.\d+\.\d+\n$")

    def test_help(self):
        for command in ((), ("run",), ("check",), ("explain",), ("bench",), ("backends",)):
            with self.subTest(command=command):
                done = postlude(*command, "--help")
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                self.assertEqual(done.stderr, b"")
                self.assertIn(b"Usage", done.stdout)
        self.assertIn(b"A vector is always a row", postlude("run", "--help").stdout)

    def test_dtypes_are_listed(self):
        for command in ("check", "explain", "bench"):
            done = postlude(command, "y", "--shape", "2,3,4", "--dtype", "f8")
            self.assert_refused(done, "--dtype", "f8", *DTYPES)
        for command in ("run", "check", "explain", "bench"):
            self.assertIn(b"--output-dtype", postlude(command, "--help").stdout)

    def test_bad_usage(self):
        shape = ("--shape", "2,3,4")
        for arguments in (
            (), ("fly",), ("run",), ("run", "y"), ("run", "y", "--x", "x.npy"), ("check", "y"),
            ("check", *shape), ("check", "y", *shape, "--unknown"), ("check", "y", "z", *shape),
            ("check", "y", *shape, "--backend", "abacus"), ("check", "y", *shape, "--seed", "-1"),
            ("check", "y", *shape, "--seed", "x"), ("check", "y", *shape, "--dtype", "f8"),
            ("check", "y", *shape, "--dtype", "float16"), ("bench", "y", *shape, "--dtype", "i64"),
            ("explain", "y", *shape, "--output-dtype", "i64"),
            ("check", "y", *shape, "--output-dtype", ""),
            ("run", "y", "--x", "x.npy", "--w", "w.npy", "--dtype", "bf16"),
            ("run", "y", "--x", "x.npy", "--w", "w.npy", "--output-dtype", "f8"),
            ("check", "y", *shape, "--tolerance", "0"), ("check", "y", *shape, "--tolerance", "-1"),
            ("check", "y", *shape, "--tolerance", "nan"), ("bench", "y", *shape, "--repeat", "0"),
            ("check", "y", *shape, "--threads", "-1"), ("check", "y", *shape, "--layout", "ring"),
            ("run", "y", "--x", "x.npy", "--w", "w.npy", "--compute", "f16"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(postlude(*arguments, cwd=self.folder))

    def test_bad_shapes(self):
        for shape in (
            "", "1", "1,2", "1,2,3,4", "1,2,", ",1,2", "1,2,x", "1, 2,3", "-1,2,3", "1,-2,3",
            "1.5,2,3", "1,2,3 ", "99999999999999999999,1,1", "9223372036854775807,2,2",
            "4294967296,4294967296,4294967296", "1,2,0x3",
        ):
            with self.subTest(shape=shape):
                self.assert_refused(postlude("check", "y", f"--shape={shape}"))

    def test_too_much_memory(self):
        done = postlude("check", "y", "--shape", "1000000000,1000000,1000000000")
        self.assert_refused_after_the_seed(done)

    def assert_refused_after_the_seed(self, done):
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(b"postlude: error: ", done.stderr)

    def test_bad_definitions(self):
        for value in (
            "c", "c=", "=2", "2c=1", "c d=1", "c=random:heap", "c=random:", "c=1e999", "c=2x",
            "c=missing.npy", "y=1",
        ):
            with self.subTest(value=value):
                done = postlude("explain", "y", "--shape", "2,3,4", "-D", value)
                self.assert_refused(done)
        done = postlude("explain", "y + c", "--shape", "2,3,4", "-D", "c=1", "-D", "c=2")
        self.assert_refused(done, "twice")
        self.layer()
        done = postlude(
            "run", "y + c", "--x", "x.npy", "--w", "w.npy", "-D", "c=random:row", cwd=self.folder
        )
        self.assert_refused(done, "random")


def main():
    global POSTLUDE, EXAMPLES
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    POSTLUDE = pathlib.Path(sys.argv[1]).resolve()
    EXAMPLES = pathlib.Path(sys.argv[2]).resolve()
    print(f"seed {SEED} (POSTLUDE_TEST_SEED={SEED} repeats it)", flush=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])


if __name__ == "__main__":
    main()
