#!/usr/bin/env python3
"""The checker of rooms accepts a good tree and names each fault of a broken one."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import check_rooms

# A tree in which every room exists and every include is allowed.
GOOD = {
    "include/postlude/error.hpp": "#include <string>\n",
    "include/postlude/plan.hpp": "#include <Kokkos_Core.hpp>\n#include <postlude/error.hpp>\n",
    "include/postlude/version.hpp.in": "",
    "capi/include/postlude.h": "#include <stddef.h>\n#include <stdint.h>\n",
    "capi/src/guard.hpp": "",
    "capi/src/plan.cpp": '#include <postlude.h>\n#include <postlude/plan.hpp>\n#include "compat/kokkos.hpp"\n#include "guard.hpp"\n',
    "src/compat/kokkos.hpp": "#include <Kokkos_Core.hpp>\n",
    "src/expression/parser.hpp": "#include <postlude/error.hpp>\n",
    "src/program/program.hpp": '#include "expression/parser.hpp"\n',
    "src/evaluator/evaluate.hpp": "#include <cmath>\nPOSTLUDE_FUNCTION int f();\n",
    "src/plan/planner.hpp": '#include "evaluator/evaluate.hpp"\n#include "program/program.hpp"\n',
    "src/plan/planner.cpp": '#include "plan/planner.hpp"\n',
    "src/gemm/engine.cpp": '#include "compat/kokkos.hpp"\n#include "plan/planner.hpp"\n',
    "src/sweep/sweep.hpp": '#include <Kokkos_Core.hpp>\n#include "evaluator/evaluate.hpp"\n',
    "src/execute/execute.hpp": '#include "sweep/sweep.hpp"\n#include <postlude/plan.hpp>\n',
    "src/reference/reference.cpp": '#include "execute/execute.hpp"\n',
    "src/cli/main.cpp": '#include <fmt/format.h>\n#include <postlude.h>\n#include "progress.hpp"\n',
    "src/cli/progress.hpp": "",
}


class CheckRooms(unittest.TestCase):
    def check(self, changes):
        """Exit code and violations for the good tree with some of its files replaced."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**GOOD, **changes}.items():
                if text is not None:
                    path = Path(root, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output), self.assertRaises(SystemExit) as exit:
                check_rooms.main([root])
            return exit.exception.code, output.getvalue().splitlines()[:-1]

    def assert_broken(self, file, text, line, *words):
        """Replacing `file` breaks exactly one rule, reported for `line` in these words."""
        code, violations = self.check({file: text})
        self.assertEqual(len(violations), 1, violations)
        self.assertTrue(violations[0].startswith(f"{file}:{line}: "), violations)
        for word in words:
            self.assertIn(word, violations[0])
        self.assertEqual(code, 1)

    def test_a_tree_in_order_is_accepted(self):
        self.assertEqual(self.check({}), (0, []))

    def test_a_room_must_not_include_any_later_room(self):
        rooms = ["expression", "evaluator", "program", "plan", "gemm", "sweep", "execute", "reference", "cli"]
        for earlier, room in enumerate(rooms[:-2]):
            for later in rooms[earlier + 1 :]:
                with self.subTest(room=room, later=later):
                    changes = {f"src/{room}/new.cpp": f'\n#include "{later}/new.hpp"\n', f"src/{later}/new.hpp": ""}
                    code, violations = self.check(changes)
                    self.assertEqual(code, 1)
                    self.assertIn(f"src/{room}/new.cpp:2: ", violations[0])
                    self.assertIn(f"{later} is a later room", violations[0])

    def test_only_rooms_that_call_kokkos_include_compat(self):
        self.assert_broken("src/reference/reference.cpp", '#include "compat/kokkos.hpp"\n', 1, "compat")

    def test_compat_includes_no_room(self):
        self.assert_broken("src/compat/kokkos.hpp", '#include "gemm/engine.hpp"\n', 1, "does not exist")
        self.assert_broken("src/compat/kokkos.hpp", '#include "expression/parser.hpp"\n', 1, "apart")

    def test_the_host_rooms_never_include_kokkos_or_cuda(self):
        for room in ["expression", "program", "evaluator", "plan"]:
            for header in ["Kokkos_Core.hpp", "KokkosBlas3_gemm.hpp", "cuda_runtime.h", "cublasLt.h"]:
                with self.subTest(room=room, header=header):
                    self.assert_broken(f"src/{room}/new.hpp", f"#include <{header}>\n", 1, header)

    def test_the_host_rooms_never_reach_kokkos_through_a_public_header(self):
        self.assert_broken(
            "src/expression/lexer.cpp", "#include <postlude/plan.hpp>\n", 1, "<postlude/plan.hpp> -> <Kokkos_Core.hpp>"
        )

    def test_the_host_rooms_never_reach_kokkos_through_another_header_of_theirs(self):
        code, violations = self.check({"src/program/program.hpp": "#include <postlude/plan.hpp>\n"})
        self.assertEqual(code, 1)
        # The header itself, and everyone who includes it.
        self.assertEqual(len(violations), 3, violations)
        self.assertIn('"program/program.hpp" -> <postlude/plan.hpp> -> <Kokkos_Core.hpp>', violations[1])

    def test_the_host_rooms_do_not_name_what_they_cannot_include(self):
        self.assert_broken("src/plan/planner.cpp", "\nint n = Kokkos::num_threads();\n", 2, "Kokkos")
        self.assert_broken("src/evaluator/evaluate.hpp", "KOKKOS_FUNCTION int f();\n", 1, "KOKKOS_FUNCTION")

    def test_the_planner_has_no_device_code(self):
        self.assert_broken("src/plan/planner.cpp", "__device__ int f();\n", 1, "device")
        self.assert_broken("src/plan/planner.cpp", "POSTLUDE_FUNCTION int f();\n", 1, "device")

    def test_the_oracle_does_not_use_what_it_judges(self):
        self.assert_broken("src/reference/reference.cpp", '#include "evaluator/evaluate.hpp"\n', 1, "independently")

    def test_the_command_includes_the_c_interface_and_its_own_files_only(self):
        for include in ["<postlude/plan.hpp>", '"plan/planner.hpp"', "<Kokkos_Core.hpp>", '"postlude.h"', '"gone.hpp"']:
            with self.subTest(include=include):
                self.assert_broken("src/cli/main.cpp", f"#include {include}\n", 1, include)

    def test_the_c_header_includes_two_headers_of_the_c_library_only(self):
        for include in ["<stdbool.h>", "<Kokkos_Core.hpp>", "<postlude/error.hpp>", '"stdint.h"']:
            with self.subTest(include=include):
                self.assert_broken("capi/include/postlude.h", f"#include {include}\n", 1, include)

    def test_the_c_interface_is_written_on_the_public_headers(self):
        self.assert_broken("capi/src/plan.cpp", '#include "plan/planner.hpp"\n', 1, "public headers")

    def test_a_public_header_includes_no_private_one(self):
        self.assert_broken("include/postlude/error.hpp", "#include <plan/planner.hpp>\n", 1, "private")
        self.assert_broken("include/postlude/plan.hpp", '#include "error.hpp"\n', 1, "<>")
        self.assert_broken("include/postlude/error.hpp", "#include <postlude/gone.hpp>\n", 1, "does not exist")

    def test_an_include_in_src_names_its_room(self):
        self.assert_broken("src/plan/planner.cpp", '#include "planner.hpp"\n', 1, "name a room")
        self.assert_broken("src/plan/planner.cpp", '#include "../gemm/engine.cpp"\n', 1, "name a room")
        self.assert_broken("src/plan/planner.cpp", '#include "plan/gone.hpp"\n', 1, "does not exist")

    def test_a_new_folder_has_to_be_given_its_place(self):
        self.assert_broken("src/rewrite/rewrite.cpp", "", 1, "ROOMS")

    def test_includes_in_comments_do_not_count(self):
        text = '// #include "gemm/engine.hpp"\n/*\n#include <Kokkos_Core.hpp>\n*/\nconst char* s = "//"; // Kokkos::View\n'
        self.assertEqual(self.check({"src/plan/planner.cpp": text}), (0, []))

    def test_includes_that_only_one_backend_compiles_count(self):
        text = '#ifdef KOKKOS\n#  include "sweep/sweep.hpp"\n#endif\n'
        code, violations = self.check({"src/gemm/engine.cpp": text})
        self.assertEqual(code, 1)
        self.assertIn("src/gemm/engine.cpp:2: ", violations[0])

    def test_a_tree_without_rooms_is_not_accepted(self):
        message, _ = self.check({name: None for name in GOOD})
        self.assertIn("has no room", message)  # a text given to exit() is printed, and the code is 1


if __name__ == "__main__":
    unittest.main()
