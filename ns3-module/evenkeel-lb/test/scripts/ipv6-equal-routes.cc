// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// An IPv6 leaf-spine with a static route over each spine to each host.

#include "script.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const uint32_t hostsPerLeaf = 4;
    const uint32_t spineCount = 3;
    NodeContainer leaves(2);
    NodeContainer spines(spineCount);
    NodeContainer hosts(2 * hostsPerLeaf);
    script.InstallInternet(NodeContainer(leaves, spines, hosts), Script::IPV6);
    PointToPointHelper p2p;
    p2p.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    p2p.SetChannelAttribute("Delay", StringValue("1us"));
    Ipv6AddressHelper network("fd00::", Ipv6Prefix(64));
    const auto connect = [&](Ptr<Node> a, Ptr<Node> b) {
        Ipv6InterfaceContainer ends = network.Assign(p2p.Install(a, b));
        network.NewNetwork();
        ends.SetForwarding(0, true);
        ends.SetForwarding(1, true);
        return std::vector<Ipv6Address>{ends.GetAddress(0, 1), ends.GetAddress(1, 1)};
    };
    const auto routesOf = [](Ptr<Node> node) {
        return Ipv6StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv6>());
    };
    std::vector<Ipv6Address> addresses;
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        const auto ends = connect(hosts.Get(host), leaves.Get(host / hostsPerLeaf));
        addresses.push_back(ends[0]);
        routesOf(hosts.Get(host))->SetDefaultRoute(ends[1], 1);
    }
    for (uint32_t link = 0; link < leaves.GetN() * spineCount; link++)
    {
        const uint32_t leaf = link / spineCount;
        const uint32_t spine = link % spineCount;
        const auto ends = connect(leaves.Get(leaf), spines.Get(spine));
        for (uint32_t host = 0; host < hosts.GetN(); host++)
        {
            if (host / hostsPerLeaf == leaf)
            {
                routesOf(spines.Get(spine))->AddHostRouteTo(addresses[host], ends[0], 1 + leaf);
            }
            else
            {
                // Interface 0 is the loopback; the interfaces to hosts and then to spines follow.
                routesOf(leaves.Get(leaf))
                    ->AddHostRouteTo(addresses[host], ends[1], 1 + hostsPerLeaf + spine);
            }
        }
    }
    // In the first second, IPv6 checks addresses for duplicates.
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        const uint32_t to = (host + hostsPerLeaf) % hosts.GetN();
        script.AddFlow(hosts.Get(host),
                       hosts.Get(to),
                       addresses[to],
                       100,
                       MicroSeconds(100),
                       Seconds(2));
    }
    return script.Run(Seconds(3));
}
