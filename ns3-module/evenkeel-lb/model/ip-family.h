// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef IP_FAMILY_H
#define IP_FAMILY_H

#include "ns3/ipv4-address.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4-routing-table-entry.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-address.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-list-routing.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-helper.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/ipv6-routing-table-entry.h"
#include "ns3/ipv6-static-routing.h"
#include "ns3/ipv6.h"
#include "ns3/packet.h"
#include "ns3/socket.h"

#include <cstdint>

namespace ns3
{

/// Details of the module that are not for scripts.
namespace evenkeelinternal
{

/// Adds 32 bits to a hash; each input bit affects all bits of the result (the finaliser of
/// MurmurHash3).
/// @param hash the hash so far
/// @param value the bits to add
/// @return the new hash
inline uint32_t
Mix(uint32_t hash, uint32_t value)
{
    hash = hash * 31 + value;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
    return hash ^ (hash >> 16);
}

/**
 * @param bytes four bytes of a header
 * @return their number
 */
inline uint32_t
BigEndian(const uint8_t* bytes)
{
    return static_cast<uint32_t>(bytes[0]) << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

/// The protocol number of TCP (IANA).
constexpr uint8_t TCP = 6;
/// The protocol number of UDP (IANA).
constexpr uint8_t UDP = 17;

/**
 * @param protocol number of a protocol
 * @return true if its header starts with two ports
 */
inline bool
HasPorts(uint8_t protocol)
{
    return protocol == TCP || protocol == UDP;
}

/// The parameter types of RouteInput, which takes its callbacks by value up to ns-3.38 and by
/// reference later. With these types, one override compiles with all versions.
/// @tparam F the type of a pointer to the method
template <class F>
struct RouteInputTypes;

/// The specialization for a pointer to a method.
/// @tparam R result
/// @tparam C class
/// @tparam P packet
/// @tparam H header
/// @tparam D device
/// @tparam U callback for unicast
/// @tparam M callback for multicast
/// @tparam L callback for local delivery
/// @tparam E callback for errors
template <class R, class C, class P, class H, class D, class U, class M, class L, class E>
struct RouteInputTypes<R (C::*)(P, H, D, U, M, L, E)>
{
    using Unicast = U;   //!< callback for unicast
    using Multicast = M; //!< callback for multicast
    using Local = L;     //!< callback for local delivery
    using Error = E;     //!< callback for errors
};

} // namespace evenkeelinternal

/**
 * @ingroup evenkeel
 * @brief The IPv4 types and operations that routing and policies need.
 */
struct Ipv4Family
{
    using Ip = Ipv4;                               //!< the IP of a node
    using Address = Ipv4Address;                   //!< an address
    using Header = Ipv4Header;                     //!< the header of a packet
    using Route = Ipv4Route;                       //!< a route
    using RoutingProtocol = Ipv4RoutingProtocol;   //!< the base of protocols
    using ListRouting = Ipv4ListRouting;           //!< the list of protocols
    using StaticRouting = Ipv4StaticRouting;       //!< static routes
    using RoutingHelper = Ipv4RoutingHelper;       //!< finds protocols
    using TableEntry = Ipv4RoutingTableEntry;      //!< a static route
    using InterfaceAddress = Ipv4InterfaceAddress; //!< an address of an interface
    /// Parameter types of RouteInput in the ns-3 version that this module is built with.
    using Input = evenkeelinternal::RouteInputTypes<decltype(&RoutingProtocol::RouteInput)>;

    /// The name of the routing protocol with a policy.
    static constexpr auto NAME = "LoadBalancedRouting";
    /// Length of an address, in bytes.
    static constexpr uint32_t LENGTH = 4;

    /**
     * @param destination an address
     * @return true if it belongs to one node
     */
    static bool IsUnicast(const Address& destination)
    {
        return !destination.IsMulticast() && !destination.IsBroadcast();
    }

    /**
     * @param destination an address
     * @return true if packets to it are routed, and to one node
     */
    static bool IsRouted(const Address& destination)
    {
        return IsUnicast(destination);
    }

    /**
     * @param ip the IP of a node
     * @param destination the destination of a packet
     * @param interface the interface at which it arrived
     * @return true if the node is its destination
     */
    static bool IsLocal(Ptr<Ip> ip, const Address& destination, uint32_t interface)
    {
        return ip->IsDestinationAddress(destination, interface);
    }

    /**
     * @param ip the IP of a node
     * @param interface an interface
     * @param index index of one of its addresses
     * @return the address
     */
    static Address AddressOf(Ptr<Ip> ip, uint32_t interface, uint32_t index)
    {
        return ip->GetAddress(interface, index).GetLocal();
    }

    /**
     * @param ip the IP of a node
     * @param interface an interface
     * @return the source address of packets that the node sends there
     */
    static Address SourceOf(Ptr<Ip> ip, uint32_t interface, Address)
    {
        return AddressOf(ip, interface, 0);
    }

    /**
     * @param route a static route
     * @return the mask of the addresses to which it leads
     */
    static auto MaskOf(const TableEntry& route)
    {
        return route.GetDestNetworkMask();
    }

    /**
     * @param header the header of a packet
     * @return hash of its addresses and protocol
     */
    static uint32_t Hash(const Header& header)
    {
        const uint32_t hash = evenkeelinternal::Mix(header.GetProtocol(), header.GetSource().Get());
        return evenkeelinternal::Mix(hash, header.GetDestination().Get());
    }

    /**
     * @param header the header of a packet
     * @return the number of the protocol whose header follows; 0 in a fragment
     */
    static uint8_t ProtocolOf(const Header& header)
    {
        const bool isWhole = header.IsLastFragment() && header.GetFragmentOffset() == 0;
        return isWhole ? header.GetProtocol() : 0;
    }

