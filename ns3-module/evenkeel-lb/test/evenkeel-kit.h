// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EVENKEEL_KIT_H
#define EVENKEEL_KIT_H

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/ip-family.h"
#include "ns3/ipv6-load-balanced-routing-helper.h"
#include "ns3/ipv6-load-balanced-routing.h"
#include "ns3/load-balanced-routing-helper.h"
#include "ns3/load-balanced-routing.h"
#include "ns3/network-module.h"

#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

/// The types and operations that a test needs for a family of IP. @tparam F IPv4 or IPv6
template <class F>
struct Kit;

/// IPv4.
template <>
struct Kit<Ipv4Family>
{
    using Helper = LoadBalancedRoutingHelper;     //!< helper of the policy
    using Policy = LoadBalancedRouting;           //!< the protocol with the policy
    using StaticHelper = Ipv4StaticRoutingHelper; //!< helper of static routes
    using AddressHelper = Ipv4AddressHelper;      //!< helper of addresses
    using SocketAddress = InetSocketAddress;      //!< address and port

    /// @return an address that no node has
    static Ipv4Address Unknown()
    {
        return Ipv4Address("11.0.0.1");
    }

    /// @return the first network
    static Ipv4AddressHelper Networks()
    {
        return Ipv4AddressHelper("10.0.0.0", "255.255.255.0");
    }

    /// @param networks addresses @param ends devices of a link @return their addresses
    static std::vector<Ipv4Address> Assign(Ipv4AddressHelper& networks,
                                           const NetDeviceContainer& ends)
    {
        const Ipv4InterfaceContainer interfaces = networks.Assign(ends);
        return {interfaces.GetAddress(0), interfaces.GetAddress(1)};
    }

    /// @param socket a socket @param dscp the DSCP of its packets
    static void SetDscp(Ptr<Socket> socket, uint8_t dscp)
    {
        socket->SetIpTos(dscp << 2);
    }

    /// @param internet the stack @param helper of the policy @param routes source of next hops
    static void SetRouting(InternetStackHelper& internet,
                           const Helper& helper,
                           const std::string& routes)
    {
        Ipv4ListRoutingHelper list;
        list.Add(RipHelper(), 10);
        list.Add(StaticHelper(), 0);
        routes == "global"   ? internet.SetRoutingHelper(helper.WithGlobalRouting())
        : routes == "static" ? internet.SetRoutingHelper(helper.WithStaticRouting())
        : routes == "rip"    ? internet.SetRoutingHelper(helper.WithShortestPaths(RipHelper()))
        : routes == "list"   ? internet.SetRoutingHelper(helper.WithShortestPaths(list))
                             : internet.SetRoutingHelper(helper.WithShortestPaths(StaticHelper()));
    }
};

/// IPv6.
template <>
struct Kit<Ipv6Family>
{
    using Helper = Ipv6LoadBalancedRoutingHelper; //!< helper of the policy
    using Policy = Ipv6LoadBalancedRouting;       //!< the protocol with the policy
    using StaticHelper = Ipv6StaticRoutingHelper; //!< helper of static routes
    using AddressHelper = Ipv6AddressHelper;      //!< helper of addresses
    using SocketAddress = Inet6SocketAddress;     //!< address and port

    /// @return an address that no node has
    static Ipv6Address Unknown()
    {
        return Ipv6Address("fc00::1");
    }

    /// @return the first network
    static Ipv6AddressHelper Networks()
    {
        // Not the documentation network 2001:db8::/32, whose packets ns-3 does not forward.
        return Ipv6AddressHelper("fd00::", Ipv6Prefix(64));
    }

    /// @param networks addresses @param ends devices of a link @return their addresses
    static std::vector<Ipv6Address> Assign(Ipv6AddressHelper& networks,
                                           const NetDeviceContainer& ends)
    {
        Ipv6InterfaceContainer interfaces = networks.Assign(ends);
        // IPv6 does not forward by default. The second end is always a switch, and the first may be
        // one.
        interfaces.SetForwarding(0, true);
        interfaces.SetForwarding(1, true);
        return {interfaces.GetAddress(0, 1), interfaces.GetAddress(1, 1)};
    }

    /// @param socket a socket @param dscp the DSCP of its packets
    static void SetDscp(Ptr<Socket> socket, uint8_t dscp)
    {
        socket->SetIpv6Tclass(dscp << 2);
    }

    /// @param internet the stack @param helper of the policy @param routes source of next hops
    static void SetRouting(InternetStackHelper& internet,
                           const Helper& helper,
                           const std::string& routes)
    {
        Ipv6ListRoutingHelper list;
        list.Add(RipNgHelper(), 10);
        list.Add(StaticHelper(), 0);
        internet.SetRoutingHelper(routes == "static" ? helper.WithStaticRouting()
                                  : routes == "rip"  ? helper.WithShortestPaths(RipNgHelper())
                                  : routes == "list" ? helper.WithShortestPaths(list)
                                                     : helper.WithShortestPaths(StaticHelper()));
    }
};

} // namespace tests
} // namespace ns3

#endif /* EVENKEEL_KIT_H */
