// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// Runs TCP bulk transfers across a leaf-spine fabric, as many existing scripts do. The lines added
// for evenkeel are marked. Compare
//
//   evenkeel-tcp-leaf-spine --policy=none       (global routing alone: always the first next hop)
//   evenkeel-tcp-leaf-spine --policy=ecmp       (one path per flow)
//   evenkeel-tcp-leaf-spine --policy=flowlet    (one path per burst)
//   evenkeel-tcp-leaf-spine --policy=spray      (one path per packet)
//   evenkeel-tcp-leaf-spine --policy=jsq        (the shortest queue per packet)
//
// Every host sends to a host of another leaf. The program prints the completion times and the
// number of reordered packets: those that arrived after a later packet of their flow.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/load-balanced-routing-helper.h" // evenkeel
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3;

NS_LOG_COMPONENT_DEFINE("EvenkeelTcpLeafSpine");

namespace
{

/// The fabric and its traffic.
struct Options
{
    uint32_t leaves{4};         //!< switches with hosts
    uint32_t spines{4};         //!< switches that connect to every leaf
    uint32_t hostsPerLeaf{4};   //!< hosts per leaf
    uint64_t bytes{2000000};    //!< payload that each host sends
    std::string rate{"10Gbps"}; //!< rate of every link
};

/// Bytes received, by receiver.
std::vector<uint64_t> g_received;
/// Time of the last byte, by receiver.
std::vector<Time> g_finished;
/// Source and destination address, source and destination port.
using Flow = std::tuple<uint32_t, uint32_t, uint16_t, uint16_t>;
/// Highest IP identification received, by flow; senders increment it per pair of hosts.
std::map<Flow, uint16_t> g_highest;
/// Number of packets that arrived after a packet sent later.
uint64_t g_reordered = 0;

/**
 * @brief Counts the received bytes and notes the time of the last one.
 * @param receiver number of the receiver
 * @param bytes expected number of bytes
 * @param packet the packet
 */
void
Receive(uint32_t receiver, uint64_t bytes, Ptr<const Packet> packet, const Address&)
{
    g_received[receiver] += packet->GetSize();
    if (g_received[receiver] >= bytes && g_finished[receiver].IsZero())
    {
        g_finished[receiver] = Simulator::Now();
    }
}

/**
 * @brief Counts a packet that arrives after one sent later.
 * @param header its IP header
 * @param packet its payload, with the transport header
 */
void
CountReordered(const Ipv4Header& header, Ptr<const Packet> packet, uint32_t)
{
    uint8_t ports[4] = {};
    packet->CopyData(ports, 4);
    const Flow flow(header.GetSource().Get(),
                    header.GetDestination().Get(),
                    ports[0] << 8 | ports[1],
                    ports[2] << 8 | ports[3]);
    const uint16_t number = header.GetIdentification();
    auto [highest, isNew] = g_highest.emplace(flow, number);
    // Compare modulo 65,536, because the identification wraps.
    if (!isNew && static_cast<int16_t>(number - highest->second) < 0)
    {
        g_reordered++;
    }
    else
    {
        highest->second = number;
    }
}

/// The hosts of the leaf-spine.
struct Network
{
    NodeContainer hosts;                //!< by number
    std::vector<Ipv4Address> addresses; //!< addresses of the hosts
};

/**
 * @brief Installs IP on all nodes, with the policy among equal-cost next hops.
 * @param policy its name, or none for global routing alone
 * @param parameters of the policy
 */
void
InstallInternet(const std::string& policy, const std::string& parameters)
{
    InternetStackHelper internet;
    if (policy != "none")
    {
        LoadBalancedRoutingHelper routing(policy);              // evenkeel
        routing.Set("Parameters", StringValue(parameters));     // evenkeel
        internet.SetRoutingHelper(routing.WithGlobalRouting()); // evenkeel
    }
    internet.InstallAll();
}

/**
 * @param options of the leaf-spine
 * @param policy its name, or none for global routing alone
 * @param parameters of the policy
 * @return the hosts of the network
 */
Network
BuildNetwork(const Options& options, const std::string& policy, const std::string& parameters)
{
    NodeContainer leaves(options.leaves);
    NodeContainer spines(options.spines);
    Network network;
    network.hosts.Create(options.leaves * options.hostsPerLeaf);
    InstallInternet(policy, parameters);

    PointToPointHelper p2p;
    p2p.SetDeviceAttribute("DataRate", StringValue(options.rate));
    p2p.SetChannelAttribute("Delay", StringValue("1us"));
    TrafficControlHelper queues;
    queues.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("1000p"));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const auto connect = [&](Ptr<Node> a, Ptr<Node> b) {
        NetDeviceContainer devices = p2p.Install(a, b);
        queues.Install(devices);
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        return interfaces.GetAddress(0);
    };
    for (uint32_t host = 0; host < network.hosts.GetN(); host++)
    {
        Ptr<Node> leaf = leaves.Get(host / options.hostsPerLeaf);
        network.addresses.push_back(connect(network.hosts.Get(host), leaf));
    }
    for (uint32_t leaf = 0; leaf < options.leaves; leaf++)
    {
        for (uint32_t spine = 0; spine < options.spines; spine++)
        {
            connect(leaves.Get(leaf), spines.Get(spine));
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return network;
}

/**
 * @brief Starts a transfer from every host to a host of another leaf.
 * @param network the network
 * @param options of the leaf-spine
 */
void
StartTransfers(const Network& network, const Options& options)
{
    const uint32_t hosts = network.hosts.GetN();
    g_received.assign(hosts, 0);
    g_finished.assign(hosts, Time());
    for (uint32_t host = 0; host < hosts; host++)
    {
        const uint32_t receiver = (host + options.hostsPerLeaf) % hosts;
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), 5000));
        Ptr<Application> server = sink.Install(network.hosts.Get(receiver)).Get(0);
        server->TraceConnectWithoutContext("Rx",
                                           MakeBoundCallback(&Receive, receiver, options.bytes));
        BulkSendHelper bulk("ns3::TcpSocketFactory",
                            InetSocketAddress(network.addresses[receiver], 5000));
        bulk.SetAttribute("MaxBytes", UintegerValue(options.bytes));
        bulk.Install(network.hosts.Get(host)).Start(MicroSeconds(10 * host));
        network.hosts.Get(host)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "LocalDeliver",
            MakeCallback(&CountReordered));
    }
}

