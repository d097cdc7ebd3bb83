// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// Racks under two spines with nix-vector routing, which finds one shortest path for each packet.

#include "leaf-spine.h"

#include "ns3/nix-vector-helper.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const LeafSpine<Ipv4Family> site(script, Ipv4NixVectorHelper(), {3, 2, 7, "1us", 7});
    return site.Run(script, 50);
}
