// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// Racks of hosts on a shared channel each, with two routers whose links to the spines are CSMA
// channels too. Global routing describes such channels as networks, without routes to hosts.

#include "script.h"

#include "ns3/csma-helper.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    // Otherwise queues for address resolution overflow: they hold three packets for up to 10 ms.
    Config::SetDefault("ns3::ArpL3Protocol::RequestJitter",
                       StringValue("ns3::ConstantRandomVariable[Constant=0]"));
    Script script(argc, argv);
    const uint32_t hostsPerRack = 4;
    NodeContainer routers(4);
    NodeContainer spines(2);
    NodeContainer hosts(2 * hostsPerRack);
    script.InstallInternet(NodeContainer(routers, spines, hosts));
    CsmaHelper csma;
    csma.SetChannelAttribute("DataRate", StringValue("1Gbps"));
    csma.SetChannelAttribute("Delay", StringValue("1us"));
    Ipv4AddressHelper network("10.0.0.0", "255.255.255.0");
    std::vector<Ipv4Address> addresses;
    for (uint32_t rack = 0; rack < 2; rack++)
    {
        NodeContainer members;
        for (uint32_t host = rack * hostsPerRack; host < (rack + 1) * hostsPerRack; host++)
        {
            members.Add(hosts.Get(host));
        }
        members.Add(routers.Get(2 * rack));
        members.Add(routers.Get(2 * rack + 1));
        const auto interfaces = network.Assign(csma.Install(members));
        for (uint32_t host = 0; host < hostsPerRack; host++)
        {
            addresses.push_back(interfaces.GetAddress(host));
        }
        network.NewNetwork();
    }
    for (uint32_t link = 0; link < routers.GetN() * spines.GetN(); link++)
    {
        network.Assign(csma.Install(NodeContainer(routers.Get(link % 4), spines.Get(link / 4))));
        network.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        const uint32_t to = (host + hostsPerRack) % hosts.GetN();
        script.AddFlow(hosts.Get(host), hosts.Get(to), addresses[to], 100, MicroSeconds(500));
    }
    return script.Run(Seconds(1));
}
