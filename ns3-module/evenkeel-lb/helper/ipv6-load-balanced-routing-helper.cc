// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "ipv6-load-balanced-routing-helper.h"

#include "ns3/ipv6-load-balanced-routing.h"
#include "ns3/ipv6-static-routing-helper.h"

namespace ns3
{

Ipv6LoadBalancedRoutingHelper::Ipv6LoadBalancedRoutingHelper()
    : RoutePolicyHelper(Ipv6LoadBalancedRouting::GetTypeId())
{
}

Ipv6LoadBalancedRoutingHelper::Ipv6LoadBalancedRoutingHelper(const std::string& policy)
    : Ipv6LoadBalancedRoutingHelper()
{
    Set("Policy", StringValue(policy));
}

Ipv6LoadBalancedRoutingHelper*
Ipv6LoadBalancedRoutingHelper::Copy() const
{
    return new Ipv6LoadBalancedRoutingHelper(*this);
}

Ipv6LoadBalancedRoutingHelper
Ipv6LoadBalancedRoutingHelper::WithStaticRouting() const
{
    return Above(*this, "static", Ipv6StaticRoutingHelper());
}

Ipv6LoadBalancedRoutingHelper
Ipv6LoadBalancedRoutingHelper::WithShortestPaths(const Ipv6RoutingHelper& below) const
{
    return Above(*this, "shortest-paths", below);
}

} // namespace ns3
