// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A k = 12 fat-tree of 432 hosts with global routing, whose tables have thousands of routes.

#include "script.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const uint32_t half = 6;
    const uint32_t pods = 2 * half;
    NodeContainer cores(half * half);
    NodeContainer aggregations(pods * half);
    NodeContainer edges(pods * half);
    NodeContainer hosts(pods * half * half);
    script.InstallInternet(NodeContainer(cores, aggregations, edges, hosts));
    PointToPointHelper p2p;
    p2p.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    p2p.SetChannelAttribute("Delay", StringValue("1us"));
    Ipv4AddressHelper network("10.0.0.0", "255.255.255.252");
    const auto connect = [&](Ptr<Node> a, Ptr<Node> b) {
        const Ipv4InterfaceContainer ends = network.Assign(p2p.Install(a, b));
        network.NewNetwork();
        return ends.GetAddress(0);
    };
    std::vector<Ipv4Address> addresses;
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        addresses.push_back(connect(hosts.Get(host), edges.Get(host / half)));
    }
    for (uint32_t number = 0; number < pods * half; number++)
    {
        const uint32_t pod = number / half;
        for (uint32_t port = 0; port < half; port++)
        {
            connect(edges.Get(number), aggregations.Get(pod * half + port));
            connect(aggregations.Get(number), cores.Get(number % half * half + port));
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        const uint32_t to = (host + 7 * half * half) % hosts.GetN();
        script.AddFlow(hosts.Get(host), hosts.Get(to), addresses[to], 25, MilliSeconds(1));
    }
    return script.Run(MilliSeconds(30));
}
