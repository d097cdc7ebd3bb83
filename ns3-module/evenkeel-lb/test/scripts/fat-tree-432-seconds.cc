// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// The network of fat-tree-432 with as many packets in 6 s of simulated time, not 30 ms: what the
// module does at intervals shows in its time.

#include "fat-tree.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const FatTree tree(script, Script::DEFAULT);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return tree.Run(script, MilliSeconds(200));
}
