// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "load-balanced-routing.h"

#include "ns3/log.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("LoadBalancedRouting");

NS_OBJECT_ENSURE_REGISTERED(LoadBalancedRouting);

TypeId
LoadBalancedRouting::GetTypeId()
{
    static TypeId tid = AddAttributes(TypeId("ns3::LoadBalancedRouting")
                                          .SetParent<Ipv4RoutingProtocol>()
                                          .SetGroupName("Evenkeel")
                                          .AddConstructor<LoadBalancedRouting>(),
                                      "global",
                                      "ns3::LoadBalancedRouting::ChoiceTracedCallback");
    return tid;
}

void
LoadBalancedRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    NS_LOG_FUNCTION(this << ipv4);
    SetIp(ipv4);
}

} // namespace ns3
