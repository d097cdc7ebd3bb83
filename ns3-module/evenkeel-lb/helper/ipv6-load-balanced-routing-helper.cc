// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "ipv6-load-balanced-routing-helper.h"

#include "ns3/ipv6-load-balanced-routing.h"
#include "ns3/ipv6-static-routing-helper.h"
#include "ns3/ipv6.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/string.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("Ipv6LoadBalancedRoutingHelper");

Ipv6LoadBalancedRoutingHelper::Ipv6LoadBalancedRoutingHelper()
{
    m_factory.SetTypeId(Ipv6LoadBalancedRouting::GetTypeId());
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

Ptr<Ipv6RoutingProtocol>
Ipv6LoadBalancedRoutingHelper::Create(Ptr<Node> node) const
{
    NS_LOG_FUNCTION(this << node);
    return m_factory.Create<Ipv6LoadBalancedRouting>();
}

void
Ipv6LoadBalancedRoutingHelper::Set(const std::string& name, const AttributeValue& value)
{
    NS_LOG_FUNCTION(this << name);
    m_factory.Set(name, value);
}

Ipv6ListRoutingHelper
Ipv6LoadBalancedRoutingHelper::WithStaticRouting() const
{
    return Above("static", Ipv6StaticRoutingHelper());
}

Ipv6ListRoutingHelper
Ipv6LoadBalancedRoutingHelper::WithShortestPaths(const Ipv6RoutingHelper& below) const
{
    return Above("shortest-paths", below);
}

Ipv6ListRoutingHelper
Ipv6LoadBalancedRoutingHelper::Above(const std::string& routes,
                                     const Ipv6RoutingHelper& below) const
{
    Ipv6LoadBalancedRoutingHelper above(*this);
    above.Set("Routes", StringValue(routes));
    Ipv6ListRoutingHelper list;
    list.Add(above, 10);
    list.Add(below, 0);
    return list;
}

int64_t
Ipv6LoadBalancedRoutingHelper::AssignStreams(NodeContainer nodes, int64_t stream) const
{
    NS_LOG_FUNCTION(this << stream);
    int64_t next = stream;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        Ptr<Ipv6> ipv6 = (*node)->GetObject<Ipv6>();
        auto routing =
            ipv6 ? GetRouting<Ipv6LoadBalancedRouting>(ipv6->GetRoutingProtocol()) : nullptr;
        if (routing)
        {
            next += routing->AssignStreams(next);
        }
    }
    return next - stream;
}

} // namespace ns3
