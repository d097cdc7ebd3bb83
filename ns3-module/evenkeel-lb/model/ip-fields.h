// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef IP_FIELDS_H
#define IP_FIELDS_H

#include "ns3/address.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The header fields of an IP packet that a fabric reads, in host byte order.
 */
struct IpFields
{
    Address destination;   //!< an Ipv4Address or an Ipv6Address
    bool isCapable{false}; //!< ECN-capable transport (RFC 3168)
    uint8_t dscp{0};       //!< the code point of its service (RFC 2474)
    /// Hash of addresses and protocol, and of TCP and UDP ports unless in a fragment. For IPv6 it
    /// includes the flow label, and the protocol is the next header. In an IPv6 fragment, or before
    /// an extension header, that is the extension, and ports are left out.
    uint32_t hash{0};

    /**
     * @brief Reads the headers of a packet.
     * @param packet the packet, which starts with its IP header
     * @param protocol EtherType: 0x0800 (IPv4) or 0x86DD (IPv6)
     * @param fields set to the fields
     * @return false if it is not a unicast IPv4 or IPv6 packet
     */
    static bool Read(Ptr<const Packet> packet, uint16_t protocol, IpFields& fields);
    /**
     * @brief Marks a packet: sets its ECN field to congestion experienced (CE).
     * @param packet a packet that Read accepts
     * @param protocol EtherType, as for Read
     * @return a marked copy
     */
    static Ptr<Packet> Mark(Ptr<const Packet> packet, uint16_t protocol);
};

} // namespace ns3

#endif /* IP_FIELDS_H */
