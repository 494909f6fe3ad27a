#!/usr/bin/env python3
"""Runs compare.py, table.py, pictures.py and the PyTorch peer's bookkeeping on the files of perf/examples, whose numbers
are made up. Needs nothing but Python."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def run(script, *arguments):
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def example(name):
    return HERE / "examples" / f"{name}.json"


class Compare(unittest.TestCase):
    def test_noise_is_no_change(self):
        finished = run("compare.py", example("before"), example("noise"))
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("4 of 4 times did not change", finished.stdout)

    def test_a_slower_program_fails(self):
        finished = run("compare.py", example("before"), example("slower"))
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertIn("slower   layers/mish_mish/f32/128x1024x1024, postlude: 5 ms -> 6 ms (+20.0%", finished.stdout)

    def test_a_faster_program_passes(self):
        finished = run("compare.py", example("slower"), example("before"))
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("faster", finished.stdout)

    def test_a_wrong_result_fails(self):
        finished = run("compare.py", example("before"), example("wrong"))
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertIn("wrong", finished.stdout)

    def test_a_measurement_that_is_gone_fails(self):
        data = json.loads(example("before").read_text())
        del data["measurements"][1]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "shorter.json"
            path.write_text(json.dumps(data))
            finished = run("compare.py", example("before"), path)
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertIn("gone", finished.stdout)

    def test_one_peer_alone(self):
        for pattern, code in (("a slow peer", 0), ("a*", 0), ("postlude*", 1)):
            finished = run("compare.py", example("before"), example("slower"), "--peer", pattern)
            self.assertEqual(finished.returncode, code, finished.stdout + finished.stderr)

    def test_files_that_cannot_be_compared(self):
        for other in (example("no_schema"), HERE / "examples" / "absent.json", HERE / "README.md"):
            finished = run("compare.py", example("before"), other)
            self.assertEqual(finished.returncode, 2, finished.stdout)
            self.assertIn(other.name, finished.stderr)

    def test_another_machine_is_refused(self):
        data = json.loads(example("before").read_text())
        data["machine"]["processor"] = "another"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "another.json"
            path.write_text(json.dumps(data))
            self.assertEqual(run("compare.py", example("before"), path).returncode, 2)
            self.assertEqual(run("compare.py", example("before"), path, "--allow-other-machine").returncode, 0)


class Table(unittest.TestCase):
    def test_times_errors_and_absent_peers(self):
        finished = run("table.py", example("before"))
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("| `relu(y + bias) / 2`, f32, 128x1024x1024 | 4 ms ± 0%, 3.1e-07 | 2 ms ± 1%, **2.0e-03** | - |",
                      finished.stdout)
        self.assertIn("| a fast wrong peer | 0.50, 0.50 to 0.50, 1 cases | 1 of 1 |", finished.stdout)
        self.assertIn("a peer that is not there, all cases: it is not installed", finished.stdout)

    def test_a_file_without_the_schema_fails(self):
        finished = run("table.py", example("no_schema"))
        self.assertEqual(finished.returncode, 2)
        self.assertIn("measurement 0, seconds has no 'mad'", finished.stderr)


def with_prepared_weights():
    """before.json, where every program was also measured with prepared weights, in half the time."""
    data = json.loads(example("before").read_text())
    for entry in [entry for entry in data["measurements"] if entry["peer"] == "postlude"]:
        seconds = {name: value / 2 if name in ("median", "minimum", "maximum") else value
                   for name, value in entry["seconds"].items()}
        data["measurements"].append({**entry, "peer": "postlude, prepared weights", "seconds": seconds})
    return data


class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = self.folder / "results.json"
        self.results.write_text(json.dumps(with_prepared_weights()))
        self.readme = self.folder / "README.md"

    def test_the_text_between_the_marks_is_replaced_and_nothing_else(self):
        self.readme.write_text("before\n<!-- measured: begin -->\nstale\n<!-- measured: end -->\nafter\n")
        for _ in range(2):
            finished = run("table.py", self.results, "--readme", self.readme, "--pictures", self.folder / "pictures")
            self.assertEqual(finished.returncode, 0, finished.stderr)
            text = self.readme.read_text()
            self.assertTrue(text.startswith("before\n<!-- measured: begin -->\n"), text)
            self.assertTrue(text.endswith("\n<!-- measured: end -->\nafter\n"), text)
            self.assertNotIn("stale", text)
            self.assertIn("](pictures/roofline.svg)", text)

    def test_prepared_weights_stand_for_postlude_where_they_were_measured(self):
        self.readme.write_text("<!-- measured: begin -->\n<!-- measured: end -->\n")
        self.assertEqual(run("table.py", self.results, "--readme", self.readme).returncode, 0)
        text = self.readme.read_text()
        self.assertIn("Postlude is `postlude, prepared weights`. ", text)
        # The peer takes 2 ms, Postlude 4 ms, and 2 ms with prepared weights.
        self.assertIn("| a fast wrong peer | 1.00 | 1.00 to 1.00 | 1 of 1 |", text)

    def test_a_file_without_the_marks_is_left_as_it_is(self):
        self.readme.write_text("nothing\n")
        self.assertEqual(run("table.py", self.results, "--readme", self.readme).returncode, 2)
        self.assertEqual(self.readme.read_text(), "nothing\n")


def has_matplotlib():
    return subprocess.run([sys.executable, "-c", "import matplotlib"], capture_output=True).returncode == 0


class Pictures(unittest.TestCase):
    @unittest.skipUnless(has_matplotlib(), "Matplotlib is not installed")
    def test_both_are_drawn_in_both_formats(self):
        with tempfile.TemporaryDirectory() as folder:
            finished = run("pictures.py", example("before"), "--output", folder)
            self.assertEqual(finished.returncode, 0, finished.stderr)
            names = sorted(path.name for path in pathlib.Path(folder).iterdir())
        self.assertEqual(names, ["roofline.png", "roofline.svg", "speedups.png", "speedups.svg"])


class Peers(unittest.TestCase):
    def test_cases_are_those_of_the_suite(self):
        sys.path.insert(0, str(HERE / "peers"))
        import programs
        for size in ("full", "short", "tiny"):
            names = [case.name for case in programs.cases(size)]
            self.assertEqual(len(names), len(set(names)))
            self.assertEqual(sum(name.startswith("layers/") for name in names), 27)


if __name__ == "__main__":
    unittest.main()
