// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "ip-fields.h"

#include "ip-family.h"

#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/node.h"

#include <type_traits>
#include <vector>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IpFields");

namespace
{

/// Length of the TCP and UDP ports at the start of their headers, in bytes.
constexpr uint32_t PORTS = 4;

/**
 * @tparam F IPv4 or IPv6
 * @param packet a packet
 * @param fields set to the fields
 * @return false if it does not start with such a header, or its destination is not one node
 */
template <class F>
bool
ReadAs(Ptr<const Packet> packet, IpFields& fields)
{
    constexpr bool isIpv4 = std::is_same_v<F, Ipv4Family>;
    uint8_t first = 0;
    packet->CopyData(&first, 1);
    const uint32_t length = isIpv4 ? (first & 0xf) * 4U : 40;
    if (first >> 4 != (isIpv4 ? 4 : 6) || length < 20 || packet->GetSize() < length)
    {
        return false;
    }
    typename F::Header header;
    packet->PeekHeader(header);
    fields.destination = header.GetDestination();
    fields.isCapable = header.GetEcn() != F::Header::ECN_NotECT;
    fields.dscp = F::DscpOf(header, nullptr);
    fields.hash = F::Hash(header);
    if (evenkeelinternal::HasPorts(F::ProtocolOf(header)) && packet->GetSize() >= length + PORTS)
    {
        std::vector<uint8_t> start(length + PORTS);
        packet->CopyData(start.data(), length + PORTS);
        fields.hash =
            evenkeelinternal::Mix(fields.hash, evenkeelinternal::BigEndian(start.data() + length));
    }
    return F::IsUnicast(header.GetDestination());
}

/**
 * @tparam F IPv4 or IPv6
 * @param packet a packet with such a header
 * @return a copy marked as congestion experienced
 */
template <class F>
Ptr<Packet>
MarkAs(Ptr<const Packet> packet)
{
    Ptr<Packet> copy = packet->Copy();
    typename F::Header header;
    copy->RemoveHeader(header);
    if constexpr (std::is_same_v<F, Ipv4Family>)
    {
        // IPv4's header checksum covers the mark.
        if (Node::ChecksumEnabled())
        {
            header.EnableChecksum();
        }
    }
    header.SetEcn(F::Header::ECN_CE);
    copy->AddHeader(header);
    return copy;
}

} // namespace

bool
IpFields::Read(Ptr<const Packet> packet, uint16_t protocol, IpFields& fields)
{
    NS_LOG_FUNCTION(packet << protocol);
    if (protocol == Ipv4L3Protocol::PROT_NUMBER)
    {
        return ReadAs<Ipv4Family>(packet, fields);
    }
    return protocol == Ipv6L3Protocol::PROT_NUMBER && ReadAs<Ipv6Family>(packet, fields);
}

Ptr<Packet>
IpFields::Mark(Ptr<const Packet> packet, uint16_t protocol)
{
    NS_LOG_FUNCTION(packet << protocol);
    return protocol == Ipv4L3Protocol::PROT_NUMBER ? MarkAs<Ipv4Family>(packet)
                                                   : MarkAs<Ipv6Family>(packet);
}

} // namespace ns3
