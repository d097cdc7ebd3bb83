// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "route-policy.h"

#include "device-queues.h"
#include "equal-cost-routes.h"
#include "ip-topology.h"
#include "policy-checks.h"
#include "policy-choosers.h"
#include "refuse.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include <iostream>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoutePolicy");

void
WarnOfPolicy(const std::string& text)
{
    NS_LOG_WARN(text);
    std::cerr << "evenkeel: warning: " << text << std::endl;
}

/// The next hops and policies of a router. @tparam F IPv4 or IPv6
template <class F>
struct RoutePolicy<F>::State
{
    using Group = RouteGroupOf<F>; //!< equal-cost next hops

    /**
     * @param policy has the attributes
     */
    explicit State(RoutePolicy& policy)
        : of(policy)
    {
    }

    /// @return false if the node has one link, so that no packet has a choice
    bool HasChoice()
    {
        return routes.HasChoice() || of.m_source == "shortest-paths";
    }

    /// @return id of the node
    uint32_t NodeId() const
    {
        return of.m_ip->template GetObject<Node>()->GetId();
    }

    /**
     * @brief Makes the policies. Aborts with a message if one is unknown or unsupported.
     * @param facts the properties of the node
     * @return the policies
     */
    std::unique_ptr<PolicyChoosers> MakePolicies(const evenkeel::Switch& facts) const
    {
        return std::make_unique<PolicyChoosers>(F::NAME,
                                                DscpPolicy{0, 63, of.m_policy, of.m_parameters},
                                                of.m_dscpPolicies,
                                                facts);
    }

    /// Aborts with a message if one of the policies is unknown or unsupported.
    void CheckPolicies() const
    {
        if (PolicyChecks<F>::Get().IsNew(of.m_policy + '\n' + of.m_parameters + '\n' +
                                         of.m_dscpPolicies))
        {
            MakePolicies(evenkeel::Switch());
        }
    }

    /**
     * @brief Makes the policies with the properties of the node, and checks their flowlet gaps.
     * @param group next hops of a packet
     */
    void MakeChoosers(const Group& group)
    {
        NS_LOG_FUNCTION(this);
        evenkeel::Switch facts;
        facts.id = NodeId();
        facts.ports = of.m_ip->GetNInterfaces();
        facts.tier = of.m_tier == FOUND ? IpTopologyOf<F>::Get().TierOf(facts.id) : of.m_tier;
        facts.portBufferBytes = of.m_portBuffer;
        const Time baseRtt =
            of.m_baseRtt.IsZero() ? IpTopologyOf<F>::Get().GetBaseRtt() : of.m_baseRtt;
        facts.baseRttPs = (baseRtt.IsZero() ? MicroSeconds(100) : baseRtt).GetPicoSeconds();
        facts.seed = of.m_seed != 0 ? of.m_seed : DrawSeed(of.m_stream, facts.id);
        choosers = MakePolicies(facts);
        for (const evenkeel::SwitchChooser& policy : choosers->policies)
        {
            if (policy.flowletGapPs() > 0)
            {
                PolicyChecks<F>::Get().CheckFlowletGap(policy.flowletGapPs(), of.m_ip, group);
            }
        }
    }

    /// Finds the protocols of the node when the first packet needs a route.
    void FindProtocols()
    {
        NS_LOG_FUNCTION(this);
        auto source = NextHopSourceOf<F>::Make(of.m_source, of.m_ip);
        EVENKEEL_REFUSE_IF(!source,
                           F::NAME,
                           "Routes is '" << of.m_source
                                         << "': it must be static, shortest-paths or, with IPv4, "
                                            "global");
        routes.SetSource(std::move(source));
        // The next protocol may not know the shortest paths, so route every packet here.
        routesAll = of.m_source == "shortest-paths";
        forwardsAll = false;
        isBelowChecked = false;
        auto list = DynamicCast<typename F::ListRouting>(of.m_ip->GetRoutingProtocol());
        const uint32_t count = list ? list->GetNRoutingProtocols() : 0;
        int16_t priority = 0;
        for (uint32_t number = 0; number + 1 < count; number++)
        {
            const auto protocol = list->GetRoutingProtocol(number, priority);
            if (DynamicCast<RoutePolicy>(protocol) == &of)
            {
                const auto next = list->GetRoutingProtocol(number + 1, priority);
                routesAll |= of.m_source == "global" && DynamicCast<Ipv4GlobalRouting>(next);
                forwardsAll |= of.m_source == "static" && DynamicCast<Ipv4StaticRouting>(next);
            }
        }
    }

