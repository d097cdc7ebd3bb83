#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs collectives of ASTRA-sim on evenkeel's network and compares their times with those of
ASTRA-sim's analytical networks.

    acceptance.py PROGRAM [--evenkeel EVENKEEL] [--only TEXT] [--most-gib GIB]

PROGRAM is evenkeel-astra-sim. Prints a Markdown page (docs/reproduce/astra-sim.txt has one); the status is 1 if a
time is outside of its band. With --evenkeel, which is the command line of evenkeel, it and ASTRA-sim
also send the same messages, whose times are compared to the picosecond.
"""

import argparse
import csv
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PAYLOAD = 4_096
# Bytes per nanosecond of a link of 400 Gbps.
RATE = 50
CHUNKS = 4

# Collective, algorithm, bytes, NPUs, chunks; cycles of the analytical networks, congestion-unaware
# and congestion-aware; None where they were not run.
CASES = [
    ("all-reduce", "ring", 64 * KIB, 8, 4, 58_924, 61_164),
    ("all-reduce", "ring", 64 * KIB, 32, 4, 253_000, 255_480),
    ("all-reduce", "ring", 64 * KIB, 128, 4, 1_028_232, 1_030_264),
    ("all-reduce", "ring", 64 * KIB, 512, 4, 4_128_920, None),
    ("all-reduce", "ring", 64 * KIB, 1_024, 4, None, None),
    ("all-reduce", "ring", 16 * MIB, 8, 4, 671_228, 1_258_388),
    ("all-reduce", "ring", 16 * MIB, 32, 4, 930_660, 1_580_668),
    ("all-reduce", "ring", 16 * MIB, 128, 4, 1_722_160, 2_387_640),
    ("all-reduce", "ring", 16 * MIB, 512, 4, 4_825_924, None),
    ("all-reduce", "ring", 3 * GIB, 8, 4, 118_084_216, 230_827_056),
    ("all-reduce", "ring", 3 * GIB, 32, 4, 130_923_704, 255_746_072),
    ("all-reduce", "ring", 3 * GIB, 128, 4, 134_860_832, 262_703_096),
    ("all-reduce", "ring", 3 * GIB, 512, 4, 138_752_892, None),
    ("all-reduce", "direct", 64 * KIB, 8, 4, 8_452, 10_692),
    ("all-reduce", "direct", 64 * KIB, 32, 4, 8_200, 10_640),
    ("all-reduce", "direct", 64 * KIB, 128, 4, 8_136, 10_128),
    ("all-reduce", "direct", 16 * MIB, 8, 4, 95_924, 683_084),
    ("all-reduce", "direct", 16 * MIB, 32, 4, 30_060, 680_068),
    ("all-reduce", "direct", 16 * MIB, 128, 4, 13_600, 679_080),
    ("all-reduce", "direct", 3 * GIB, 8, 4, 16_869_208, 129_612_048),
    ("all-to-all", "direct", 64 * KIB, 8, 4, 4_240, 5_360),
    ("all-to-all", "direct", 64 * KIB, 32, 4, 4_120, 5_360),
    ("all-to-all", "direct", 64 * KIB, 128, 4, 4_088, 5_104),
    ("all-to-all", "direct", 16 * MIB, 8, 4, 46_020, 339_600),
    ("all-to-all", "direct", 16 * MIB, 32, 4, 14_564, 339_568),
    ("all-to-all", "direct", 16 * MIB, 128, 4, 6_700, 339_440),
    ("all-to-all", "direct", 3 * GIB, 8, 4, 8_057_140, 64_428_560),
    ("send", "next rank", 3 * GIB, 4, 4, 64_425_509, 128_850_018),
    ("all-gather", "ring", 3 * GIB, 4, 1, 193_276_567, 386_550_094),
]

COLLECTIVES = {"all-reduce": 0, "all-gather": 2, "all-to-all": 6, "reduce-scatter": 7}
COLLECTIVE_NODE, SEND_NODE, RECEIVE_NODE, COMPUTE_NODE, LOAD_NODE = 7, 5, 6, 4, 2
# Fields of AttributeProto.
INT64, UINT32, UINT64, BOOL = 9, 11, 13, 27
FINISHED = re.compile(r"sys\[(\d+)\] finished, (\d+) cycles")


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def attribute(name, field, value):
    return text(10, text(1, name) + number(field, value))


def node(kind, attributes, index=0, needs=()):
    """A node of a Chakra trace; attributes are name: (field of AttributeProto, value)."""
    of = b"".join(attribute(name, field, value) for name, (field, value) in attributes.items())
    needs = b"".join(number(5, need + 1) for need in needs)
    first = number(1, index + 1) + text(2, "node") + number(3, kind) + needs
    return first + (of if "is_cpu_op" in attributes else attribute("is_cpu_op", BOOL, 0) + of)


def send_node(peer, tag, size, *place):
    attributes = {"comm_dst": (UINT32, peer), "comm_tag": (UINT32, tag), "comm_size": (INT64, size)}
    return node(SEND_NODE, attributes, *place)


def receive_node(peer, tag, size, *place):
    attributes = {"comm_src": (UINT32, peer), "comm_tag": (UINT32, tag), "comm_size": (INT64, size)}
    return node(RECEIVE_NODE, attributes, *place)


def file_of(nodes):
    messages = [text(1, "0.0.4")] + nodes
    return b"".join(varint(len(message)) + message for message in messages)


def trace(case, rank):
    """The trace of a rank: one collective, or a send to the next rank and a receive."""
    collective, _, size, npus = case[:4]
    if collective in COLLECTIVES:
        kind = {"comm_type": (INT64, COLLECTIVES[collective]), "comm_size": (INT64, size)}
        return file_of([node(COLLECTIVE_NODE, kind)])
    before, after = (rank - 1) % npus, (rank + 1) % npus
    return file_of([send_node(after, 5, size), receive_node(before, 5, size, 1)])


def topology(hosts, leaves=1, spines=1):
    return (f'[topology]\nkind = "leaf-spine"\nleaves = {leaves}\nspines = {spines}\n'
            f'hosts_per_leaf = {hosts // leaves}\nhost_rate = "400Gbps"\n'
            f'fabric_rate = "400Gbps"\ndelay = "500ns"\n')


def system(algorithm, chunks):
    names = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all"]
    return json.dumps({
        "scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1,
        "preferred-dataset-splits": chunks, "collective-optimization": "localBWAware",
        "local-mem-bw": 1600, "boost-mode": 0, "roofline-enabled": 0, "peak-perf": 900,
        **{f"{name}-implementation": [algorithm] for name in names},
    })


class Run:
    """A run of ASTRA-sim in a folder, whose inputs are in it."""

    def __init__(self, program, folder, more=()):
        before = time.monotonic()
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.process = subprocess.run(
            [program, "--workload-configuration=trace", "--system-configuration=system.json",
             "--remote-memory-configuration=memory.json",
             "--network-configuration=network.toml", *more],
            cwd=folder, capture_output=True, text=True)
        self.wall = time.monotonic() - before
        self.cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - used
        found = FINISHED.findall(self.process.stdout)
        self.cycles = {int(rank): int(cycles) for rank, cycles in found}
        self.status = self.process.returncode


def prepare(folder, network, system_text):
    (folder / "network.toml").write_text(network)
    (folder / "system.json").write_text(system_text)
    (folder / "memory.json").write_text('{"memory-type": "NO_MEMORY_EXPANSION"}')


def band(case):
    """The least and the most cycles that are right; None where there is no measure."""
    collective, algorithm, size, npus, chunks, unaware, aware = case
    if algorithm != "direct":
        packets = size / (npus if collective == "all-reduce" else 1) / chunks / PAYLOAD
        most = 1.06 if packets >= 16 else 1.10
        return unaware and (unaware, unaware * most)
    if size < 16 * MIB:
        return None
    phases = 2 if collective == "all-reduce" else 1
    least = phases * (npus - 1) * size / npus / RATE
    return max(0.90 * aware, least), 1.12 * aware


def size_text(size):
    for unit, name in [(GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")]:
        if size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size:,} B"


def grouped(cycles):
    return "" if cycles is None else f"{cycles:,}"


def run_case(program, case):
    """A row of the table, and whether it is right."""
    collective, algorithm, size, npus, chunks, unaware, aware = case
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kind = algorithm if algorithm in ("ring", "direct") else "ring"
        prepare(folder, topology(npus) + '[policy]\nname = "ecmp"\n', system(kind, chunks))
        for rank in range(npus):
            (folder / f"trace.{rank}.et").write_bytes(trace(case, rank))
        run = Run(program, folder)
    last = max(run.cycles.values(), default=0)
    limits = band(case)
    right = run.status == 0 and len(run.cycles) == npus
    verdict = "" if right else f"status {run.status}, {len(run.cycles)} ranks finished"
    if right and limits:
        right = limits[0] <= last <= limits[1]
        verdict = f"{'in' if right else 'OUTSIDE OF'} {limits[0]:,.0f} to {limits[1]:,.0f}"
    if not right:
        print(run.process.stderr, file=sys.stderr)
    cells = [collective, f"{algorithm}, {chunks} chunks", size_text(size), str(npus),
             grouped(unaware), grouped(aware), grouped(last), verdict or "all finished",
             f"{run.cpu:.1f} s"]
    return "| " + " | ".join(cells) + " |", right


def flows(path):
    """Of each flow its ends, length and times, in order."""
    with open(path, newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        columns = ["src", "dst", "bytes", "start_ns", "delivered_ns", "completed_ns"]
        return sorted(tuple(row[column] for column in columns) for row in rows)


class Pattern:
    """Messages that ASTRA-sim and evenkeel send at the same times: a rank sends its next message
    when the one before is acknowledged and what it waits for is delivered."""

    def __init__(self, ranks):
        # Of each rank, operations: ("send" or "recv", peer, bytes, operations that it needs).
        self.operations = [[] for _ in range(ranks)]
        self.last_send = [()] * ranks

    def send(self, rank, peer, size, needs=()):
        """A message, and its receive, of which the place at the receiver is returned."""
        own = self.operations[rank]
        own.append(("send", peer, size, (*self.last_send[rank], *needs)))
        self.last_send[rank] = (len(own) - 1,)
        theirs = self.operations[peer]
        theirs.append(("recv", rank, size, ()))
        return len(theirs) - 1

    def goal(self):
        lines = [f"num_ranks {len(self.operations)}"]
        for rank, operations in enumerate(self.operations):
            lines.append(f"rank {rank} {{")
            for place, (kind, peer, size, needs) in enumerate(operations):
                of = "to" if kind == "send" else "from"
                lines.append(f"l{place}: {kind} {size}b {of} {peer} tag 0")
                lines.extend(f"l{place} requires l{need}" for need in needs)
            lines.append("}")
        return "\n".join(lines) + "\n"

    def traces(self):
        made = {"send": send_node, "recv": receive_node}
        return [file_of([made[kind](peer, 0, size, place, needs)
                         for place, (kind, peer, size, needs) in enumerate(operations)])
                for operations in self.operations]


def shift(ranks, size):
    pattern = Pattern(ranks)
    for rank in range(ranks):
        pattern.send(rank, (rank + 5) % ranks, size)
    return pattern


def incast(ranks, size):
    pattern = Pattern(ranks)
    for rank in range(ranks - 1):
        pattern.send(rank, ranks - 1, size)
    return pattern


def ring(ranks, size):
    """The steps of a ring all-reduce."""
    pattern = Pattern(ranks)
    received = [()] * ranks
    for _ in range(2 * (ranks - 1)):
        before, received = received, [()] * ranks
        for rank in range(ranks):
            peer = (rank + 1) % ranks
            received[peer] = (pattern.send(rank, peer, size // ranks, before[rank]),)
    return pattern


def all_to_all(ranks, size):
    pattern = Pattern(ranks)
    for distance in range(1, ranks):
        for rank in range(ranks):
            pattern.send(rank, (rank + distance) % ranks, size // ranks)
    return pattern


PATTERNS = [(shift, 1_000_000), (incast, 1_000_000), (ring, 4 * MIB), (all_to_all, 4 * MIB)]


def run_twin(program, evenkeel, pattern, size, policy):
    """A row: messages as a GOAL schedule by the command line, and as traces by ASTRA-sim."""
    name = f"{pattern.__name__} of {size_text(size)}, {policy}"
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        network = topology(16, leaves=4, spines=4) + f'[policy]\nname = "{policy}"\n'
        prepare(folder, network, system("ring", 1))
        made = pattern(16, size)
        (folder / "all.goal").write_text(made.goal())
        (folder / "alone.toml").write_text(network + '[workload]\nkind = "goal"\n'
                                           'file = "all.goal"\n')
        for rank, of_rank in enumerate(made.traces()):
            (folder / f"trace.{rank}.et").write_bytes(of_rank)
        subprocess.run([evenkeel, "run", "alone.toml", "--out", "alone"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        run = Run(program, folder, ["--results-folder=ranks"])
        if run.status != 0:
            print(run.process.stderr, file=sys.stderr)
            return f"| {name} | status {run.status} | | | |", False
        both = [flows(folder / results / "flows.csv") for results in ("alone", "ranks")]
    same = sum(1 for a, b in zip(*both) if a == b)
    last = [max(float(flow[-1]) for flow in of) for of in both]
    row = f"| {name} | {len(both[0])} | {same} | {last[0]:,.3f} | {last[1]:,.3f} |"
    return row, both[0] == both[1]


class Ending:
    """An input, and how it has to end."""

    def __init__(self, name, status, says, **changes):
        self.name, self.status, self.says = name, status, says
        self.traces = changes.get("traces")
        self.network = changes.get("network", "")
        self.memory = changes.get("memory", '{"memory-type": "NO_MEMORY_EXPANSION"}')
        self.more = changes.get("more", [])


def one_way(send, receive):
    """Traces of two ranks with a send of rank 0, a receive of rank 1, or one of them."""
    none = node(COLLECTIVE_NODE, {"comm_type": (INT64, 5), "comm_size": (INT64, 1)})
    first = send_node(1, 5, MIB) if send else none
    second = receive_node(0, 5, MIB) if receive else none
    return [file_of([first]), file_of([second])]


def before_a_ring(kind, attributes):
    """Traces of two ranks: a node, and an all-reduce after it."""
    ring = {"comm_type": (INT64, COLLECTIVES["all-reduce"]), "comm_size": (INT64, MIB)}
    first = node(kind, attributes)
    return [file_of([first, node(COLLECTIVE_NODE, ring, 1, [0])])] * 2


OUTAGE = '[policy]\nname = "ecmp"\n[[failure]]\nlink = "host1-leaf0"\nat = "1us"\nuntil = "100ms"\n'
REMOTE = '{"memory-type": "PER_NPU_MEMORY_EXPANSION", "remote-mem-latency": 100, "remote-mem-bw": 50}'
CUT = '[[failure]]\nlink = "host1-leaf0"\nat = "1us"\n'
ENDINGS = [
    Ending("a ring of two", 0, "0 dropped"),
    Ending("an unknown option", 2, "bandwidth", more=["--bandwidth=50"]),
    Ending("no trace of rank 1", 2, "ASTRA-sim exited", traces=one_way(1, 1)[:1]),
    Ending("a trace that is none", 2, "error", traces=[b"not a trace", b"not a trace"]),
    Ending("an unknown policy", 2, "did you mean 'spray'?", more=["--policy=sprey"]),
    Ending("dimensions of more NPUs than hosts", 2, "more NPUs than the network's 2 hosts",
           more=["--logical-topology-configuration=dims.json"]),
    Ending("a receive without a send", 1, "rank 1 waits to receive 1 of 1048576 B from rank 0",
           traces=one_way(0, 1)),
    Ending("a send without a receive", 0, "delivered, never received", traces=one_way(1, 0)),
    Ending("a cut link", 1, "rank 0 waits for 1 of 1048576 B to be delivered to rank 1",
           traces=one_way(1, 1), network=CUT),
    Ending("rendezvous, 1 MiB", 0, "0 dropped", traces=one_way(1, 1),
           more=["--rendezvous-protocol=true"]),
    Ending("rendezvous, 3 GiB", 2, "only messages below 2 GiB", more=["--rendezvous-protocol=true"],
           traces=[file_of([send_node(1, 5, 3 * GIB)]), file_of([receive_node(0, 5, 3 * GIB)])]),
    Ending("a send to a rank that does not exist", 2, "sends to rank 7 (tag 5",
           traces=[file_of([send_node(7, 5, MIB)]), one_way(0, 0)[1]]),
    Ending("a computation of the CPU", 0, "2 of 2 ranks finished without",
           traces=before_a_ring(COMPUTE_NODE, {"is_cpu_op": (BOOL, 1)})),
    Ending("a load from remote memory", 0, "2 of 2 ranks finished without", memory=REMOTE,
           traces=before_a_ring(LOAD_NODE, {"tensor_size": (UINT64, MIB)})),
    Ending("an outage of 100 ms", 0, "routing converges after 100.0ms", network=OUTAGE),
    Ending("a scale of communication", 2, "ASTRA-sim ignores it", more=["--comm-scale=2"]),
    Ending("a negative delay", 2, "a factor of 0 or more", more=["--injection-scale=-1"]),
    Ending("no queues", 2, "expected 1 or more", more=["--num-queues-per-dim=0"]),
    Ending("an empty trace", 2, "trace.1.et is empty", traces=[one_way(1, 1)[0], b""]),
    Ending("one algorithm for two dimensions", 2, "1 algorithms for 2 logical dimensions",
           more=["--logical-topology-configuration=two.json"]),
    Ending("a trace that no rank reads", 0, "trace.2.et is not read",
           traces=one_way(1, 1) + one_way(0, 1)[:1]),
]


def run_ending(program, ending):
    """A row: an input, its status, and whether the reason is named."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        prepare(folder, topology(2) + ending.network, system("ring", 1))
        (folder / "memory.json").write_text(ending.memory)
        (folder / "dims.json").write_text('{"logical-dims": ["8", "2"]}')
        (folder / "two.json").write_text('{"logical-dims": ["2", "1"]}')
        ring = ("all-reduce", "ring", MIB, 2)
        traces = ending.traces or [trace(ring, rank) for rank in range(2)]
        for rank, of_rank in enumerate(traces):
            (folder / f"trace.{rank}.et").write_bytes(of_rank)
        run = Run(program, folder, ending.more)
    says = ending.says in run.process.stderr
    finished = len(run.cycles) == 2 if ending.status == 0 else len(run.cycles) < 2
    right = run.status == ending.status and says and finished
    if not right:
        print(run.process.stderr, file=sys.stderr)
    verdict = "right" if right else "WRONG"
    return f"| {ending.name} | {run.status} | `{ending.says}` | {verdict} |", right


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--evenkeel", type=pathlib.Path)
    parser.add_argument("--only", default="", help="rows that have this text")
    parser.add_argument("--most-gib", type=float, default=1e9,
                        help="only rows with at most so many GiB over all NPUs")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    right = True
    print("| collective | algorithm | bytes | NPUs | unaware | aware | evenkeel | band | CPU time |\n"
          "|---|---|---|---|---|---|---|---|---|")
    for case in CASES:
        title = f"{case[0]} {case[1]} {size_text(case[2])} {case[3]}"
        if arguments.only in title and case[2] * case[3] <= arguments.most_gib * GIB:
            row, good = run_case(program, case)
            print(row, flush=True)
            right &= good
    print("\n| input | status | standard error has | |\n|---|---|---|---|")
    for ending in ENDINGS:
        row, good = run_ending(program, ending)
        print(row, flush=True)
        right &= good
    if arguments.evenkeel:
        print("\n| messages | flows | the same to the picosecond | last, evenkeel run (ns) "
              "| last, ASTRA-sim (ns) |\n|---|---|---|---|---|")
        evenkeel = arguments.evenkeel.resolve()
        for pattern, size in PATTERNS:
            for policy in ("ecmp", "spray", "ethereal"):
                row, good = run_twin(program, evenkeel, pattern, size, policy)
                print(row, flush=True)
                right &= good
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\nThe most memory of a run was {peak:,.0f} MiB.")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
