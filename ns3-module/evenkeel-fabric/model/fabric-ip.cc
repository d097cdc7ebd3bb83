// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-ip.h"

#include "fabric-classes.h"
#include "fabric-port.h"
#include "rdma-nic.h"

#include "ns3/ethernet-header.h"
#include "ns3/ip-family.h"
#include "ns3/ip-fields.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/refuse.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricIp");

namespace
{

/// The shortest frame, in bytes (IEEE 802.3).
constexpr uint32_t SHORTEST = 64;

/**
 * @tparam F IPv4 or IPv6
 * @param nic a NIC
 * @return true if one of its ports is an IP interface
 */
template <class F>
bool
HasInterface(const RdmaNic& nic)
{
    const Ptr<Node> node = nic.GetNode();
    const auto ip = node ? node->GetObject<typename F::Ip>() : nullptr;
    bool has = false;
    for (uint32_t plane = 0; ip && plane < nic.GetNPorts(); ++plane)
    {
        has |= ip->GetInterfaceForDevice(nic.GetPort(plane)) >= 0;
    }
    return has;
}

} // namespace

FabricIp::FabricIp(const std::vector<Ptr<RdmaNic>>& nics, uint32_t classes)
    : m_nics(nics),
      m_classes(classes)
{
}

bool
FabricIp::Take(uint32_t from,
               uint32_t plane,
               Ptr<Packet> packet,
               uint16_t protocol,
               FabricPacket& carried)
{
    IpFields fields;
    if (!IpFields::Read(packet, protocol, fields))
    {
        NS_LOG_LOGIC("not a unicast IPv4 or IPv6 packet: EtherType " << protocol);
        return false;
    }
    const uint32_t host = FindNextHop(from, plane, packet, protocol, fields.destination);
    if (host == FABRIC_NO_PORT || host == from)
    {
        NS_LOG_WARN("host " << from << ": no other host of the fabric has the address "
                            << fields.destination << " or is a gateway to it");
        return false;
    }
    m_carried[m_counters.sent] =
        Carried{packet,
                protocol,
                Mac48Address::ConvertFrom(m_nics[from]->GetPort(plane)->GetAddress()),
                Mac48Address::ConvertFrom(m_nics[host]->GetPort(plane)->GetAddress())};
    carried = FabricPacket();
    carried.kind = FabricPacketKind::IP;
    carried.src = from;
    carried.dst = host;
    carried.sack = m_counters.sent++;
    carried.marked = fields.isCapable ? 1 : 0;
    carried.SetTrafficClass(FabricCodePoints::ClassOf(fields.dscp, m_classes));
    carried.label = fields.hash;
    // With source routing this is a path number, which switches take modulo their number of paths.
    carried.entropy = static_cast<uint16_t>(evenkeelinternal::Mix(fields.hash, 1));
    carried.route = carried.entropy;
    carried.wireBytes = static_cast<uint16_t>(std::max(packet->GetSize() + ETHERNET, SHORTEST));
    return true;
}

FabricIp::Carried
FabricIp::Remove(const FabricPacket& packet)
{
    return m_carried.extract(packet.sack).mapped();
}

FabricIp::Carried
FabricIp::Deliver(const FabricPacket& packet)
{
    Carried carried = Remove(packet);
    ++m_counters.delivered;
    if (packet.Has(FabricPacket::MARKED))
    {
        ++m_counters.marked;
        carried.packet = IpFields::Mark(carried.packet, carried.protocol);
    }
    return carried;
}

FabricIp::Carried
FabricIp::Drop(const FabricPacket& packet)
{
    ++m_counters.dropped;
    return Remove(packet);
}

Ptr<Packet>
FabricIp::MakeFrame(const FabricPacket& packet) const
{
    const Carried& carried = m_carried.at(packet.sack);
    Ptr<Packet> frame = packet.Has(FabricPacket::MARKED)
                            ? IpFields::Mark(carried.packet, carried.protocol)
                            : carried.packet->Copy();
    EthernetHeader header(false);
    header.SetSource(carried.source);
    header.SetDestination(carried.destination);
    header.SetLengthType(carried.protocol);
    frame->AddHeader(header);
    return frame;
}

