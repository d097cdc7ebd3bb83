// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A k = 12 fat-tree of 432 hosts with global routing, whose tables have thousands of routes.

#include "fat-tree.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const FatTree tree(script, Script::DEFAULT);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return tree.Run(script);
}
