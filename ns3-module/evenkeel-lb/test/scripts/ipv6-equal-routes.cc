// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// An IPv6 leaf-spine with a static route over each spine to each host.

#include "leaf-spine.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const LeafSpine<Ipv6Family> site(script, Script::IPV6, {2, 3, 4});
    site.AddRoutesOfOnePath();
    for (uint32_t host = 0; host < site.m_hosts.GetN(); host++)
    {
        for (uint32_t spine = 0; spine < site.m_spines.GetN(); spine++)
        {
            site.AddRoutesOver(spine, host);
        }
    }
    // In the first second, IPv6 checks addresses for duplicates.
    return site.Run(script, 100, Seconds(2));
}
