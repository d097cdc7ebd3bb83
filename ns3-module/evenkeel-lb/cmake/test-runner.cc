// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// ns-3's test runner with the suites of this module, for builds without an ns-3 tree. It accepts
// the options of ns-3's runner, such as --suite=NAME and --list; newer versions require --suite.

#include "ns3/test.h"

int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
