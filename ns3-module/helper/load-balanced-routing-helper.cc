// SPDX-License-Identifier: GPL-2.0-only

#include "load-balanced-routing-helper.h"

#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/load-balanced-routing.h"
#include "ns3/node.h"
#include "ns3/string.h"

namespace ns3
{

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
    return m_factory.Create<LoadBalancedRouting>();
}

void
LoadBalancedRoutingHelper::Set(const std::string& name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

Ipv4ListRoutingHelper
LoadBalancedRoutingHelper::WithGlobalRouting() const
{
    Ipv4ListRoutingHelper list;
    list.Add(*this, 10);
    list.Add(Ipv4StaticRoutingHelper(), 0);
    list.Add(Ipv4GlobalRoutingHelper(), -10);
    return list;
}

int64_t
LoadBalancedRoutingHelper::AssignStreams(NodeContainer nodes, int64_t stream) const
{
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
