// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A k = 12 fat-tree of 432 hosts with a static route over each shortest path to each host: up to
// 2,556 routes in a switch.

#include "fat-tree.h"

using namespace ns3;

namespace
{

/**
 * @brief Adds a route to a host.
 * @param from the end of a link through which packets leave
 * @param to the other end
 * @param host address of the host
 */
void
AddRoute(const FatTree::End& from, const FatTree::End& to, Ipv4Address host)
{
    Ipv4StaticRoutingHelper().GetStaticRouting(from.ip)->AddHostRouteTo(host,
                                                                        to.address,
                                                                        from.interface);
}

} // namespace

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const FatTree tree(script, Script::STATIC);
    const uint32_t half = FatTree::HALF;
    for (uint32_t host = 0; host < tree.m_hostLinks.size(); host++)
    {
        const FatTree::Link& link = tree.m_hostLinks[host];
        const Ipv4Address address = link.lower.address;
        Ipv4StaticRoutingHelper()
            .GetStaticRouting(link.lower.ip)
            ->SetDefaultRoute(link.upper.address, link.lower.interface);
        for (uint32_t number = 0; number < tree.m_edgeLinks.size(); number++)
        {
            // Both arrays are indexed by a switch of a pod and its port.
            const FatTree::Link& edge = tree.m_edgeLinks[number];
            const FatTree::Link& core = tree.m_coreLinks[number];
            const bool isInPod = number / (half * half) == host / (half * half);
            if (number / half != host / half)
            {
                AddRoute(edge.lower, edge.upper, address);
            }
            else
            {
                AddRoute(edge.upper, edge.lower, address);
            }
            if (isInPod)
            {
                AddRoute(core.upper, core.lower, address);
            }
            else
            {
                AddRoute(core.lower, core.upper, address);
            }
        }
    }
    return tree.Run(script);
}