    /**
     * @brief Finds the next hops to a destination and notifies the policies of changes.
     * @param destination an address
     * @param isOwn true if the node itself sends the packet
     * @return the next hops; null if the next protocol routes its packets
     */
    const Group* FindGroup(Address destination, bool isOwn)
    {
        if (!routes.GetSource())
        {
            FindProtocols();
        }
        if (!HasChoice())
        {
            return nullptr;
        }
        bool changed = false;
        const Group& group = routes.GroupOf(destination, of.m_refreshInterval, changed);
        if (changed && choosers)
        {
            NS_LOG_LOGIC("other next hops to " << destination << ": " << group.hops.size());
            for (evenkeel::SwitchChooser& policy : choosers->policies)
            {
                policy.routingChanged();
            }
        }
        auto& checks = PolicyChecks<F>::Get();
        checks.CheckChoice(of.m_policy, of.m_ip, *routes.GetSource(), destination, group);
        const std::size_t count = group.hops.size();
        const bool isAlone = count == 1 && (routesAll || (forwardsAll && !isOwn));
        if (!isBelowChecked && (count > 1 || (isAlone && of.m_source == "shortest-paths")))
        {
            isBelowChecked = true;
            checks.template CheckBelow<RoutePolicy>(of.m_policy, of.m_ip, *routes.GetSource());
        }
        return count > 1 || isAlone ? &group : nullptr;
    }

    /**
     * @brief Finds the route of a packet.
     * @param packet the packet, without its IP header; null if its ports must not be used
     * @param header its IP header
     * @param dscp its DSCP
     * @return the route; null if the next protocol routes it
     */
    Ptr<Route> FindRoute(Ptr<const Packet> packet, const Header& header, uint8_t dscp)
    {
        const Group* const group = FindGroup(header.GetDestination(), !packet);
        if (!group)
        {
            return nullptr;
        }
        if (group->hops.size() == 1)
        {
            return group->routes[0];
        }
        if (!choosers)
        {
            MakeChoosers(*group);
        }
        evenkeel::SwitchChooser& policy = choosers->policies[choosers->ofDscp[dscp]];
        FillCandidates(*group, policy.usesWeights(), policy.looksAtQueues());
        if (indices.empty())
        {
            return nullptr;
        }
        evenkeel::Candidates candidates;
        candidates.ports = ports.data();
        candidates.count = ports.size();
        candidates.queueBytes = queueBytes.empty() ? nullptr : queueBytes.data();
        candidates.weights = weights.empty() ? nullptr : weights.data();
        const uint32_t choice =
            policy.choose(ArrivalOf<F>(packet, header, group->edge), candidates);
        NS_LOG_LOGIC("interface " << ports[choice] << " of " << candidates.count << " next hops to "
                                  << header.GetDestination());
        of.m_choice(packet, header, ports[choice], candidates.count);
        return group->routes[indices[choice]];
    }

    /**
     * @brief Fills in the candidates: the next hops whose interface is up.
     * @param group the next hops
     * @param weighs true if the policy uses weights
     * @param looks true if the policy looks at queues
     */
    void FillCandidates(const Group& group, bool weighs, bool looks)
    {
        indices.clear();
        ports.clear();
        queueBytes.clear();
        weights.clear();
        weighs = weighs && !group.weights.empty();
        for (std::size_t index = 0; index < group.hops.size(); index++)
        {
            const uint32_t interface = group.hops[index].interface;
            if (of.m_ip->IsUp(interface))
            {
                indices.push_back(index);
                ports.push_back(interface);
                if (weighs)
                {
                    weights.push_back(group.weights[index]);
                }
                if (looks)
                {
                    queueBytes.push_back(queues.GetBytes(of.m_ip->GetNetDevice(interface)));
                }
            }
        }
    }

    RoutePolicy& of;                          //!< has the attributes
    std::unique_ptr<PolicyChoosers> choosers; //!< the policies; null until needed
    EqualCostRoutesOf<F> routes;              //!< next hops
    bool routesAll{false};                    //!< also route packets without a choice
    bool forwardsAll{false};                  //!< also route forwarded packets without a choice
    bool isBelowChecked{false};               //!< CheckBelow was called since FindProtocols
    DeviceQueues queues;                      //!< queued bytes at devices
    std::vector<std::size_t> indices;         //!< index of each candidate in its group
    std::vector<uint32_t> ports;              //!< interfaces of the candidates
    std::vector<uint64_t> queueBytes;         //!< queued bytes at the candidates
    std::vector<uint32_t> weights;            //!< weights of the candidates; empty if all are equal
};

