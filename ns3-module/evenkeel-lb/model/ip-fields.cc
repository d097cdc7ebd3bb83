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

/// The protocol number of TCP (IANA).
constexpr uint8_t TCP = 6;
/// The protocol number of UDP (IANA).
constexpr uint8_t UDP = 17;

/// Length of the TCP and UDP ports at the start of their headers, in bytes.
constexpr uint32_t PORTS = 4;

/**
 * @param packet a packet
 * @return true if it starts with a whole IPv4 header
 */
bool
StartsWith(Ptr<const Packet> packet, const Ipv4Header&)
{
    uint8_t first = 0;
    packet->CopyData(&first, 1);
    const uint32_t length = (first & 0xf) * 4U;
    return first >> 4 == 4 && length >= 20 && packet->GetSize() >= length;
}

/**
 * @param packet a packet
 * @return true if it starts with a whole IPv6 header
 */
bool
StartsWith(Ptr<const Packet> packet, const Ipv6Header&)
{
    uint8_t first = 0;
    packet->CopyData(&first, 1);
    return first >> 4 == 6 && packet->GetSize() >= 40;
}

/**
 * @param header an IPv4 header
 * @param fields set to its destination
 */
void
ReadDestination(const Ipv4Header& header, IpFields& fields)
{
    const Ipv4Address destination = header.GetDestination();
    fields.destination = destination;
    fields.isMulticast = destination.IsMulticast() || destination.IsBroadcast();
}

/**
 * @param header an IPv6 header
 * @param fields set to its destination
 */
void
ReadDestination(const Ipv6Header& header, IpFields& fields)
{
    fields.destination = header.GetDestination();
    fields.isMulticast = header.GetDestination().IsMulticast();
}

/**
 * @tparam F IPv4 or IPv6
 * @param packet a packet
 * @param fields set to the fields
 * @return false if it does not start with such a header
 */
template <class F>
bool
ReadAs(Ptr<const Packet> packet, IpFields& fields)
{
    typename F::Header header;
    if (packet->GetSize() == 0 || !StartsWith(packet, header))
    {
        return false;
    }
    packet->PeekHeader(header);
    ReadDestination(header, fields);
    fields.isCapable = header.GetEcn() != F::Header::ECN_NotECT;
    fields.dscp = F::DscpOf(header, nullptr);
    fields.hash = F::Hash(header);
    const uint8_t protocol = F::ProtocolOf(header);
    const uint32_t length = header.GetSerializedSize();
    if ((protocol == TCP || protocol == UDP) && packet->GetSize() >= length + PORTS)
    {
        std::vector<uint8_t> start(length + PORTS);
        packet->CopyData(start.data(), length + PORTS);
        const uint8_t* ports = start.data() + length;
        fields.hash = evenkeelinternal::Mix(fields.hash,
                                            static_cast<uint32_t>(ports[0]) << 24 | ports[1] << 16 |
                                                ports[2] << 8 | ports[3]);
    }
    return true;
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
