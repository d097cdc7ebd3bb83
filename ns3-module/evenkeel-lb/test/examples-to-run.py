#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

# A list of C++ examples to run in order to ensure that they remain buildable and runnable over
# time. Each tuple in the list contains
#
#     (example_name, do_run, do_valgrind_run).
#
# See test.py for more information.
cpp_examples = [
    ("evenkeel-tcp-leaf-spine --policy=none", "True", "False"),
    ("evenkeel-tcp-leaf-spine --policy=flowlet", "True", "False"),
    ("evenkeel-tcp-leaf-spine --policy=drill --bytes=200000", "True", "True"),
]

# A list of Python examples to run in order to ensure that they remain runnable over time.
python_examples = [
    ("evenkeel-policies.py", "True", "False"),
]
