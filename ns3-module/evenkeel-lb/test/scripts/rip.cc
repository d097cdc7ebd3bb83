// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A leaf-spine with RIP. ns-3's RIP keeps one route to each network, so no packet has a choice.

#include "leaf-spine.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const LeafSpine<Ipv4Family> site(script, Script::RIP, {2, 3, 3});
    // RIP needs some seconds to find all routes.
    return site.Run(script, 100, Seconds(20));
}
