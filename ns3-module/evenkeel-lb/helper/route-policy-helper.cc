// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "route-policy-helper.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/route-policy.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoutePolicyHelper");

template <class F>
RoutePolicyHelper<F>::RoutePolicyHelper(TypeId type)
{
    m_factory.SetTypeId(type);
}

template <class F>
Ptr<typename F::RoutingProtocol>
RoutePolicyHelper<F>::Create(Ptr<Node> node) const
{
    NS_LOG_FUNCTION(this << node);
    auto policy = m_factory.Create<typename F::RoutingProtocol>();
    if (!m_below)
    {
        return policy;
    }
    // The policy joins the list of the script: ns-3's IPv6 list in another list calls a null
    // callback if it has no route.
    auto below = m_below->Create(node);
    auto list = DynamicCast<typename F::ListRouting>(below);
    int16_t priority = 0;
    if (!list)
    {
        list = CreateObject<typename F::ListRouting>();
        list->AddRoutingProtocol(below, priority);
    }
    else if (list->GetNRoutingProtocols() > 0)
    {
        list->GetRoutingProtocol(0, priority);
    }
    list->AddRoutingProtocol(policy, std::min(priority + 10, INT16_MAX));
    return list;
}

template <class F>
void
RoutePolicyHelper<F>::Set(const std::string& name, const AttributeValue& value)
{
    NS_LOG_FUNCTION(this << name);
    m_factory.Set(name, value);
}

template <class F>
int64_t
RoutePolicyHelper<F>::AssignStreams(NodeContainer nodes, int64_t stream) const
{
    NS_LOG_FUNCTION(this << stream);
    int64_t next = stream;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        auto ip = (*node)->GetObject<typename F::Ip>();
        auto routing =
            ip ? F::RoutingHelper::template GetRouting<RoutePolicy<F>>(ip->GetRoutingProtocol())
               : nullptr;
        next += routing ? routing->AssignStreams(next) : 0;
    }
    return next - stream;
}

template class RoutePolicyHelper<Ipv4Family>;
template class RoutePolicyHelper<Ipv6Family>;

} // namespace ns3
