// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef IPV6_LOAD_BALANCED_ROUTING_HELPER_H
#define IPV6_LOAD_BALANCED_ROUTING_HELPER_H

#include "route-policy-helper.h"

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
class Ipv6LoadBalancedRoutingHelper : public RoutePolicyHelper<Ipv6Family>
{
  public:
    /// Makes a helper for the policy that is the attribute's default.
    Ipv6LoadBalancedRoutingHelper();
    /**
     * @brief Makes a helper for a policy.
     * @param policy its name
     */
    explicit Ipv6LoadBalancedRoutingHelper(const std::string& policy);

    Ipv6LoadBalancedRoutingHelper* Copy() const override;

    /**
     * @brief Adds the policy to static routing, which InternetStackHelper installs by default, for
     * static routes of equal prefix and metric.
     * @return the helper of a list with both protocols
     */
    Ipv6LoadBalancedRoutingHelper WithStaticRouting() const;
    /**
     * @brief Adds the policy above other protocols, among the paths with the fewest links.
     *
     * Use it for scripts with RipNgHelper, whose protocol keeps one route to each network. The
     * other protocols route packets to destinations to which no node has several such paths.
     *
     * @param below the helper that the script passes to InternetStackHelper without a policy
     * @return the helper of a list with the protocols of `below` and the policy
     */
    Ipv6LoadBalancedRoutingHelper WithShortestPaths(const Ipv6RoutingHelper& below) const;
};

} // namespace ns3

#endif /* IPV6_LOAD_BALANCED_ROUTING_HELPER_H */
