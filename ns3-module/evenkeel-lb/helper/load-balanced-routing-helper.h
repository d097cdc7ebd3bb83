// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef LOAD_BALANCED_ROUTING_HELPER_H
#define LOAD_BALANCED_ROUTING_HELPER_H

#include "route-policy-helper.h"

#include "ns3/ipv4-list-routing-helper.h"

#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 *
 * @brief Adds a load-balancing policy to nodes, for the equal-cost next hops of global routing.
 *
 * A script changes in three lines:
 * @code
 *   LoadBalancedRoutingHelper routing("flowlet");
 *   InternetStackHelper internet;
 *   internet.SetRoutingHelper(routing.WithGlobalRouting());
 * @endcode
 */
class LoadBalancedRoutingHelper : public RoutePolicyHelper<Ipv4Family>
{
  public:
    /// Makes a helper for the policy that is the attribute's default.
    LoadBalancedRoutingHelper();
    /**
     * @brief Makes a helper for a policy.
     * @param policy its name
     */
    explicit LoadBalancedRoutingHelper(const std::string& policy);

    LoadBalancedRoutingHelper* Copy() const override;

    /**
     * @brief Adds the policy to static and global routing, which InternetStackHelper installs by
     * default.
     *
     * The policy has the priority -5, between static (0) and global routing (-10), so that the
     * script's static routes still take precedence.
     *
     * @return the helper of a list with these three protocols
     */
    Ipv4ListRoutingHelper WithGlobalRouting() const;
    /**
     * @brief Adds the policy above global routing alone.
     *
     * Use it for scripts that install Ipv4GlobalRoutingHelper without static routing, such as those
     * whose links share a network. Static routing would send all its packets over the first link.
     *
     * @return the helper of a list with these two protocols
     */
    Ipv4ListRoutingHelper WithGlobalRoutingOnly() const;

    /**
     * @brief Adds the policy above static and global routing, which InternetStackHelper installs by
     * default, for static routes of equal prefix and metric.
     * @return the helper of a list with these three protocols
     */
    Ipv4ListRoutingHelper WithStaticRouting() const;
    /**
     * @brief Adds the policy above other protocols, among the paths with the fewest links.
     *
     * Use it for scripts with Ipv4NixVectorHelper, whose protocol finds one such path. The other
     * protocols route packets to destinations to which no node has several such paths.
     *
     * @param below the helper that the script passes to InternetStackHelper without a policy
     * @return the helper of a list with the protocols of `below` and the policy
     */
    LoadBalancedRoutingHelper WithShortestPaths(const Ipv4RoutingHelper& below) const;
};

} // namespace ns3

#endif /* LOAD_BALANCED_ROUTING_HELPER_H */
