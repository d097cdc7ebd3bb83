// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "load-balanced-routing-helper.h"

#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/load-balanced-routing.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/string.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("LoadBalancedRoutingHelper");

namespace
{

// Priorities of protocols in a list. InternetStackHelper gives static and global routing the same.
constexpr int16_t ABOVE = 10;   //!< a policy above all other protocols
constexpr int16_t STATIC = 0;   //!< static routing
constexpr int16_t POLICY = -5;  //!< a policy
constexpr int16_t GLOBAL = -10; //!< global routing

} // namespace

LoadBalancedRoutingHelper::LoadBalancedRoutingHelper()
{
    m_factory.SetTypeId(LoadBalancedRouting::GetTypeId());
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

Ptr<Ipv4RoutingProtocol>
LoadBalancedRoutingHelper::Create(Ptr<Node> node) const
{
    NS_LOG_FUNCTION(this << node);
    return m_factory.Create<LoadBalancedRouting>();
}

void
LoadBalancedRoutingHelper::Set(const std::string& name, const AttributeValue& value)
{
    NS_LOG_FUNCTION(this << name);
    m_factory.Set(name, value);
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
    return list;
}

Ipv4ListRoutingHelper
LoadBalancedRoutingHelper::WithShortestPaths(const Ipv4RoutingHelper& below) const
{
    LoadBalancedRoutingHelper above(*this);
    above.Set("Routes", StringValue("shortest-paths"));
    Ipv4ListRoutingHelper list;
    list.Add(above, ABOVE);
    list.Add(below, STATIC);
    return list;
}

int64_t
LoadBalancedRoutingHelper::AssignStreams(NodeContainer nodes, int64_t stream) const
{
    NS_LOG_FUNCTION(this << stream);
    int64_t next = stream;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        Ptr<Ipv4> ipv4 = (*node)->GetObject<Ipv4>();
        if (!ipv4)
        {
            continue;
        }
        auto routing = GetRouting<LoadBalancedRouting>(ipv4->GetRoutingProtocol());
        if (routing)
        {
            next += routing->AssignStreams(next);
        }
    }
    return next - stream;
}

} // namespace ns3
