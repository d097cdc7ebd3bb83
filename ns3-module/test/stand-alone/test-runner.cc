// SPDX-License-Identifier: GPL-2.0-only
//
// ns-3's test runner with this module's suites, for where the module is built without an ns-3
// tree. Takes that runner's options, such as --suite=NAME and --list; newer ones want a suite.

#include "ns3/test.h"

int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
