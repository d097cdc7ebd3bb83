// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A leaf-spine with RIP. ns-3's RIP keeps one route to each network, so no packet has a choice.

#include "script.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const uint32_t hostsPerLeaf = 3;
    NodeContainer leaves(2);
    NodeContainer spines(3);
    NodeContainer hosts(2 * hostsPerLeaf);
    script.InstallInternet(NodeContainer(leaves, spines, hosts), Script::RIP);
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
    for (uint32_t leaf = 0; leaf < leaves.GetN(); leaf++)
    {
        for (uint32_t spine = 0; spine < spines.GetN(); spine++)
        {
            network.Assign(p2p.Install(leaves.Get(leaf), spines.Get(spine)));
            network.NewNetwork();
        }
    }
    // RIP needs some seconds to find all routes.
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        const uint32_t to = (host + hostsPerLeaf) % hosts.GetN();
        script.AddFlow(hosts.Get(host),
                       hosts.Get(to),
                       addresses[to],
                       100,
                       MicroSeconds(100),
                       Seconds(20));
    }
    return script.Run(Seconds(21));
}
