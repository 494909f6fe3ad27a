#!/usr/bin/env python3
"""Makes a virtual environment with the packages of a requirements file, unless it is there already.

    make_environment.py FOLDER REQUIREMENTS

The packages come from where pip gets them, PyPI by default. A second run does nothing, without network.
"""

import pathlib
import shutil
import subprocess
import sys


def main(folder, requirements):
    folder = pathlib.Path(folder)
    wanted = pathlib.Path(requirements).read_text(encoding="utf-8") + sys.version
    stamp = folder / "complete"  # written last: without it the environment does not count
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return "the packages are in place"
    shutil.rmtree(folder, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", str(folder)], check=False)
    if made.returncode != 0:
        sys.exit("a virtual environment cannot be made; on Debian: apt-get install python3-venv")
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    installed = subprocess.run([*pip, "--only-binary", ":all:", "-r", requirements], check=False)
    if installed.returncode != 0:
        sys.exit(
            "pip could not install the packages (above); they come from PyPI, or from what pip is set to"
        )
    stamp.write_text(wanted, encoding="utf-8")
    return "the packages were installed"


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
