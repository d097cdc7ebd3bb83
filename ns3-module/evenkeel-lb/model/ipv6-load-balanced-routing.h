// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef IPV6_LOAD_BALANCED_ROUTING_H
#define IPV6_LOAD_BALANCED_ROUTING_H

#include "route-policy.h"

namespace ns3
{

/**
 * @ingroup evenkeel
 *
 * @brief An evenkeel load-balancing policy among equal-cost next hops of IPv6.
 *
 * It is LoadBalancedRouting for IPv6, with the same policies and attributes. Next hops come from
 * static routes or shortest paths, because ns-3's global routing supports only IPv4. Place it above
 * Ipv6StaticRouting in an Ipv6ListRouting (Ipv6LoadBalancedRoutingHelper makes the list).
 *
 * Flows are identified by addresses, next header and flow label, and by the ports of TCP and UDP if
 * their header directly follows the IPv6 header.
 */
class Ipv6LoadBalancedRouting : public RoutePolicy<Ipv6Family>
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    void NotifyAddRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
    {
        NoteChange();
    }

    void NotifyRemoveRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
    {
        NoteChange();
    }

    void SetIpv6(Ptr<Ipv6> ipv6) override
    {
        SetIp(ipv6);
    }
};

} // namespace ns3

#endif /* IPV6_LOAD_BALANCED_ROUTING_H */
