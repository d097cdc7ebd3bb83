// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "ipv6-load-balanced-routing.h"

#include "ip-topology.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

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

Ipv6LoadBalancedRouting::Ipv6LoadBalancedRouting()
{
    NS_LOG_FUNCTION(this);
}

Ipv6LoadBalancedRouting::~Ipv6LoadBalancedRouting()
{
    NS_LOG_FUNCTION(this);
}

void
Ipv6LoadBalancedRouting::NotifyAddRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address)
{
    NS_LOG_FUNCTION(this);
    IpTopologyOf<Ipv6Family>::NoteChange();
}

void
Ipv6LoadBalancedRouting::NotifyRemoveRoute(Ipv6Address,
                                           Ipv6Prefix,
                                           Ipv6Address,
                                           uint32_t,
                                           Ipv6Address)
{
    NS_LOG_FUNCTION(this);
    IpTopologyOf<Ipv6Family>::NoteChange();
}

void
Ipv6LoadBalancedRouting::SetIpv6(Ptr<Ipv6> ipv6)
{
    NS_LOG_FUNCTION(this << ipv6);
    SetIp(ipv6);
    // ns-3 initializes only the protocols that are aggregated to the node.
    Simulator::ScheduleNow(&Object::Initialize, Ptr<Object>(this));
}

} // namespace ns3
