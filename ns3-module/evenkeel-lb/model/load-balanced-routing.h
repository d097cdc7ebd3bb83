// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef LOAD_BALANCED_ROUTING_H
#define LOAD_BALANCED_ROUTING_H

#include "route-policy.h"

/**
 * @defgroup evenkeel Load balancing for AI-training networks
 *
 * Policies of evenkeel for traffic of any kind, and its NICs, switches and fabrics.
 */

namespace ns3
{

/**
 * @ingroup evenkeel
 *
 * @brief An evenkeel load-balancing policy among equal-cost next hops.
 *
 * Place it above Ipv4GlobalRouting in an Ipv4ListRouting (LoadBalancedRoutingHelper makes the
 * list). If global routing has two or more equal-cost next hops for a packet, the policy chooses
 * one; the next protocol of the list routes all other packets. If that protocol is global routing,
 * packets with one next hop are routed here too, because global routing searches its whole table
 * for each packet.
 *
 * `evenkeel list policies` prints the names of the policies. Switch policies are available (ecmp,
 * switch-rr, switch-random, jsq, adaptive, drill, ofan, ...), and those sender policies that need
 * no feedback (spray, spray-rr, flowlet). For the latter, the router acts for the sender and keeps
 * its state by flow. Other policies abort the simulation with a message.
 *
 * The attribute Routes selects the source of next hops: global routing, static routes or shortest
 * paths. The next hops to a destination are looked up for its first packet, and again after routes
 * or interfaces change. A node with one link looks up nothing.
 */
class LoadBalancedRouting : public RoutePolicy<Ipv4Family>
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    void SetIpv4(Ptr<Ipv4> ipv4) override
    {
        SetIp(ipv4);
    }
};

} // namespace ns3

#endif /* LOAD_BALANCED_ROUTING_H */
