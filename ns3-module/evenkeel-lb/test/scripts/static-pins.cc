// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A leaf-spine whose script pins the path to each host with a static route, above global routing.

#include "script.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const uint32_t spineCount = 4;
    const uint32_t hostsPerLeaf = 4;
    NodeContainer leaves(2);
    NodeContainer spines(spineCount);
    NodeContainer hosts(2 * hostsPerLeaf);
    script.InstallInternet(NodeContainer(leaves, spines, hosts));

    PointToPointHelper p2p;
    p2p.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    p2p.SetChannelAttribute("Delay", StringValue("1us"));
    Ipv4AddressHelper network("10.0.0.0", "255.255.255.0");
    std::vector<Ipv4Address> addresses;
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        auto link = p2p.Install(hosts.Get(host), leaves.Get(host / hostsPerLeaf));
        addresses.push_back(network.Assign(link).GetAddress(0));
        network.NewNetwork();
    }
    // Next hop of each leaf at each spine.
    std::vector<std::vector<Ipv4Address>> nextHops(leaves.GetN());
    for (uint32_t leaf = 0; leaf < leaves.GetN(); leaf++)
    {
        for (uint32_t spine = 0; spine < spineCount; spine++)
        {
            auto link = p2p.Install(leaves.Get(leaf), spines.Get(spine));
            nextHops[leaf].push_back(network.Assign(link).GetAddress(1));
            network.NewNetwork();
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Ipv4StaticRoutingHelper pins;
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        const uint32_t leaf = 1 - host / hostsPerLeaf;
        const uint32_t spine = host % 2;
        // Interface 0 is the loopback; the interfaces to hosts and then to spines follow.
        pins.GetStaticRouting(leaves.Get(leaf)->GetObject<Ipv4>())
            ->AddHostRouteTo(addresses[host], nextHops[leaf][spine], 1 + hostsPerLeaf + spine);
    }
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        const uint32_t to = (host + hostsPerLeaf) % hosts.GetN();
        script.AddFlow(hosts.Get(host), hosts.Get(to), addresses[to], 100);
    }
    return script.Run(Seconds(1));
}
