// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A leaf-spine with OLSR, whose table has one route to each address. The policy is above it, among
// the shortest paths.

#include "leaf-spine.h"

#include "ns3/olsr-helper.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const LeafSpine<Ipv4Family> site(script, OlsrHelper(), {2, 2, 2});
    // OLSR needs some seconds to find all routes.
    return site.Run(script, 100, Seconds(30));
}
