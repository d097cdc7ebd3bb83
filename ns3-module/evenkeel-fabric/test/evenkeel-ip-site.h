// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EVENKEEL_IP_SITE_H
#define EVENKEEL_IP_SITE_H

// Shared by the IP suites: a leaf-spine whose hosts have an IP stack, and UDP and TCP traffic.

#include "../model/fabric-pool.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-interface-container.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

/// Port of every receiver.
constexpr uint16_t PORT = 5000;

/// Overhead of a UDP payload over IPv4 on the wire, in bytes: Ethernet, IP and UDP.
constexpr uint64_t UDP_HEADERS = 18 + 20 + 8;

/**
 * @param from address of the sender
 * @param to address of the receiver
 * @param bytes length with the header
 * @return an IPv4 packet
 */
inline Ptr<Packet>
MakePacket(const char* from, const char* to, uint32_t bytes)
{
    Ipv4Header header;
    header.SetSource(Ipv4Address(from));
    header.SetDestination(Ipv4Address(to));
    header.SetPayloadSize(bytes - 20);
    Ptr<Packet> packet = Create<Packet>(bytes - 20);
    packet->AddHeader(header);
    return packet;
}

/// The UDP traffic that a host received.
struct Arrivals
{
    uint64_t packets{0}; //!< datagrams
    uint64_t bytes{0};   //!< payload
    int64_t lastNs{0};   //!< when the last one arrived
};

/**
 * @ingroup evenkeel-tests
 * @brief A fabric whose hosts have an IP stack, each with an address in 10.0.0.0/16.
 */
class IpSite
{
  public:
    /**
     * @param rate of each link
     */
    explicit IpSite(const std::string& rate = "100Gbps")
    {
        m_helper.SetChannelAttribute("DataRate", StringValue(rate));
        m_helper.SetNicAttribute("CongestionControl", StringValue("line-rate"));
    }

    ~IpSite()
    {
        Simulator::Destroy();
    }

    IpSite(const IpSite&) = delete;
    IpSite& operator=(const IpSite&) = delete;

    /**
     * @brief Makes a leaf-spine, and installs IP on its hosts.
     * @param leaves switches with hosts
     * @param spines switches that connect to every leaf
     * @param hostsPerLeaf hosts per leaf
     */
    void Make(uint32_t leaves, uint32_t spines, uint32_t hostsPerLeaf)
    {
        m_fabric = m_helper.CreateLeafSpine(leaves, spines, hostsPerLeaf);
        InstallIp(m_helper.GetNics());
    }

    /**
     * @brief Installs IP on the hosts, and assigns addresses to devices.
     * @param devices a device of each host
     */
    void InstallIp(const NetDeviceContainer& devices)
    {
        InternetStackHelper internet;
        internet.Install(m_helper.GetHosts());
        m_addresses = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
    }

    /**
     * @brief Makes a host receive UDP.
     * @param host its number
     */
    void Receive(uint32_t host)
    {
        Ptr<Socket> socket = MakeUdp(host);
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>([this, host](Ptr<Socket> from) {
            while (Ptr<Packet> packet = from->Recv())
            {
                Arrivals& at = m_arrivals[host];
                ++at.packets;
                at.bytes += packet->GetSize();
                at.lastNs = Simulator::Now().GetNanoSeconds();
            }
        }));
    }

    /**
     * @brief Sends datagrams, all at the same time.
     * @param src sending host
     * @param dst receiving host
     * @param packets their number
     * @param payload of each, in bytes
     * @param at the time
     */
    void SendUdp(uint32_t src, uint32_t dst, uint32_t packets, uint32_t payload, Time at = Time(0))
    {
        Ptr<Socket> socket = MakeUdp(src);
        socket->Bind();
        socket->Connect(InetSocketAddress(m_addresses.GetAddress(dst), PORT));
        Simulator::ScheduleWithContext(m_helper.GetHosts().Get(src)->GetId(), at, [=] {
            for (uint32_t packet = 0; packet < packets; ++packet)
            {
                socket->Send(Create<Packet>(payload));
            }
        });
    }

    /**
     * @brief Starts a TCP transfer.
     * @param src sending host
     * @param dst receiving host
     * @param bytes its length
     * @param port of the receiver
     */
    void StartTcp(uint32_t src, uint32_t dst, uint64_t bytes, uint16_t port = PORT)
    {
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        Ptr<Application> server = sink.Install(m_helper.GetHosts().Get(dst)).Get(0);
        const std::size_t number = m_received.size();
        m_received.push_back(0);
        m_finishedNs.push_back(0);
        server->TraceConnectWithoutContext(
            "Rx",
            Callback<void, Ptr<const Packet>, const Address&>(
                [this, number, bytes](Ptr<const Packet> packet, const Address&) {
                    m_received[number] += packet->GetSize();
                    if (m_received[number] >= bytes && m_finishedNs[number] == 0)
                    {
                        m_finishedNs[number] = Simulator::Now().GetNanoSeconds();
                    }
                }));
        BulkSendHelper bulk("ns3::TcpSocketFactory",
                            InetSocketAddress(m_addresses.GetAddress(dst), port));
        bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
        bulk.SetAttribute("SendSize", UintegerValue(65536));
        bulk.Install(m_helper.GetHosts().Get(src));
    }

    /**
     * Call it only when no packet is about to be enqueued, because such packets are not in the
     * fabric's pool yet.
     *
     * @return true if every sent packet is delivered, dropped or in the fabric
     */
    bool IsConserved() const
    {
        const FabricIpCounters& counters = m_fabric->GetIpCounters();
        const uint64_t inFlight = m_fabric->CountIpInFlight();
        return counters.sent == counters.delivered + counters.dropped + inFlight &&
               inFlight <= m_fabric->GetPool().GetInFlight();
    }

    FabricHelper m_helper;                   //!< makes the fabric
    Ptr<Fabric> m_fabric;                    //!< the fabric
    Ipv4InterfaceContainer m_addresses;      //!< addresses, by host
    std::map<uint32_t, Arrivals> m_arrivals; //!< UDP traffic, by host
    std::vector<uint64_t> m_received;        //!< bytes of TCP, by transfer
    std::vector<int64_t> m_finishedNs;       //!< when each transfer was complete; 0 before

  private:
    /**
     * @param host a host
     * @return a UDP socket
     */
    Ptr<Socket> MakeUdp(uint32_t host) const
    {
        return Socket::CreateSocket(m_helper.GetHosts().Get(host), UdpSocketFactory::GetTypeId());
    }
};

/**
 * @ingroup evenkeel-tests
 * @brief Sets defaults of attributes, such as those of TCP, for the lifetime of this object.
 */
class Defaults
{
  public:
    /**
     * @param values values, by type and attribute ("ns3::TcpSocket::SegmentSize")
     */
    explicit Defaults(const std::map<std::string, std::string>& values)
    {
        for (const auto& [name, value] : values)
        {
            const std::size_t colon = name.rfind("::");
            TypeId::AttributeInformation info;
            TypeId::LookupByName(name.substr(0, colon))
                .LookupAttributeByName(name.substr(colon + 2), &info);
            m_before[name] = info.initialValue;
            Config::SetDefault(name, StringValue(value));
        }
    }

    ~Defaults()
    {
        for (const auto& [name, value] : m_before)
        {
            Config::SetDefault(name, *value);
        }
    }

    Defaults(const Defaults&) = delete;
    Defaults& operator=(const Defaults&) = delete;

  private:
    std::map<std::string, Ptr<const AttributeValue>> m_before; //!< previous values
};

} // namespace tests
} // namespace ns3

#endif /* EVENKEEL_IP_SITE_H */
