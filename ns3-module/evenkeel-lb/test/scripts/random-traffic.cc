// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A dumbbell, in which no packet has a choice, with global routing alone and random traffic. A
// module that draws from the script's random streams, or adds a route, would change the output.

#include "script.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    NodeContainer routers(2);
    NodeContainer hosts(6);
    script.InstallInternet(NodeContainer(routers, hosts), Script::GLOBAL_ONLY);
    PointToPointHelper p2p;
    p2p.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    p2p.SetChannelAttribute("Delay", StringValue("10us"));
    Ipv4AddressHelper network("10.0.0.0", "255.255.255.0");
    network.Assign(p2p.Install(routers));
    std::vector<Ipv4Address> addresses;
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        network.NewNetwork();
        auto link = p2p.Install(hosts.Get(host), routers.Get(host % 2));
        addresses.push_back(network.Assign(link).GetAddress(0));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    // Made after the stack, so their streams follow those that a routing protocol takes.
    Ptr<ExponentialRandomVariable> gaps = CreateObject<ExponentialRandomVariable>();
    gaps->SetAttribute("Mean", DoubleValue(200));
    OnOffHelper onOff("ns3::UdpSocketFactory", InetSocketAddress(addresses[3], 80));
    onOff.SetAttribute("OnTime", StringValue("ns3::ExponentialRandomVariable[Mean=0.001]"));
    onOff.SetAttribute("OffTime", StringValue("ns3::ExponentialRandomVariable[Mean=0.001]"));
    onOff.SetAttribute("DataRate", StringValue("50Mbps"));
    onOff.Install(hosts.Get(0)).Start(MicroSeconds(50));
    for (uint32_t host = 0; host < hosts.GetN(); host++)
    {
        const uint32_t to = (host + 1) % hosts.GetN();
        const Time interval = MicroSeconds(100 + gaps->GetInteger());
        script.AddFlow(hosts.Get(host), hosts.Get(to), addresses[to], 100, interval);
    }
    return script.Run(Seconds(1));
}
