// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A leaf-spine whose links go down and up during the run. Global routing responds to the interface
// changes; for one metric change the script itself recomputes the routes.

#include "script.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Config::SetDefault("ns3::Ipv4GlobalRouting::RespondToInterfaceEvents", BooleanValue(true));
    Script script(argc, argv);
    const uint32_t hostsPerLeaf = 4;
    NodeContainer leaves(3);
    NodeContainer spines(3);
    NodeContainer hosts(leaves.GetN() * hostsPerLeaf);
    script.InstallInternet(NodeContainer(leaves, spines, hosts));
    PointToPointHelper p2p;
    p2p.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    // A short delay, so that no packet is in flight when a change takes effect.
    p2p.SetChannelAttribute("Delay", StringValue("100ns"));
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
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        const uint32_t to = (host + hostsPerLeaf) % hosts.GetN();
        script.AddFlow(hosts.Get(host), hosts.Get(to), addresses[to], 200);
    }
    // Both ends of the first uplink of the first leaf.
    Ptr<Ipv4> leaf = leaves.Get(0)->GetObject<Ipv4>();
    Ptr<Ipv4> spine = spines.Get(0)->GetObject<Ipv4>();
    for (auto [at, change] : {std::pair(5095, &Ipv4::SetDown), std::pair(9095, &Ipv4::SetUp)})
    {
        Simulator::Schedule(MicroSeconds(at), change, PeekPointer(leaf), 1 + hostsPerLeaf);
        Simulator::Schedule(MicroSeconds(at), change, PeekPointer(spine), 1);
    }
    // A high metric removes the path over this spine at one leaf; all other nodes keep their
    // routes.
    Ptr<Ipv4> other = leaves.Get(1)->GetObject<Ipv4>();
    Simulator::Schedule(MicroSeconds(12095), &Ipv4::SetMetric, other, 1 + hostsPerLeaf, 10);
    Simulator::Schedule(MicroSeconds(12095), &Ipv4GlobalRoutingHelper::RecomputeRoutingTables);
    return script.Run(Seconds(1));
}
