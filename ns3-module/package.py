#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes an archive, or a branch, of the module that ns-3 takes as contrib/evenkeel, and that builds
without a network: the Rust library is in its folder crate/, with all crates that it needs.

    ns3-module/package.py                          # evenkeel-ns3-VERSION.tar.gz
    ns3-module/package.py --branch ns3-app         # a branch with these files, for
                                                   # git clone -b ns3-app URL contrib/evenkeel

It takes what is committed, and needs git, cargo and Python 3.11 or later.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import tomllib

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
# The crates that the Rust library is built from: the bridge, and those that it depends on.
CRATES = ["bridge", "engine", "formats", "observe", "scenario", "study", "traffic", "worlds"]
CRATE = ["Cargo.toml", "Cargo.lock", "LICENSE", "cpp-bridge", *(f"rust/{name}" for name in CRATES)]
# Folders that are not needed to build it.
UNUSED = ["rust/bridge/tests", "cpp-bridge/astra-sim"]
# The headers of the module that the library includes.
HEADERS = ["fabric-packet.h", "fabric-records.h", "fabric-verbs-records.h"]
FEATURES = {
    "rust/bridge/Cargo.toml": ["bridge"],
    "rust/engine/Cargo.toml": ["fabric"],
    "rust/worlds/Cargo.toml": ["fabric"],
}


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
            lines = [f"{name} = {features[name]!r}".replace("'", '"') for name in chosen]
            section = "\n".join([head, *lines, "\n"])
        elif head.endswith("dependencies]"):
            section = "\n".join(
                line
                for line in section.split("\n")
                if "optional = true" not in line or line.split(" ")[0] in needed
            )
        kept.append(section)
    return "".join(kept)


def stage(folder):
    """Writes the files of the archive into a folder."""
    export(["ns3-module"], folder)
    for each in (folder / "ns3-module").iterdir():
        each.rename(folder / each.name)
    (folder / "ns3-module").rmdir()
    crate = folder / "crate"
    export(CRATE, crate)
    for unused in UNUSED:
        shutil.rmtree(crate / unused)
    headers = crate / "ns3-module/model"
    headers.mkdir(parents=True)
    for header in HEADERS:
        shutil.copy(folder / "model" / header, headers)
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


def commit(folder, branch, version):
    """Commits a folder to a branch of this repository, as its whole tree."""
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
    run(*git, "update-ref", f"refs/heads/{branch}", made)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), metavar="FOLDER")
    parser.add_argument("--branch", metavar="NAME", help="commit to a branch instead")
    given = parser.parse_args()
    version = tomllib.loads((PACKAGE / "Cargo.toml").read_text())["package"]["version"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / f"evenkeel-ns3-{version}"
        stage(folder)
        if given.branch:
            print(f"branch {given.branch}: {commit(folder, given.branch, version)}")
            return
        given.out.mkdir(parents=True, exist_ok=True)
        archive = given.out / f"{folder.name}.tar.gz"
        with tarfile.open(archive, "w:gz") as files:
            files.add(folder, folder.name)
        print(archive)


if __name__ == "__main__":
    main()
