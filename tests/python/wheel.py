"""`pip install .` into a fresh virtual environment, without network; the package works there
and nowhere else. wheel.py SOURCE BUILD. SPDX-License-Identifier: MIT"""
import os
import subprocess
import sys
import tempfile

source, build = sys.argv[1:3]
env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "RDNA3_LIBRARY")}
env.update(RDNA3_BUILD=build, PYTHONDONTWRITEBYTECODE="1", PIP_DISABLE_PIP_VERSION_CHECK="1",
           PIP_NO_INDEX="1")


def run(*command, **kw):
    r = subprocess.run(command, capture_output=True, text=True, env=env, check=False, **kw)
    if r.returncode:
        sys.exit(f"{' '.join(command)}: exit {r.returncode}\n{r.stdout}{r.stderr}")
    return r.stdout


with tempfile.TemporaryDirectory() as folder:
    venv = os.path.join(folder, "venv")
    made = subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True,
                          text=True, check=False)
    if made.returncode:
        print("skipped: python cannot make virtual environments (python3-venv)")
        sys.exit(77)
    python = os.path.join(venv, "bin", "python")
    run(python, "-m", "pip", "install", "--quiet", source)
    where = run(python, "-c", "import rdna3; print(rdna3.__file__, rdna3.__version__)",
                cwd=folder)
    if not where.startswith(venv):
        sys.exit(f"not the installed package: {where}")
    run(python, os.path.join(source, "tests/python/test_package.py"), source, cwd=folder)
    files = run(python, "-m", "pip", "show", "-f", "rdna3")
    if "rdna3/librdna3.so" not in files or "entry_points.txt" not in files:
        sys.exit(files)
    run(python, "-m", "pip", "uninstall", "--quiet", "-y", "rdna3")
    # what is missing is told at once, and in the step that builds, not where pip asks for a name
    bare = {**env, "PATH": os.path.join(venv, "bin")}
    del bare["RDNA3_BUILD"]
    r = subprocess.run([python, "-m", "pip", "install", source], capture_output=True, text=True, env=bare, check=False)
    told = r.stdout + r.stderr
    if r.returncode == 0 or "apt-get install cmake ninja-build gcc" not in told or \
            "Building wheel" not in told or "Traceback" in told:
        sys.exit(f"without cmake: exit {r.returncode}\n{told}")
    left = [name for at, _, names in os.walk(venv) for name in names if "rdna3" in name]
    if left:
        sys.exit(f"left behind: {left}")
