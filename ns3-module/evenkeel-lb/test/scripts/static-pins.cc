// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A leaf-spine whose script pins the path to each host with a static route, above global routing.

#include "leaf-spine.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const LeafSpine<Ipv4Family> site(script, Script::DEFAULT, {2, 4, 4});
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    for (uint32_t host = 0; host < site.m_hosts.GetN(); host++)
    {
        site.AddRoutesOver(host % 2, host);
    }
    return site.Run(script, 100);
}