template <class F>
RoutePolicy<F>::RoutePolicy()
    : m_state(std::make_unique<State>(*this))
{
}

template <class F>
RoutePolicy<F>::~RoutePolicy() = default;

template <class F>
void
RoutePolicy<F>::SetIp(Ptr<Ip> ip)
{
    NS_LOG_FUNCTION(this << ip);
    m_ip = ip;
    m_state->routes.SetIp(ip);
    // ns-3 initializes only the protocols that are aggregated to the node.
    Simulator::ScheduleNow(&Object::Initialize, Ptr<Object>(this));
    // A wrong name ends the script at the line that installs it, not when the simulation runs.
    m_state->CheckPolicies();
}

template <class F>
void
RoutePolicy<F>::DoInitialize()
{
    NS_LOG_FUNCTION(this);
    EVENKEEL_REFUSE_IF(!m_ip,
                       F::NAME,
                       "no IP protocol is set: add this routing to a list of protocols");
    m_state->CheckPolicies();
    // Interface 0 is the loopback, and a node with one link has no choice.
    if (m_ip->GetNInterfaces() > 2)
    {
        const auto source = NextHopSourceOf<F>::Make(m_source, m_ip);
        PolicyChecks<F>::Get().template CheckPlace<RoutePolicy>(m_policy, m_ip, source.get());
    }
    F::RoutingProtocol::DoInitialize();
}

template <class F>
void
RoutePolicy<F>::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_state = std::make_unique<State>(*this);
    m_ip = nullptr;
    F::RoutingProtocol::DoDispose();
}

template <class F>
int64_t
RoutePolicy<F>::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_stream = stream;
    RenewPolicies();
    return 1;
}

template <class F>
void
RoutePolicy<F>::RenewPolicies()
{
    NS_LOG_FUNCTION(this);
    m_state->choosers.reset();
}

template <class F>
void
RoutePolicy<F>::RenewSource()
{
    NS_LOG_FUNCTION(this);
    m_state->routes.SetSource(nullptr);
}

template <class F>
uint64_t
RoutePolicy<F>::GetStateBits() const
{
    uint64_t bits = 0;
    for (std::size_t at = 0; m_state->choosers && at < m_state->choosers->policies.size(); at++)
    {
        bits += m_state->choosers->policies[at].stateBits();
    }
    return bits;
}

template <class F>
void
RoutePolicy<F>::NoteChange()
{
    g_ipChanges++;
}

template <class F>
void
RoutePolicy<F>::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const
{
    std::ostream& out = *stream->GetStream();
    out << "Node: " << m_state->NodeId() << ", Time: " << Now().As(unit) << ", " << F::NAME
        << " table, policy " << m_policy << "\n";
    for (const auto& [destination, group] : m_state->routes.GetGroups())
    {
        if (group.hops.size() > 1)
        {
            out << destination << " by one of the interfaces";
            for (const NextHopOf<F>& hop : group.hops)
            {
                out << " " << hop.interface;
            }
            out << "\n";
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
    Ptr<Route> route;
    if (!device && F::IsRouted(header.GetDestination()))
    {
        // Do not use ports: some transport protocols add them to the packet only later.
        route = m_state->FindRoute(nullptr, header, F::DscpOf(header, packet));
    }
    error = route ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
    // A copy, because the socket may change its route.
    return route ? Create<Route>(*route) : nullptr;
}

template <class F>
bool
RoutePolicy<F>::RouteInput(Ptr<const Packet> packet,
                           const Header& header,
                           Ptr<const NetDevice> device,
                           typename F::Input::Unicast unicast,
                           typename F::Input::Multicast,
                           typename F::Input::Local,
                           typename F::Input::Error)
{
    NS_LOG_FUNCTION(this << packet << header << device);
    const Address destination = header.GetDestination();
    if (!F::IsRouted(destination) || !m_state->HasChoice())
    {
        return false;
    }
    const uint32_t interface = m_ip->GetInterfaceForDevice(device);
    if (F::IsLocal(m_ip, destination, interface) || !m_ip->IsForwarding(interface))
    {
        // The list does local delivery; the next protocol handles the rest.
        return false;
    }
    Ptr<Route> route = m_state->FindRoute(packet, header, F::DscpOf(header, nullptr));
    if (!route)
    {
        return false;
    }
    if constexpr (std::is_same_v<F, Ipv4Family>)
    {
        unicast(route, packet, header);
    }
    else
    {
        unicast(device, route, packet, header);
    }
    return true;
}

template class RoutePolicy<Ipv4Family>;
template class RoutePolicy<Ipv6Family>;

} // namespace ns3
