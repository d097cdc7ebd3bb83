// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "equal-cost-routes.h"
#include "ip-topology.h"
#include "next-hop-source.h"
#include "refuse.h"
#include "route-policy.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/rng-stream.h"
#include "ns3/simulator.h"

#include <utility>

// RoutePolicy's lookups in its node and in the simulation.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoutePolicyNode");

template <class F>
uint64_t
RoutePolicy<F>::MakeSeed() const
{
    NS_LOG_FUNCTION(this);
    if (m_seed != 0)
    {
        return m_seed;
    }
    // RandomVariableStream would take the next automatic stream and thereby change the numbers of
    // all variables that the script makes later. Automatic streams start at 0 and assigned ones at
    // 2^63, so those between are free.
    const uint64_t stream = m_stream < 0 ? (1ULL << 62) + m_ip->template GetObject<Node>()->GetId()
                                         : (1ULL << 63) + static_cast<uint64_t>(m_stream);
    RngStream random(RngSeedManager::GetSeed(), stream, RngSeedManager::GetRun());
    const double draws = 4294967296.0;
    const auto high = static_cast<uint64_t>(random.RandU01() * draws);
    return high << 32 | static_cast<uint64_t>(random.RandU01() * draws);
}

template <class F>
Time
RoutePolicy<F>::FindBaseRtt() const
{
    NS_LOG_FUNCTION(this);
    if (m_baseRtt.IsStrictlyPositive())
    {
        return m_baseRtt;
    }
    const Time found = IpTopologyOf<F>::Get().GetBaseRtt();
    return found.IsStrictlyPositive() ? found : MicroSeconds(100);
}

template <class F>
void
RoutePolicy<F>::FindProtocols()
{
    NS_LOG_FUNCTION(this);
    std::unique_ptr<NextHopSourceOf<F>> source = NextHopSourceOf<F>::Make(m_source, m_ip);
    EVENKEEL_REFUSE_IF(
        !source,
        F::Name(),
        "Routes is '" << m_source << "': it must be static, shortest-paths or, with IPv4, global");
    m_routes->SetSource(std::move(source));
    // The next protocol may not know the shortest paths, so route every packet here.
    m_routesAll = m_source == "shortest-paths";
    Ptr<typename F::ListRouting> list =
        DynamicCast<typename F::ListRouting>(m_ip->GetRoutingProtocol());
    m_forwardsAll = false;
    const uint32_t count = list ? list->GetNRoutingProtocols() : 0;
    int16_t priority = 0;
    for (uint32_t number = 0; number + 1 < count; number++)
    {
        if (dynamic_cast<RoutePolicy*>(PeekPointer(list->GetRoutingProtocol(number, priority))) ==
            this)
        {
            const auto next = list->GetRoutingProtocol(number + 1, priority);
            m_routesAll |= m_source == "global" && DynamicCast<Ipv4GlobalRouting>(next) != nullptr;
            m_forwardsAll |=
                m_source == "static" && DynamicCast<Ipv4StaticRouting>(next) != nullptr;
        }
    }
}

template <class F>
void
RoutePolicy<F>::Print(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const
{
    std::ostream& out = *stream->GetStream();
    out << "Node: " << m_ip->template GetObject<Node>()->GetId() << ", Time: " << Now().As(unit)
        << ", " << F::Name() << " table, policy " << m_policy << "\n";
    for (const auto& [destination, group] : m_routes->GetGroups())
    {
        if (group.interfaces.size() > 1)
        {
            out << destination << " by one of the interfaces";
            for (uint32_t interface : group.interfaces)
            {
                out << " " << interface;
            }
            out << "\n";
        }
    }
}

template uint64_t RoutePolicy<Ipv4Family>::MakeSeed() const;
template uint64_t RoutePolicy<Ipv6Family>::MakeSeed() const;
template Time RoutePolicy<Ipv4Family>::FindBaseRtt() const;
template Time RoutePolicy<Ipv6Family>::FindBaseRtt() const;
template void RoutePolicy<Ipv4Family>::FindProtocols();
template void RoutePolicy<Ipv6Family>::FindProtocols();
template void RoutePolicy<Ipv4Family>::Print(Ptr<OutputStreamWrapper>, Time::Unit) const;
template void RoutePolicy<Ipv6Family>::Print(Ptr<OutputStreamWrapper>, Time::Unit) const;

} // namespace ns3
