// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef LOAD_BALANCED_ROUTING_HELPER_H
#define LOAD_BALANCED_ROUTING_HELPER_H

#include "route-policy-helper.h"

#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-list-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/load-balanced-routing.h"

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
class LoadBalancedRoutingHelper : public RoutePolicyHelper<Ipv4Family, LoadBalancedRoutingHelper>
{
  public:
    /// Makes a helper for the policy that is the attribute's default.
    LoadBalancedRoutingHelper()
        : RoutePolicyHelper(LoadBalancedRouting::GetTypeId())
    {
    }

    /**
     * @brief Makes a helper for a policy.
     * @param policy its name
     */
    explicit LoadBalancedRoutingHelper(const std::string& policy)
        : LoadBalancedRoutingHelper()
    {
        Set("Policy", StringValue(policy));
    }

    /**
     * @brief Adds the policy to static and global routing, which InternetStackHelper installs by
     * default.
     *
     * The policy has the priority -5, between static (0) and global routing (-10), so that the
     * script's static routes still take precedence.
     *
     * @return the helper of a list with these three protocols
     */
    Ipv4ListRoutingHelper WithGlobalRouting() const
    {
        Ipv4ListRoutingHelper list = WithGlobalRoutingOnly();
        list.Add(Ipv4StaticRoutingHelper(), STATIC);
        return list;
    }

    /**
     * @brief Adds the policy above global routing alone.
     *
     * Use it for scripts that install Ipv4GlobalRoutingHelper without static routing, such as those
     * whose links share a network. Static routing would send all its packets over the first link.
     *
     * @return the helper of a list with these two protocols
     */
    Ipv4ListRoutingHelper WithGlobalRoutingOnly() const
    {
        Ipv4ListRoutingHelper list;
        list.Add(*this, -5);
        list.Add(Ipv4GlobalRoutingHelper(), GLOBAL);
        return list;
    }

    /**
     * @brief Adds the policy above static and global routing, which InternetStackHelper installs by
     * default, for static routes of equal prefix and metric.
     * @return the helper of a list with these three protocols
     */
    Ipv4ListRoutingHelper WithStaticRouting() const
    {
        LoadBalancedRoutingHelper above(*this);
        above.Set("Routes", StringValue("static"));
        Ipv4ListRoutingHelper list;
        list.Add(above, 10);
        list.Add(Ipv4StaticRoutingHelper(), STATIC);
        // Global routing takes a random stream, also without routes: the script's streams follow
        // it.
        list.Add(Ipv4GlobalRoutingHelper(), GLOBAL);
        return list;
    }

  private:
    // Priorities in the lists of InternetStackHelper.
    static constexpr int16_t STATIC = 0;   //!< static routing
    static constexpr int16_t GLOBAL = -10; //!< global routing
};

} // namespace ns3

#endif /* LOAD_BALANCED_ROUTING_HELPER_H */
