#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Packages the modules for ns-3, in one of three forms:

    ns3-module/package.py                      # evenkeel-ns3-VERSION.tar.gz: both modules, the Rust
                                               # library with all crates that it needs; builds
                                               # without a network
    ns3-module/package.py --branch ns3-lb --module evenkeel-lb
                                               # a branch and a tag with a module at its top, for
                                               # git clone -b ns3-lb URL contrib/evenkeel-lb
    ns3-module/package.py --wheel              # a wheel with the built Rust library, which builds
                                               # without Rust; --machine for another one

It takes what is committed, and needs git, cargo and Python 3.11 or later.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
# The crates that the Rust library is built from: the bridge, and those that it depends on.
CRATES = ["bridge", "engine", "formats", "observe", "scenario", "study", "traffic", "worlds"]
CRATE = ["Cargo.toml", "Cargo.lock", "LICENSE", "cpp-bridge", *(f"rust/{name}" for name in CRATES)]
# The headers of the modules that the library includes.
CRATE += [
    f"ns3-module/evenkeel-fabric/model/{name}.h"
    for name in ["fabric-packet", "fabric-records", "fabric-verbs"]
]
# Folders that are not needed to build it.
UNUSED = ["rust/bridge/tests", "cpp-bridge/astra-sim"]
FEATURES = {
    "rust/bridge/Cargo.toml": ["chooser", "bridge", "experiments"],
    "rust/engine/Cargo.toml": ["fabric"],
    "rust/worlds/Cargo.toml": ["fabric"],
}
MODULES = ["evenkeel-lb", "evenkeel-fabric"]
# Machines for which a wheel can be built, by their names in wheels. The C++ of the library needs
# the C++ library of GCC 11, which came with glibc 2.34.
GLIBC = "manylinux_2_34"
MACHINES = ["x86_64", "aarch64"]
MAIN = '''"""Prints the folder with evenkeel's modules for ns-3: evenkeel-lb and evenkeel-fabric."""

import pathlib

print(pathlib.Path(__file__).resolve().parent)
'''


def run(*command, **options):
    """Runs a command and returns what it prints."""
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options)
    return done.stdout


def export(paths, to):
    """Copies committed files into a folder."""
    to.mkdir(parents=True, exist_ok=True)
    archive = to / "export.tar"
    run("git", "-C", str(PACKAGE), "archive", "-o", str(archive), "HEAD", *paths)
    with tarfile.open(archive) as files:
        files.extractall(to, filter="data")
    archive.unlink()


def workspace(manifest):
    """The root's manifest without its own package: the workspace, its lints and its profiles."""
    sections = re.split(r"(?m)^(?=\[)", manifest)
    kept = [each for each in sections if re.match(r"\[(workspace\.|profile\.[a-z]+\])", each)]
    # Crates that a member depends on are members by themselves.
    head = '[workspace]\nmembers = ["rust/bridge"]\nresolver = "3"\n\n'
    return head + "".join(kept)


def reduced(manifest, chosen):
    """The manifest with some features alone: no tests, and no crates for other features."""
    features = tomllib.loads(manifest).get("features", {})
    needed = {each.removeprefix("dep:") for name in chosen for each in features[name]}
    kept = []
    for section in re.split(r"(?m)^(?=\[)", manifest):
        head = section.split("\n", 1)[0]
        if head.startswith("[[") or head.endswith("dev-dependencies]"):
            continue
        if head == "[features]":
            # The others keep their names, which the sources mention, and turn nothing on.
            parts = {name: features[name] if name in chosen else [] for name in features}
            lines = [f"{name} = {part!r}".replace("'", '"') for name, part in parts.items()]
            section = "\n".join([head, *lines, "\n"])
        elif head.endswith("dependencies]"):
            section = "\n".join(
                line
                for line in section.split("\n")
                if "optional = true" not in line or line.split(" ")[0] in needed
            )
        kept.append(section)
    return "".join(kept)


def stage_modules(folder):
    """Writes the modules into a folder, without the Rust library."""
    export(["ns3-module"], folder)
    for name in [*MODULES, "CMakeLists.txt", "LICENSE", "NS3-VERSION", "README.md"]:
        (folder / "ns3-module" / name).rename(folder / name)
    shutil.rmtree(folder / "ns3-module")
    for module in MODULES:
        for name in ["LICENSE", "NS3-VERSION"]:
            shutil.copy(folder / name, folder / module)


def stage_crate(crate):
    """Writes the Rust library into a folder, with copies of all crates that it needs."""
    export(CRATE, crate)
    for unused in UNUSED:
        shutil.rmtree(crate / unused)
    root = crate / "Cargo.toml"
    root.write_text(workspace(root.read_text()))
    for manifest in crate.glob("rust/*/Cargo.toml"):
        chosen = FEATURES.get(str(manifest.relative_to(crate)), [])
        manifest.write_text(reduced(manifest.read_text(), chosen))
    # cargo prints the lines that make it use the copies.
    configuration = run("cargo", "vendor", "--versioned-dirs", "vendor", cwd=crate)
    (crate / ".cargo").mkdir()
    (crate / ".cargo/config.toml").write_text(configuration)
    run("cargo", "metadata", "--offline", "--locked", "--format-version=1", cwd=crate)


