// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "equal-cost-routes.h"
#include "ip-topology.h"
#include "next-hop-source.h"
#include "policy-checks.h"
#include "refuse.h"
#include "route-policy.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/rng-stream.h"
#include "ns3/simulation-singleton.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <utility>

// RoutePolicy's part that does not need the Rust library: its node, its place and its callers.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoutePolicyNode");

namespace
{

/// Number of packets without a choice after which the warning does not wait for the end.
constexpr uint32_t PATIENCE = 1000;

} // namespace

void
WarnOfPolicy(const std::string& text)
{
    NS_LOG_WARN(text);
    std::cerr << "evenkeel: warning: " << text << std::endl;
}

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
RoutePolicy<F>::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const
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

template <class F>
void
RoutePolicy<F>::NoteChange()
{
    g_ipChanges++;
}

template <class F>
void
RoutePolicy<F>::CheckChoice(Address destination, const Group& group)
{
    PolicyChecks<F>& checks = *SimulationSingleton<PolicyChecks<F>>::Get();
    if (checks.isChoiceDone)
    {
        return;
    }
    checks.isChoiceDone = group.routes.size() > 1;
    if (checks.noChoice.empty() && group.routes.size() < 2 && group.shortest > 1)
    {
        std::ostringstream text;
        text << "policy " << m_policy
             << " has no effect: no packet has a choice of next hops. Node "
             << m_ip->template GetObject<Node>()->GetId() << " has " << group.shortest
             << " shortest paths to " << destination << ", but "
             << m_routes->GetSource()->GetReason();
        checks.noChoice = text.str();
    }
    checks.packets += checks.noChoice.empty() ? 0 : 1;
    if (checks.packets == PATIENCE)
    {
        checks.WarnOfNoChoice();
    }
}

template <class F>
void
RoutePolicy<F>::CheckPlace()
{
    NS_LOG_FUNCTION(this);
    // Interface 0 is the loopback.
    if (m_ip->GetNInterfaces() < 3)
    {
        return;
    }
    const auto source = NextHopSourceOf<F>::Make(m_source, m_ip);
    std::string fault = source ? source->GetFault() : "";
    auto list = DynamicCast<typename F::ListRouting>(m_ip->GetRoutingProtocol());
    for (uint32_t i = 0; fault.empty() && list && i < list->GetNRoutingProtocols(); i++)
    {
        int16_t priority = 0;
        const auto protocol = list->GetRoutingProtocol(i, priority);
        if (dynamic_cast<RoutePolicy*>(PeekPointer(protocol)))
        {
            break;
        }
        // Static routes above a policy are exceptions that a script makes.
        if (const auto routes = DynamicCast<typename F::StaticRouting>(protocol))
        {
            CheckNetworks(routes);
            continue;
        }
        fault = protocol->GetInstanceTypeId().GetName() + " routes all packets first, with the " +
                "priority " + std::to_string(priority) +
                " in the list: add the policy with a higher priority";
    }
    std::string& noChoice = SimulationSingleton<PolicyChecks<F>>::Get()->noChoice;
    if (noChoice.empty() && !fault.empty())
    {
        noChoice = "policy " + m_policy + " has no effect, as at node " +
                   std::to_string(m_ip->template GetObject<Node>()->GetId()) + ": " + fault;
    }
}

template <class F>
void
RoutePolicy<F>::CheckNetworks(Ptr<typename F::StaticRouting> routing)
{
    bool& hasWarned = SimulationSingleton<PolicyChecks<F>>::Get()->isNetworkDone;
    std::map<std::pair<Address, uint32_t>, uint32_t> interfaces;
    // The routes to networks of links come first: a script adds others when links have addresses.
    // An interface mostly has one or two addresses.
    const uint32_t count = std::min(routing->GetNRoutes(), 2 * m_ip->GetNInterfaces());
    for (uint32_t i = 0; !hasWarned && i < count; i++)
    {
        const typename F::TableEntry route = routing->GetRoute(i);
        const std::pair<Address, uint32_t> network(route.GetDestNetwork(), F::PrefixLength(route));
        const uint32_t first = interfaces.emplace(network, route.GetInterface()).first->second;
        hasWarned = first != route.GetInterface() && !route.IsGateway();
        if (hasWarned)
        {
            std::ostringstream text;
            text << "several interfaces of node " << m_ip->template GetObject<Node>()->GetId()
                 << " share the network " << network.first << "/" << network.second
                 << ", and static routing, above the policy, sends its packets over the first: if "
                    "the script installs Ipv4GlobalRoutingHelper alone without a policy, use "
                    "WithGlobalRoutingOnly()";
            WarnOfPolicy(text.str());
        }
    }
}

template <class F>
Ptr<typename RoutePolicy<F>::Route>
RoutePolicy<F>::RouteOutput(Ptr<Packet> packet,
                            const Header& header,
                            Ptr<NetDevice> device,
                            Socket::SocketErrno& error)
{
    NS_LOG_FUNCTION(this << packet << header << device);
    error = Socket::ERROR_NOROUTETOHOST;
    if (device || !F::IsRouted(header.GetDestination()))
    {
        return nullptr;
    }
    // Do not use ports: some transport protocols add them to the packet only later.
    Ptr<Route> route = FindRoute(nullptr, header, F::DscpOf(header, packet));
    if (!route)
    {
        return nullptr;
    }
    error = Socket::ERROR_NOTERROR;
    // A copy, because the socket may change its route.
    return Create<Route>(*route);
}

/// The methods of this file, for a family. @param F IPv4 or IPv6
#define EVENKEEL_INSTANTIATE(F)                                                                    \
    template uint64_t RoutePolicy<F>::MakeSeed() const;                                            \
    template Time RoutePolicy<F>::FindBaseRtt() const;                                             \
    template void RoutePolicy<F>::FindProtocols();                                                 \
    template void RoutePolicy<F>::CheckChoice(F::Address, const RouteGroupOf<F>&);                 \
    template void RoutePolicy<F>::CheckPlace();                                                    \
    template void RoutePolicy<F>::CheckNetworks(Ptr<F::StaticRouting>);                            \
    template Ptr<F::Route> RoutePolicy<F>::RouteOutput(Ptr<Packet>,                                \
                                                       const F::Header&,                           \
                                                       Ptr<NetDevice>,                             \
                                                       Socket::SocketErrno&);                      \
    template void RoutePolicy<F>::PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const;   \
    template void RoutePolicy<F>::NoteChange();
EVENKEEL_INSTANTIATE(Ipv4Family)
EVENKEEL_INSTANTIATE(Ipv6Family)
#undef EVENKEEL_INSTANTIATE

} // namespace ns3
