// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "load-balanced-routing-helper.h"

#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/load-balanced-routing.h"

namespace ns3
{

namespace
{

// Priorities of protocols in a list. InternetStackHelper gives static and global routing the same.
constexpr int16_t ABOVE = 10;   //!< a policy above all other protocols
constexpr int16_t STATIC = 0;   //!< static routing
constexpr int16_t POLICY = -5;  //!< a policy
constexpr int16_t GLOBAL = -10; //!< global routing

} // namespace

LoadBalancedRoutingHelper::LoadBalancedRoutingHelper()
    : RoutePolicyHelper(LoadBalancedRouting::GetTypeId())
{
}

LoadBalancedRoutingHelper::LoadBalancedRoutingHelper(const std::string& policy)
    : LoadBalancedRoutingHelper()
{
    Set("Policy", StringValue(policy));
}

LoadBalancedRoutingHelper*
LoadBalancedRoutingHelper::Copy() const
{
    return new LoadBalancedRoutingHelper(*this);
}

Ipv4ListRoutingHelper
LoadBalancedRoutingHelper::WithGlobalRouting() const
{
    Ipv4ListRoutingHelper list = WithGlobalRoutingOnly();
    list.Add(Ipv4StaticRoutingHelper(), STATIC);
    return list;
}

Ipv4ListRoutingHelper
LoadBalancedRoutingHelper::WithGlobalRoutingOnly() const
{
    Ipv4ListRoutingHelper list;
    list.Add(*this, POLICY);
    list.Add(Ipv4GlobalRoutingHelper(), GLOBAL);
    return list;
}

Ipv4ListRoutingHelper
LoadBalancedRoutingHelper::WithStaticRouting() const
{
    LoadBalancedRoutingHelper above(*this);
    above.Set("Routes", StringValue("static"));
    Ipv4ListRoutingHelper list;
    list.Add(above, ABOVE);
    list.Add(Ipv4StaticRoutingHelper(), STATIC);
    // Global routing takes a random stream, also without routes: the script's streams follow it.
    list.Add(Ipv4GlobalRoutingHelper(), GLOBAL);
    return list;
}

LoadBalancedRoutingHelper
LoadBalancedRoutingHelper::WithShortestPaths(const Ipv4RoutingHelper& below) const
{
    return Above(*this, "shortest-paths", below);
}

} // namespace ns3
