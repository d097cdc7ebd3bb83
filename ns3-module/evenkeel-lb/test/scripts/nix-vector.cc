// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// Racks under two spines with nix-vector routing, which finds one shortest path for each packet.

#include "script.h"

#include "ns3/nix-vector-helper.h"
#include "ns3/nix-vector-routing.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    const uint32_t hostsPerRack = 7;
    NodeContainer racks(3);
    NodeContainer spines(2);
    NodeContainer hosts(racks.GetN() * hostsPerRack);
    script.InstallInternet(NodeContainer(racks, spines, hosts), Ipv4NixVectorHelper());
    PointToPointHelper p2p;
    p2p.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    p2p.SetChannelAttribute("Delay", StringValue("1us"));
    Ipv4AddressHelper network("10.0.0.0", "255.255.255.0");
    std::vector<Ipv4Address> addresses;
    for (uint32_t rack = 0; rack < racks.GetN(); rack++)
    {
        for (uint32_t host = rack * hostsPerRack; host < (rack + 1) * hostsPerRack; host++)
        {
            auto link = p2p.Install(hosts.Get(host), racks.Get(rack));
            addresses.push_back(network.Assign(link).GetAddress(0));
            network.NewNetwork();
        }
        for (uint32_t spine = 0; spine < spines.GetN(); spine++)
        {
            network.Assign(p2p.Install(racks.Get(rack), spines.Get(spine)));
            network.NewNetwork();
        }
    }
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        const uint32_t to = (host + hostsPerRack) % hosts.GetN();
        script.AddFlow(hosts.Get(host), hosts.Get(to), addresses[to], 50);
    }
    return script.Run(Seconds(1));
}
