#!/usr/bin/env python3
"""Describes the crates of a release: packaging/crates.py licences|sbom

`licences` prints the licence texts that binaries must carry. `sbom` prints a bill of materials
(CycloneDX 1.5, JSON). Both cover the program and the Python module on all platforms, without
crates that only run during a build.
"""

import json
import pathlib
import subprocess
import sys

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
# Names of files with licences and copyright notices.
NOTICES = ["LICEN[CS]E*", "COPYING*", "COPYRIGHT*", "NOTICE*"]
FONT = "rust/draw/plot/font/Arimo-OFL.txt"
HEAD = """What this build contains of other projects, with the licences.

The standard library of Rust: MIT OR Apache-2.0, (c) The Rust Project Contributors.
musl, in static programs for Linux: MIT, (c) 2005-2020 Rich Felker, et al.
"""


def cargo(*arguments):
    """Runs cargo and returns what it prints."""
    command = ["cargo", *arguments, "--locked"]
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, cwd=PACKAGE)
    return done.stdout


def linked():
    """Returns what cargo knows of each linked crate, and the dependencies between crates."""
    known = json.loads(cargo("metadata", "--format-version=1"))
    released = ["--package=evenkeel", "--package=evenkeel-python", "--features=evenkeel/parquet"]
    edges = ["--edges=normal,no-proc-macro", "--target=all", "--prefix=none", "--format={p}"]
    tree = cargo("tree", *released, *edges).splitlines()
    names = {tuple(line.split()[:2]) for line in tree if line}
    crates = [it for it in known["packages"] if (it["name"], "v" + it["version"]) in names]
    return sorted(crates, key=lambda it: (it["name"], it["version"])), known["resolve"]["nodes"]


def licences(crates):
    """Returns the notices of all foreign crates. Equal texts appear once."""
    texts = {(PACKAGE / FONT).read_text(): ["Arimo, the font of PNG and PDF files"]}
    for crate in crates:
        if crate["source"] is None:
            continue
        folder = pathlib.Path(crate["manifest_path"]).parent
        files = {file for name in NOTICES for file in folder.rglob(name) if file.is_file()}
        title = f"{crate['name']} {crate['version']} ({crate['license']})"
        if not files:
            authors = ", ".join(crate["authors"]) or crate["repository"]
            texts.setdefault(f"No licence file. Authors: {authors}\n", []).append(title)
        for file in sorted(files):
            texts.setdefault(file.read_text(errors="replace").strip() + "\n", []).append(title)
    rule = "-" * 80 + "\n"
    lists = ["\n".join(sorted(set(titles))) for titles in texts.values()]
    parts = [f"{rule}{titles}\n\n{text}" for titles, text in zip(lists, texts)]
    return HEAD + "".join(parts)


def component(crate):
    """Returns the entry of a crate in the bill of materials."""
    reference = f"pkg:cargo/{crate['name']}@{crate['version']}"
    return {
        "type": "application" if crate["name"] == "evenkeel" else "library",
        "bom-ref": reference,
        "name": crate["name"],
        "version": crate["version"],
        # A slash is the older form of OR.
        "licenses": [{"expression": crate["license"].replace("/", " OR ")}],
        "purl": reference,
    }


def sbom(crates, nodes):
    """Returns the bill of materials."""
    references = {crate["id"]: component(crate)["bom-ref"] for crate in crates}
    dependencies = []
    for node in nodes:
        if node["id"] in references:
            needed = sorted({references[it] for it in node["dependencies"] if it in references})
            dependencies.append({"ref": references[node["id"]], "dependsOn": needed})
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(next(it for it in crates if it["name"] == "evenkeel"))},
        "components": [component(it) for it in crates if it["name"] != "evenkeel"],
        "dependencies": dependencies,
    }
    return json.dumps(bill, indent=1) + "\n"


def main():
    if sys.argv[1:] not in [["licences"], ["sbom"]]:
        sys.exit("usage: packaging/crates.py licences|sbom")
    crates, nodes = linked()
    sys.stdout.write(licences(crates) if sys.argv[1] == "licences" else sbom(crates, nodes))


if __name__ == "__main__":
    main()
