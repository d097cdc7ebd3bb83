// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

/**
 * @file
 * @ingroup evenkeel
 * Sends an RDMA message and TCP bulk data to the same host, through the same queues.
 *
 * Hosts are on a leaf-spine. On the first leaf, host 0 sends to the last host by RDMA, and the
 * other hosts send to it by TCP. The program prints when the message and the transfers complete,
 * how many TCP packets arrived with an ECN mark, and how many were dropped. Compare
 *
 *   evenkeel-rdma-and-tcp --senders=0                       (the message alone)
 *   evenkeel-rdma-and-tcp --tcp=ns3::TcpDctcp               (marks keep the queue short)
 *   evenkeel-rdma-and-tcp --tcp=ns3::TcpNewReno             (the queue grows)
 */

#include "ns3/bulk-send-helper.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/fabric-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <iostream>
#include <string>

using namespace ns3;

namespace
{

/// Number of hosts per leaf.
constexpr uint32_t HOSTS = 4;

/// The options of the program.
struct Options
{
    uint64_t bytes{4000000};          //!< size of the message and of each transfer
    uint32_t senders{3};              //!< number of TCP senders
    std::string tcp{"ns3::TcpDctcp"}; //!< TCP congestion control
};

/// Bytes received by TCP, by sender.
uint64_t g_received[HOSTS] = {};
/// Number of transfers that completed.
uint32_t g_done = 0;

/**
 * @brief Counts a transfer once all its bytes have been received.
 * @param received bytes so far
 * @param bytes of the transfer
 * @param packet a packet of it
 */
void
Receive(uint64_t* received, uint64_t bytes, Ptr<const Packet> packet, const Address&)
{
    *received += packet->GetSize();
    if (*received == bytes)
    {
        ++g_done;
        std::cout << "a TCP transfer of " << bytes << "B complete after "
                  << Simulator::Now().GetNanoSeconds() << " ns" << std::endl;
    }
}

/**
 * @brief Prints the completion of a message.
 * @param event the event
 */
void
Print(const FabricMessageEvent& event)
{
    std::cout << event << std::endl;
}

/**
 * @brief Sets TCP defaults that suit the rates and delays of a fabric.
 * @param tcp congestion control
 */
void
ConfigureTcp(const std::string& tcp)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(tcp));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(8900));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8000000));
    // A receiver must not delay acknowledgements for longer than its sender's timeout.
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", StringValue("20us"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue("1ms"));
}

/**
 * @brief Starts a transfer from each TCP sender to the last host.
 * @param hosts all hosts
 * @param address of the last host
 * @param options of the program
 */
void
StartTransfers(const NodeContainer& hosts, Ipv4Address address, const Options& options)
{
    for (uint32_t sender = 1; sender <= options.senders; ++sender)
    {
        const auto port = static_cast<uint16_t>(5000 + sender);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        Ptr<Application> server = sink.Install(hosts.Get(hosts.GetN() - 1)).Get(0);
        server->TraceConnectWithoutContext(
            "Rx",
            MakeBoundCallback(&Receive, &g_received[sender], options.bytes));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address, port));
        bulk.SetAttribute("MaxBytes", UintegerValue(options.bytes));
        bulk.SetAttribute("SendSize", UintegerValue(65536));
        bulk.Install(hosts.Get(sender));
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Options options;
    FabricHelper fabricHelper;
    CommandLine cmd(__FILE__);
    cmd.AddValue("bytes", "length of the message and of each transfer", options.bytes);
    cmd.AddValue("senders", "hosts that send by TCP, up to 3", options.senders);
    cmd.AddValue("tcp", "congestion control of TCP", options.tcp);
    cmd.Parse(argc, argv);
    ConfigureTcp(options.tcp);

    fabricHelper.SetChannelAttribute("DataRate", StringValue("100Gbps"));
    fabricHelper.SetSwitchAttribute("EcnKmin", UintegerValue(150000));
    fabricHelper.SetSwitchAttribute("EcnKmax", UintegerValue(150000));
    Ptr<Fabric> fabric = fabricHelper.CreateLeafSpine(2, 2, HOSTS);

    InternetStackHelper internet;
    internet.Install(fabricHelper.GetHosts());
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(fabricHelper.GetNics());

    options.senders = std::min(options.senders, HOSTS - 1);
    const uint32_t last = fabric->GetNNics() - 1;
    StartTransfers(fabricHelper.GetHosts(), interfaces.GetAddress(last), options);
    fabric->GetNic(0)->TraceConnectWithoutContext("MessageCompleted", MakeCallback(&Print));
    fabric->GetNic(0)->PostMessage(fabric->GetNic(last), options.bytes);

    Simulator::Stop(MilliSeconds(100));
    Simulator::Run();
    const FabricIpCounters& counters = fabric->GetIpCounters();
    std::cout << counters.delivered << " packets of TCP delivered, " << counters.marked
              << " marked, " << counters.dropped << " dropped; longest queue "
              << fabric->GetQueueBytesMax() << "B" << std::endl;
    const bool done = fabric->GetVerdict() == Fabric::COMPLETED && g_done == options.senders;
    Simulator::Destroy();
    return done ? 0 : 1;
}
