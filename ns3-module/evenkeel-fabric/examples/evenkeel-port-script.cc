// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

/**
 * @file
 * @ingroup evenkeel
 * Runs the same TCP transfers over point-to-point links and over a fabric: each host sends to the
 * host at the same place of the next leaf.
 *
 *     evenkeel-port-script --network=point-to-point
 *     evenkeel-port-script --network=fabric --policy=flowlet
 *
 * MakePointToPoint is what a script has today, and MakeFabric what replaces it. The applications
 * are unchanged.
 */

#include "example-options.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/fabric-helper.h"
#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"

#include <ctime>
#include <iostream>

using namespace ns3;

namespace
{

/// The options of this example.
struct Options
{
    std::string network{"fabric"};                       //!< fabric or point-to-point
    std::string policy{"flowlet"};                       //!< name of the fabric's policy
    LeafSpineOptions fabric{4, 4, 4, 1000000, "10Gbps"}; //!< leaf-spine
};

/// The hosts of a network, and their addresses.
struct Network
{
    NodeContainer hosts;                //!< the hosts
    std::vector<Ipv4Address> addresses; //!< by host
};

/**
 * @param options of this example
 * @return the network, of point-to-point links
 */
Network
MakePointToPoint(const Options& options)
{
    Network made;
    made.hosts.Create(options.fabric.CountHosts());
    NodeContainer leaves(options.fabric.leaves);
    NodeContainer spines(options.fabric.spines);
    Config::SetDefault("ns3::Ipv4GlobalRouting::RandomEcmpRouting", BooleanValue(true));
    InternetStackHelper internet;
    internet.Install(made.hosts);
    internet.Install(leaves);
    internet.Install(spines);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(options.fabric.rate));
    link.SetChannelAttribute("Delay", StringValue("500ns"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000p"));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    for (uint32_t host = 0; host < made.hosts.GetN(); ++host)
    {
        Ptr<Node> leaf = leaves.Get(host / options.fabric.hostsPerLeaf);
        made.addresses.push_back(
            addresses.Assign(link.Install(made.hosts.Get(host), leaf)).GetAddress(0));
        addresses.NewNetwork();
    }
    for (uint32_t leaf = 0; leaf < leaves.GetN(); ++leaf)
    {
        for (uint32_t spine = 0; spine < spines.GetN(); ++spine)
        {
            addresses.Assign(link.Install(leaves.Get(leaf), spines.Get(spine)));
            addresses.NewNetwork();
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return made;
}

/**
 * @param options of this example
 * @return the network, a fabric
 */
Network
MakeFabric(const Options& options)
{
    Network made;
    FabricHelper helper;
    helper.SetChannelAttribute("DataRate", StringValue(options.fabric.rate));
    helper.SetChannelAttribute("Delay", StringValue("500ns"));
    helper.SetPolicy(options.policy);
    helper.CreateLeafSpine(options.fabric.leaves,
                           options.fabric.spines,
                           options.fabric.hostsPerLeaf);
    made.hosts = helper.GetHosts();
    InternetStackHelper().Install(made.hosts);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(helper.GetNics());
    for (uint32_t host = 0; host < made.hosts.GetN(); ++host)
    {
        made.addresses.push_back(interfaces.GetAddress(host));
    }
    return made;
}

uint64_t g_received{0}; //!< payload that arrived, in bytes
Time g_last;            //!< when the last of it arrived

/**
 * @brief Counts a segment that arrived.
 * @param packet the segment
 * @param from its sender
 */
void
Receive(Ptr<const Packet> packet, const Address& from)
{
    g_received += packet->GetSize();
    g_last = Simulator::Now();
}

} // namespace

int
main(int argc, char* argv[])
{
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("network", "fabric or point-to-point", options.network);
    cmd.AddValue("policy", "load-balancing policy of the fabric", options.policy);
    options.fabric.AddTo(cmd);
    cmd.Parse(argc, argv);
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1440));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", StringValue("20us"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue("5ms"));

    const std::clock_t begin = std::clock();
    const Network network =
        options.network == "fabric" ? MakeFabric(options) : MakePointToPoint(options);
    const uint32_t hosts = network.hosts.GetN();
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    ApplicationContainer sinks = sink.Install(network.hosts);
    for (uint32_t host = 0; host < hosts; ++host)
    {
        sinks.Get(host)->TraceConnectWithoutContext("Rx", MakeCallback(&Receive));
        const uint32_t to = (host + options.fabric.hostsPerLeaf) % hosts;
        BulkSendHelper bulk("ns3::TcpSocketFactory",
                            InetSocketAddress(network.addresses[to], 5000));
        bulk.SetAttribute("MaxBytes", UintegerValue(options.fabric.bytes));
        bulk.Install(network.hosts.Get(host));
    }
    Simulator::Stop(Seconds(2));
    Simulator::Run();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::cout << options.network << ": " << g_received << " B received, the last after "
              << g_last.As(Time::US) << "; " << Simulator::GetEventCount() << " events, " << seconds
              << " s of CPU time" << std::endl;
    Simulator::Destroy();
    return g_received == hosts * options.fabric.bytes ? 0 : 1;
}
