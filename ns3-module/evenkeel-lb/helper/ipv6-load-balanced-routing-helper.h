// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef IPV6_LOAD_BALANCED_ROUTING_HELPER_H
#define IPV6_LOAD_BALANCED_ROUTING_HELPER_H

#include "route-policy-helper.h"

#include "ns3/ipv6-load-balanced-routing.h"
#include "ns3/ipv6-static-routing-helper.h"

#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 *
 * @brief Adds a load-balancing policy to nodes, for equal-cost next hops of IPv6.
 *
 * A script changes in three lines:
 * @code
 *   Ipv6LoadBalancedRoutingHelper routing("flowlet");
 *   InternetStackHelper internet;
 *   internet.SetRoutingHelper(routing.WithStaticRouting());
 * @endcode
 */
class Ipv6LoadBalancedRoutingHelper
    : public RoutePolicyHelper<Ipv6Family, Ipv6LoadBalancedRoutingHelper>
{
  public:
    /// Makes a helper for the policy that is the attribute's default.
    Ipv6LoadBalancedRoutingHelper()
        : RoutePolicyHelper(Ipv6LoadBalancedRouting::GetTypeId())
    {
    }

    /**
     * @brief Makes a helper for a policy.
     * @param policy its name
     */
    explicit Ipv6LoadBalancedRoutingHelper(const std::string& policy)
        : Ipv6LoadBalancedRoutingHelper()
    {
        Set("Policy", StringValue(policy));
    }

    /**
     * @brief Adds the policy to static routing, which InternetStackHelper installs by default, for
     * static routes of equal prefix and metric.
     * @return the helper of a list with both protocols
     */
    Ipv6LoadBalancedRoutingHelper WithStaticRouting() const
    {
        return Above("static", Ipv6StaticRoutingHelper());
    }
};

} // namespace ns3

#endif /* IPV6_LOAD_BALANCED_ROUTING_HELPER_H */