def build_library(machine, target_folder, to):
    """Builds the Rust library with cargo, and copies it and its headers into a folder."""
    sources = ["rust", "cpp-bridge", "ns3-module"]
    changed = run("git", "-C", str(PACKAGE), "status", "--porcelain", *sources)
    if changed:
        sys.exit(f"error: commit first, since the library is built from the files here:\n{changed}")
    command = ["cargo", "rustc", "--locked", "--package", "evenkeel-bridge", "--lib"]
    command += ["--crate-type", "staticlib", "--no-default-features", "--features", "bridge"]
    command += ["--release", "--target-dir", str(target_folder)]
    built = target_folder
    if machine != platform.machine():
        command += ["--target", f"{machine}-unknown-linux-gnu"]
        built = target_folder / f"{machine}-unknown-linux-gnu"
    environment = {**os.environ}
    environment.pop("CARGO_TARGET_DIR", None)
    run(*command, cwd=PACKAGE, env=environment)
    bridge = built / "cxxbridge"
    for header in bridge.rglob("*.h"):
        copy = to / "include" / header.relative_to(bridge)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(header, copy)
    shutil.copy(PACKAGE / "cpp-bridge/evenkeel.h", to / "include")
    shutil.copy(built / "release/libevenkeel_bridge.a", to)


def wheel(folder, machine, version, out):
    """Makes a wheel of a folder of Python packages."""
    tag = f"py3-none-{GLIBC}_{machine}"
    information = folder / f"evenkeel_ns3-{version}.dist-info"
    information.mkdir()
    shutil.copy(PACKAGE / "ns3-module/LICENSE", information)
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: evenkeel-ns3\nVersion: {version}\n"
        "Summary: Load balancing and RDMA for ns-3: modules in C++ with a built library\n"
        "License: GPL-2.0-only\nRequires-Python: >=3.9\n"
        "Description-Content-Type: text/markdown\n\n"
        + (PACKAGE / "ns3-module/README.md").read_text()
    )
    (information / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: package.py\nRoot-Is-Purelib: false\n"
        f"Tag: {tag}\n"
    )
    path = out / f"evenkeel_ns3-{version}-{tag}.whl"
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            name = str(file.relative_to(folder))
            content = file.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            record.append(f"{name},sha256={digest},{len(content)}")
            archive.writestr(name, content)
        name = f"{information.name}/RECORD"
        archive.writestr(name, "\n".join([*record, f"{name},,", ""]))
    return path


def make_wheel(temporary, given, version):
    """Builds the Rust library, and makes a wheel with it and the modules."""
    folder = temporary / "wheel"
    package = folder / "evenkeel_ns3"
    stage_modules(package)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(MAIN)
    prebuilt = package / "evenkeel-lb/prebuilt"
    prebuilt.mkdir()
    target_folder = (given.target_dir or temporary / "target").resolve()
    build_library(given.machine, target_folder, prebuilt)
    return wheel(folder, given.machine, version, given.out)


def commit(folder, branch, version):
    """Commits a folder to a branch of this repository, as its whole tree, and tags the commit."""
    git = ["git", "-C", str(PACKAGE)]
    environment = {**os.environ, "GIT_INDEX_FILE": str(folder.parent / "index")}
    environment["GIT_WORK_TREE"] = str(folder)
    environment["GIT_DIR"] = run(*git, "rev-parse", "--absolute-git-dir").strip()
    run("git", "add", "--all", "--force", ".", cwd=folder, env=environment)
    tree = run("git", "write-tree", cwd=folder, env=environment).strip()
    source = run(*git, "rev-parse", "HEAD").strip()
    before = subprocess.run([*git, "rev-parse", "-q", "--verify", branch], capture_output=True)
    parents = ["-p", before.stdout.decode().strip()] if before.returncode == 0 else []
    message = f"evenkeel {version} for ns-3, from {source}"
    made = run(*git, "commit-tree", tree, *parents, "-m", message).strip()
    # A tag that exists stays, and git says so.
    run(*git, "tag", f"{branch}-{version}", made)
    run(*git, "update-ref", f"refs/heads/{branch}", made)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), metavar="FOLDER")
    parser.add_argument("--branch", metavar="NAME", help="commit to a branch instead")
    parser.add_argument("--module", choices=MODULES, help="of the branch")
    parser.add_argument("--wheel", action="store_true", help="make a wheel instead")
    here = platform.machine()
    parser.add_argument("--machine", choices=MACHINES, default=here, help="of the wheel")
    parser.add_argument("--target-dir", type=pathlib.Path, metavar="FOLDER", help="cargo's")
    given = parser.parse_args()
    if bool(given.branch) != bool(given.module) or (given.branch and given.wheel):
        parser.error("--branch NAME goes with --module MODULE, and with nothing else")
    version = tomllib.loads((PACKAGE / "Cargo.toml").read_text())["package"]["version"]
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        temporary = pathlib.Path(temporary)
        if given.wheel:
            print(make_wheel(temporary, given, version))
            return
        folder = temporary / f"evenkeel-ns3-{version}"
        stage_modules(folder)
        if given.module != "evenkeel-fabric":
            stage_crate(folder / "evenkeel-lb/crate")
        if given.branch:
            print(f"branch {given.branch}: {commit(folder / given.module, given.branch, version)}")
            return
        archive = given.out / f"{folder.name}.tar.gz"
        with tarfile.open(archive, "w:gz") as files:
            files.add(folder, folder.name)
        print(archive)


if __name__ == "__main__":
    main()
