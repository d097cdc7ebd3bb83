// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EVENKEEL_CLASS_SITE_H
#define EVENKEEL_CLASS_SITE_H

// For the suites of traffic classes: a switch with hosts, and a record of the packets that start.

#include "evenkeel-ip-site.h"

#include "ns3/fabric-switch-port.h"
#include "ns3/fabric-switch.h"

#include <algorithm>
#include <string>

namespace ns3
{
namespace tests
{

/// Bytes of a full data packet on the wire.
constexpr uint64_t DATA = 4158;
/// Payload of a full data packet.
constexpr uint64_t PAYLOAD = 4096;
/// UDP payload that makes a frame as long as a full data packet.
constexpr uint32_t AS_LONG = DATA - UDP_HEADERS;
/// Transmission time of a byte at 100 Gbps, in picoseconds.
constexpr uint64_t BYTE = 80;
/// Propagation delay of a link, in picoseconds.
constexpr uint64_t LINK = 500000;
/// Time that a full data packet keeps a wire busy, with its gap.
constexpr uint64_t BUSY = (DATA + 20) * BYTE;

/// A switch with hosts that records packets as they start on a wire.
struct ClassSite : public IpSite
{
    /**
     * @brief Records the packets without priority that start at a port: the class number of an RDMA
     * packet, or a letter for an IP packet.
     * @param port the port
     */
    void Record(Ptr<FabricPort> port)
    {
        port->TraceConnectWithoutContext(
            "PacketSent",
            Callback<void, const FabricPacket&, Time>([this](const FabricPacket& packet, Time) {
                if (!packet.IsControl())
                {
                    const char first = packet.IsIp() ? 'a' : '0';
                    m_sent += static_cast<char>(first + packet.GetTrafficClass());
                }
            }));
    }

    /// @return the port of the only leaf to host 0
    Ptr<FabricPort> PortToFirst() const
    {
        return m_helper.GetSwitches().Get(0)->GetObject<FabricSwitch>()->GetPort(0);
    }

    /**
     * @brief Posts a message.
     * @param trafficClass name of its class
     * @param src sending host
     * @param dst receiving host
     * @param packets its length, in full packets
     * @param delay time until it starts
     */
    void Post(const std::string& trafficClass,
              uint32_t src,
              uint32_t dst,
              uint64_t packets,
              Time delay = Time(0))
    {
        m_fabric->GetNic(src)->PostMessage(m_fabric->GetNic(dst),
                                           packets * PAYLOAD,
                                           delay,
                                           m_fabric->GetStreamIn(trafficClass));
    }

    /**
     * @param message number of a message
     * @return the time from its start to its delivery, in picoseconds
     */
    uint64_t TimeOf(uint32_t message) const
    {
        const FabricFlow flow = m_fabric->GetCore().GetFlows()[message];
        return flow.deliveredPs - flow.startPs;
    }

    /**
     * @brief Sends datagrams as long as data packets, all at the same time.
     * @param dscp their DSCP
     * @param packets their number
     */
    void SendUdpWith(uint8_t dscp, uint32_t packets)
    {
        Ptr<Node> node = m_helper.GetHosts().Get(1);
        Ptr<Socket> socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        socket->Bind();
        socket->Connect(InetSocketAddress(m_addresses.GetAddress(0), PORT));
        socket->SetIpTos(dscp << 2);
        Simulator::ScheduleWithContext(node->GetId(), MicroSeconds(1), [=] {
            for (uint32_t packet = 0; packet < packets; ++packet)
            {
                socket->Send(Create<Packet>(AS_LONG));
            }
        });
    }

    std::string m_sent; //!< packets that started, in order
};

/**
 * @param text packets that started at a port
 * @param from the first packet
 * @param count number of packets
 * @param what a packet
 * @return the number of such packets among them
 */
inline uint64_t
CountIn(const std::string& text, std::size_t from, std::size_t count, char what)
{
    const std::string part = text.substr(from, count);
    return static_cast<uint64_t>(std::count(part.begin(), part.end(), what));
}

} // namespace tests
} // namespace ns3

#endif /* EVENKEEL_CLASS_SITE_H */
