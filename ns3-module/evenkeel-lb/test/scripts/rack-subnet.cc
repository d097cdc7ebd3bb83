// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// Racks in which one /24 spans the separate links of all hosts, with global routing alone. Static
// routing would send the packets to all of them over the first link.

#include "leaf-spine.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const LeafSpine<Ipv4Family> site(script, Script::GLOBAL_ONLY, {3, 2, 7, "1us", 7});
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return site.Run(script, 50);
}
