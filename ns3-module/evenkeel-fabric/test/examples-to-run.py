#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

# A list of C++ examples to run in order to ensure that they remain buildable and runnable over
# time. Each tuple in the list contains
#
#     (example_name, do_run, do_valgrind_run).
#
# See test.py for more information.
cpp_examples = [
    ("evenkeel-all-to-all", "True", "False"),
    ("evenkeel-classes", "True", "True"),
    ("evenkeel-port-script --network=fabric", "True", "False"),
    ("evenkeel-port-script --network=point-to-point --bytes=100000", "True", "False"),
    ("evenkeel-rdma-and-tcp", "True", "False"),
    ("evenkeel-rdma-and-tcp --tcp=ns3::TcpNewReno --bytes=400000", "True", "True"),
    ("evenkeel-scenario", "True", "True"),
    ("evenkeel-speed --leaves=2 --spines=2 --hostsPerLeaf=2 --bytes=100000", "True", "False"),
    ("evenkeel-two-hosts", "True", "True"),
    ("evenkeel-verbs --policy=reps", "True", "True"),
]

# A list of Python examples to run in order to ensure that they remain runnable over time.
python_examples = []
