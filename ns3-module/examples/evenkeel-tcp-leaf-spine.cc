// SPDX-License-Identifier: GPL-2.0-only
//
// TCP bulk transfers across a leaf-spine fabric, as many existing scripts have them; the lines that
// evenkeel adds are marked. Compare
//
//   evenkeel-tcp-leaf-spine --policy=none       (global routing alone: always the first next hop)
//   evenkeel-tcp-leaf-spine --policy=ecmp       (a path for each flow)
//   evenkeel-tcp-leaf-spine --policy=flowlet    (a path for each burst)
//   evenkeel-tcp-leaf-spine --policy=spray      (a path for each packet)
//   evenkeel-tcp-leaf-spine --policy=jsq        (the shortest queue for each packet)
//
// Every host sends to one under another leaf. Printed are the completion times, and how many
// packets a later packet of their flow had overtaken.

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
#include <tuple>
#include <vector>

using namespace ns3;

NS_LOG_COMPONENT_DEFINE("EvenkeelTcpLeafSpine");

namespace
{

/// Bytes that came in, by receiver, and when the last of them did.
std::vector<uint64_t> g_received;
std::vector<Time> g_finished;
/// Addresses and ports.
using Flow = std::tuple<uint32_t, uint32_t, uint16_t, uint16_t>;
/// The highest IP identification that came in, by flow: senders count it up by pair of hosts.
std::map<Flow, uint16_t> g_highest;
uint64_t g_overtaken = 0;

void
Receive(uint32_t receiver, uint64_t bytes, Ptr<const Packet> packet, const Address&)
{
    g_received[receiver] += packet->GetSize();
    if (g_received[receiver] >= bytes && g_finished[receiver].IsZero())
    {
        g_finished[receiver] = Simulator::Now();
    }
}

void
CountOvertaken(const Ipv4Header& header, Ptr<const Packet> packet, uint32_t)
{
    uint8_t ports[4] = {};
    packet->CopyData(ports, 4);
    const Flow flow(header.GetSource().Get(),
                    header.GetDestination().Get(),
                    ports[0] << 8 | ports[1],
                    ports[2] << 8 | ports[3]);
    const uint16_t number = header.GetIdentification();
    auto [highest, isNew] = g_highest.emplace(flow, number);
    // The number wraps at 65,536.
    if (!isNew && static_cast<int16_t>(number - highest->second) < 0)
    {
        g_overtaken++;
    }
    else
    {
        highest->second = number;
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string policy = "flowlet";
    std::string parameters;
    uint32_t leaves = 4;
    uint32_t spines = 4;
    uint32_t hostsPerLeaf = 4;
    uint64_t bytes = 2000000;
    std::string rate = "10Gbps";

    CommandLine cmd(__FILE__);
    cmd.AddValue("policy", "A policy of evenkeel, or none for global routing alone", policy);
    cmd.AddValue("parameters", "Parameters of the policy, such as gap=\"50us\"", parameters);
    cmd.AddValue("leaves", "Leaf switches", leaves);
    cmd.AddValue("spines", "Spine switches", spines);
    cmd.AddValue("hosts", "Hosts a leaf", hostsPerLeaf);
    cmd.AddValue("bytes", "What each host sends", bytes);
    cmd.AddValue("rate", "The rate of all links", rate);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(5)));

    NodeContainer leafNodes(leaves);
    NodeContainer spineNodes(spines);
    NodeContainer hostNodes(leaves * hostsPerLeaf);

    InternetStackHelper internet;
    if (policy != "none")
    {
        LoadBalancedRoutingHelper routing(policy);                  // evenkeel
        routing.Set("Parameters", StringValue(parameters));         // evenkeel
        internet.SetRoutingHelper(routing.WithGlobalRouting());     // evenkeel
    }
    internet.InstallAll();

    PointToPointHelper p2p;
    p2p.SetDeviceAttribute("DataRate", StringValue(rate));
    p2p.SetChannelAttribute("Delay", StringValue("1us"));
    TrafficControlHelper queues;
    queues.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("1000p"));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    auto connect = [&](Ptr<Node> a, Ptr<Node> b) {
        NetDeviceContainer devices = p2p.Install(a, b);
        queues.Install(devices);
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        return interfaces.GetAddress(0);
    };
    std::vector<Ipv4Address> hostAddresses;
    for (uint32_t host = 0; host < hostNodes.GetN(); host++)
    {
        hostAddresses.push_back(connect(hostNodes.Get(host), leafNodes.Get(host / hostsPerLeaf)));
    }
    for (uint32_t leaf = 0; leaf < leaves; leaf++)
    {
        for (uint32_t spine = 0; spine < spines; spine++)
        {
            connect(leafNodes.Get(leaf), spineNodes.Get(spine));
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    g_received.assign(hostNodes.GetN(), 0);
    g_finished.assign(hostNodes.GetN(), Time());
    for (uint32_t host = 0; host < hostNodes.GetN(); host++)
    {
        const uint32_t receiver = (host + hostsPerLeaf) % hostNodes.GetN();
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), 5000));
        Ptr<Application> server = sink.Install(hostNodes.Get(receiver)).Get(0);
        server->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Receive, receiver, bytes));
        BulkSendHelper bulk("ns3::TcpSocketFactory",
                            InetSocketAddress(hostAddresses[receiver], 5000));
        bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
        bulk.Install(hostNodes.Get(host)).Start(MicroSeconds(10 * host));
        hostNodes.Get(host)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "LocalDeliver",
            MakeCallback(&CountOvertaken));
    }

    Simulator::Stop(Seconds(1));
    Simulator::Run();
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
              << " bytes done, mean " << (done ? sum.GetMicroSeconds() / done : 0) << " us, last "
              << last.GetMicroSeconds() << " us, " << g_overtaken << " packets overtaken"
              << std::endl;
    Simulator::Destroy();
    return done == g_finished.size() ? 0 : 1;
}
