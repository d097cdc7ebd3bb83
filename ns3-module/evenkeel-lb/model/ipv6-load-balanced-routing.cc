// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "ipv6-load-balanced-routing.h"

#include "ns3/log.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("Ipv6LoadBalancedRouting");

NS_OBJECT_ENSURE_REGISTERED(Ipv6LoadBalancedRouting);

TypeId
Ipv6LoadBalancedRouting::GetTypeId()
{
    static TypeId tid = AddAttributes(TypeId("ns3::Ipv6LoadBalancedRouting")
                                          .SetParent<Ipv6RoutingProtocol>()
                                          .SetGroupName("Evenkeel")
                                          .AddConstructor<Ipv6LoadBalancedRouting>(),
                                      "static",
                                      "ns3::Ipv6LoadBalancedRouting::ChoiceTracedCallback");
    return tid;
}

void
Ipv6LoadBalancedRouting::SetIpv6(Ptr<Ipv6> ipv6)
{
    NS_LOG_FUNCTION(this << ipv6);
    SetIp(ipv6);
}

} // namespace ns3