    /**
     * @param header the header of a packet
     * @param own the packet if the node itself sends it: its tag may have a DSCP that the header
     *        lacks
     * @return its DSCP
     */
    static uint8_t DscpOf(const Header& header, Ptr<const Packet> own)
    {
        SocketIpTosTag tag;
        return (own && own->PeekPacketTag(tag) ? tag.GetTos() : header.GetTos()) >> 2;
    }
};

/**
 * @ingroup evenkeel
 * @brief The IPv6 types and operations that routing and policies need.
 */
struct Ipv6Family
{
    using Ip = Ipv6;                               //!< the IP of a node
    using Address = Ipv6Address;                   //!< an address
    using Header = Ipv6Header;                     //!< the header of a packet
    using Route = Ipv6Route;                       //!< a route
    using RoutingProtocol = Ipv6RoutingProtocol;   //!< the base of protocols
    using ListRouting = Ipv6ListRouting;           //!< the list of protocols
    using StaticRouting = Ipv6StaticRouting;       //!< static routes
    using RoutingHelper = Ipv6RoutingHelper;       //!< finds protocols
    using TableEntry = Ipv6RoutingTableEntry;      //!< a static route
    using InterfaceAddress = Ipv6InterfaceAddress; //!< an address of an interface
    /// Parameter types of RouteInput in the ns-3 version that this module is built with.
    using Input = evenkeelinternal::RouteInputTypes<decltype(&RoutingProtocol::RouteInput)>;

    /// The name of the routing protocol with a policy.
    static constexpr auto NAME = "Ipv6LoadBalancedRouting";
    /// Length of an address, in bytes.
    static constexpr uint32_t LENGTH = 16;

    /**
     * @param destination an address
     * @return true if it belongs to one node
     */
    static bool IsUnicast(const Address& destination)
    {
        return !destination.IsMulticast();
    }

    /**
     * @param destination an address
     * @return true if packets to it are routed, and to one node
     */
    static bool IsRouted(const Address& destination)
    {
        return IsUnicast(destination) && !destination.IsLinkLocal();
    }

    /**
     * @param ip the IP of a node
     * @param destination the destination of a packet
     * @return true if the node is its destination
     */
    static bool IsLocal(Ptr<Ip> ip, const Address& destination, uint32_t)
    {
        return ip->GetInterfaceForAddress(destination) >= 0;
    }

    /**
     * @param ip the IP of a node
     * @param interface an interface
     * @param index index of one of its addresses; the link-local address is the first
     * @return the address
     */
    static Address AddressOf(Ptr<Ip> ip, uint32_t interface, uint32_t index)
    {
        return ip->GetAddress(interface, index).GetAddress();
    }

    /**
     * An interface that was down has lost its global addresses, and Ipv6::SourceAddressSelection
     * then stops the simulation in builds with assertions. Packets sent there get a global address
     * of another interface instead, as RFC 6724 (section 4) permits routers.
     *
     * @param ip the IP of a node
     * @param interface an interface
     * @param destination an address
     * @return the source address of packets to it that the node sends there
     */
    static Address SourceOf(Ptr<Ip> ip, uint32_t interface, Address destination)
    {
        Address source = GlobalAddressOf(ip, interface, destination);
        for (uint32_t other = 0; source.IsAny() && other < ip->GetNInterfaces(); other++)
        {
            source = GlobalAddressOf(ip, other, destination);
        }
        return source;
    }

    /**
     * @param ip the IP of a node
     * @param interface an interface
     * @param destination an address
     * @return the global address of the interface in the subnet of the destination; otherwise its
     *         last global address; the any address without a global address
     */
    static Address GlobalAddressOf(Ptr<Ip> ip, uint32_t interface, Address destination)
    {
        Address last;
        for (uint32_t index = 0; index < ip->GetNAddresses(interface); index++)
        {
            const Ipv6InterfaceAddress address = ip->GetAddress(interface, index);
            if (address.GetScope() == Ipv6InterfaceAddress::GLOBAL)
            {
                last = address.GetAddress();
                if (address.IsInSameSubnet(destination))
                {
                    break;
                }
            }
        }
        return last;
    }

    /**
     * @param route a static route
     * @return the mask of the addresses to which it leads
     */
    static auto MaskOf(const TableEntry& route)
    {
        return route.GetDestNetworkPrefix();
    }

    /**
     * @param header the header of a packet
     * @return hash of its addresses, next header and flow label
     */
    static uint32_t Hash(const Header& header)
    {
        uint32_t hash = evenkeelinternal::Mix(header.GetNextHeader(), header.GetFlowLabel());
        for (const Address& address : {header.GetSource(), header.GetDestination()})
        {
            uint8_t bytes[16];
            address.GetBytes(bytes);
            for (uint32_t at = 0; at < 16; at += 4)
            {
                hash = evenkeelinternal::Mix(hash, evenkeelinternal::BigEndian(bytes + at));
            }
        }
        return hash;
    }

    /**
     * @param header the header of a packet
     * @return the number of the protocol whose header follows; in a fragment, that of the extension
     */
    static uint8_t ProtocolOf(const Header& header)
    {
        return header.GetNextHeader();
    }

    /**
     * @param header the header of a packet
     * @param own the packet if the node itself sends it: its tag may have a DSCP that the header
     *        lacks
     * @return its DSCP
     */
    static uint8_t DscpOf(const Header& header, Ptr<const Packet> own)
    {
        SocketIpv6TclassTag tag;
        return (own && own->PeekPacketTag(tag) ? tag.GetTclass() : header.GetTrafficClass()) >> 2;
    }
};

} // namespace ns3

#endif /* IP_FAMILY_H */
