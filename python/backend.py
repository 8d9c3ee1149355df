"""Builds the wheel of rdna3 (PEP 517): librdna3 by CMake, and the package around it.

RDNA3_BUILD names a build folder whose librdna3.so is taken as it is; "system" leaves it out
(a package of a distribution depends on another with the library); else one is made in
build/wheel. Needs no package from the network. SPDX-License-Identifier: MIT
"""
import base64
import hashlib
import io
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def _version():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as f:
        return re.search(r"project\(rdna3 VERSION ([\d.]+)", f.read())[1]


def _make(command):
    try:
        done = subprocess.run(command, check=False, stdout=sys.stderr)
    except FileNotFoundError:
        raise SystemExit("error: rdna3 is built with cmake, ninja and a C compiler; Debian: "
                         "apt-get install cmake ninja-build gcc libc6-dev") from None
    if done.returncode:
        raise SystemExit(f"error: {' '.join(command)}: exit status {done.returncode}")


def _library():
    build = os.environ.get("RDNA3_BUILD")
    if build == "system":
        return None
    if not build:
        build = os.path.join(ROOT, "build", "wheel")
        for command in (["cmake", "-S", ROOT, "-B", build, "-G", "Ninja",
                         "-DCMAKE_BUILD_TYPE=Release"],
                        ["cmake", "--build", build, "--target", "librdna3"]):
            _make(command)
    path = os.path.join(build, "lib", "librdna3.so")
    if not os.path.exists(path):
        raise SystemExit(f"error: RDNA3_BUILD: there is no {path}")
    with open(path, "rb") as f:
        return f.read()


def _metadata():
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    return (f"Metadata-Version: 2.1\nName: rdna3\nVersion: {_version()}\n"
            "Summary: Emulator of AMD's RDNA3 GPUs (gfx1100): assemble, run, time and check "
            "kernels\nLicense: MIT\nRequires-Python: >=3.9\n"
            f"Description-Content-Type: text/markdown\n\n{readme}")


def _package():
    folder = os.path.join(HERE, "rdna3")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), "rb") as f:
                yield "rdna3/" + name, f.read()


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


_ENTRY_POINTS = "[pytest11]\nrdna3 = rdna3.pytest_plugin\n"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Without it pip builds everything in order to know the name."""
    info = f"rdna3-{_version()}.dist-info"
    os.makedirs(os.path.join(metadata_directory, info))
    for name, text in (("METADATA", _metadata()), ("entry_points.txt", _ENTRY_POINTS)):
        with open(os.path.join(metadata_directory, info, name), "w", encoding="utf-8") as f:
            f.write(text)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version = _version()
    library = _library()
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"py3-none-{platform}" if library else "py3-none-any"
    info = f"rdna3-{version}.dist-info"
    files = [*_package(), *([("rdna3/librdna3.so", library)] if library else []),
             (f"{info}/METADATA", _metadata().encode()),
             (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: rdna3\n"
              f"Root-Is-Purelib: {str(not library).lower()}\nTag: {tag}\n".encode()),
             (f"{info}/entry_points.txt", _ENTRY_POINTS.encode())]
    name = f"rdna3-{version}-{tag}.whl"
    record = ""
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w",
                         zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files:
            wheel.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
            record += f"{path},sha256={digest.decode()},{len(data)}\n"
        wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    version = _version()
    names = subprocess.run(["git", "-C", ROOT, "ls-files"], check=True, capture_output=True,
                           text=True).stdout.split("\n")
    name = f"rdna3-{version}.tar.gz"
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz") as tar:
        for path in names:
            if path and not path.startswith("tests/data/"):
                tar.add(os.path.join(ROOT, path), f"rdna3-{version}/{path}", recursive=False)
        data = _metadata().encode()
        member = tarfile.TarInfo(f"rdna3-{version}/PKG-INFO")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    return name