const FabricIpCounters&
FabricIp::GetCounters() const
{
    return m_counters;
}

uint64_t
FabricIp::GetKept() const
{
    return m_carried.size();
}

bool
FabricIp::IsInstalled() const
{
    return std::any_of(m_nics.begin(), m_nics.end(), [](const Ptr<RdmaNic>& nic) {
        return HasInterface<Ipv4Family>(*nic) || HasInterface<Ipv6Family>(*nic);
    });
}

uint32_t
FabricIp::FindNextHop(uint32_t from,
                      uint32_t plane,
                      Ptr<const Packet> packet,
                      uint16_t protocol,
                      const Address& destination)
{
    const auto find = [&] {
        auto found = m_hosts.find(Key(plane, destination));
        if (found == m_hosts.end())
        {
            const bool isIpv4 = protocol == Ipv4L3Protocol::PROT_NUMBER;
            found = m_hosts.find(Key(plane,
                                     isIpv4 ? FindGateway<Ipv4Family>(from, plane, packet)
                                            : FindGateway<Ipv6Family>(from, plane, packet)));
        }
        return found == m_hosts.end() ? FABRIC_NO_PORT : found->second;
    };
    const uint32_t host = find();
    // Read the addresses again for an unknown one: it may have been assigned since.
    return host == FABRIC_NO_PORT && ReadAddresses() ? find() : host;
}

template <class F>
Address
FabricIp::FindGateway(uint32_t from, uint32_t plane, Ptr<const Packet> packet) const
{
    typename F::Header header;
    packet->PeekHeader(header);
    const Ptr<RdmaNic>& nic = m_nics[from];
    const auto ip = nic->GetNode()->GetObject<typename F::Ip>();
    const auto routing = ip ? ip->GetRoutingProtocol() : nullptr;
    if (!routing)
    {
        return Address();
    }
    Socket::SocketErrno error;
    const auto route = routing->RouteOutput(nullptr, header, nic->GetPort(plane), error);
    return route ? Address(route->GetGateway()) : Address();
}

bool
FabricIp::ReadAddresses()
{
    // Before the run all calls have the same time, so each of them reads the addresses.
    const int64_t now = Simulator::GetEventCount() == 0 ? -1 : Simulator::Now().GetTimeStep();
    if (now >= 0 && now == m_readAt)
    {
        return false;
    }
    m_readAt = now;
    m_hosts.clear();
    for (uint32_t host = 0; host < m_nics.size(); ++host)
    {
        ReadAddressesOf<Ipv4Family>(host);
        ReadAddressesOf<Ipv6Family>(host);
    }
    return true;
}

template <class F>
void
FabricIp::ReadAddressesOf(uint32_t host)
{
    const Ptr<Node> node = m_nics[host]->GetNode();
    const auto ip = node ? node->GetObject<typename F::Ip>() : nullptr;
    for (uint32_t plane = 0; ip && plane < m_nics[host]->GetNPorts(); ++plane)
    {
        const int32_t interface = ip->GetInterfaceForDevice(m_nics[host]->GetPort(plane));
        const uint32_t count = interface < 0 ? 0 : ip->GetNAddresses(interface);
        for (uint32_t index = 0; index < count; ++index)
        {
            const auto address = F::AddressOf(ip, interface, index);
            const auto [known, isNew] = m_hosts.emplace(Key(plane, address), host);
            EVENKEEL_REFUSE_IF(!isNew && known->second != host,
                               "RdmaNic::Send",
                               "host " << known->second << " and host " << host
                                       << " both have the address " << address
                                       << ": give each device of a fabric a separate address, "
                                          "by one Ipv4AddressHelper::Assign of all NICs");
        }
    }
}

} // namespace ns3