/**
 * @brief Prints the completion times of the transfers and the number of reordered packets.
 * @param policy name of the policy
 * @param bytes of each transfer
 * @return true if all of them completed
 */
bool
Report(const std::string& policy, uint64_t bytes)
{
    Time sum;
    Time last;
    uint32_t done = 0;
    for (const Time& finished : g_finished)
    {
        done += finished.IsStrictlyPositive();
        sum += finished;
        last = std::max(last, finished);
    }
    std::cout << policy << ": " << done << " of " << g_finished.size() << " transfers of " << bytes
              << " bytes completed, mean " << (done ? sum.GetMicroSeconds() / done : 0)
              << " us, last " << last.GetMicroSeconds() << " us, " << g_reordered
              << " packets reordered" << std::endl;
    return done == g_finished.size();
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string policy = "flowlet";
    std::string parameters;
    Options options;

    CommandLine cmd(__FILE__);
    cmd.AddValue("policy", "policy of evenkeel, or none for global routing alone", policy);
    cmd.AddValue("parameters", "parameters of the policy, such as gap=\"50us\"", parameters);
    cmd.AddValue("leaves", "switches with hosts", options.leaves);
    cmd.AddValue("spines", "switches that every leaf is wired to", options.spines);
    cmd.AddValue("hostsPerLeaf", "hosts of each leaf", options.hostsPerLeaf);
    cmd.AddValue("bytes", "bytes that each host sends", options.bytes);
    cmd.AddValue("rate", "rate of every link", options.rate);
    cmd.AddValue("hosts", "the same as hostsPerLeaf", options.hostsPerLeaf);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(5)));

    const Network network = BuildNetwork(options, policy, parameters);
    StartTransfers(network, options);
    Simulator::Stop(Seconds(1));
    Simulator::Run();
    const bool done = Report(policy, options.bytes);
    Simulator::Destroy();
    return done ? 0 : 1;
}
