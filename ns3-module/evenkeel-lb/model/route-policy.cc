// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "route-policy.h"

#include "dscp-policies.h"
#include "evenkeel.h"
#include "ip-topology.h"
#include "policy-parameters.h"
#include "refuse.h"

#include "ns3/data-rate.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulation-singleton.h"
#include "ns3/simulator.h"

#include <iostream>
#include <stdexcept>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoutePolicy");

namespace
{

/// The protocol number of TCP (IANA).
const uint8_t TCP = 6;
/// The protocol number of UDP (IANA).
const uint8_t UDP = 17;

/// Whether this simulation has warned of a flowlet gap.
struct GapWarning
{
    bool given{false}; //!< true after the warning
};

/**
 * @tparam F IPv4 or IPv6
 * @param packet a packet without its IP header; null if its ports must not be used
 * @param header its IP header
 * @param edge the node that represents the edge switch of its destination
 * @return the packet as the policy sees it
 */
template <class F>
evenkeel::Arrival
ArrivalOf(Ptr<const Packet> packet, const typename F::Header& header, uint32_t edge)
{
    evenkeel::Arrival arrival;
    arrival.nowPs = Simulator::Now().GetPicoSeconds();
    arrival.bytes = (packet ? packet->GetSize() : 0) + header.GetSerializedSize();
    arrival.edge = edge;
    // IP routing has no pods, so the edge switch stands for the pod.
    arrival.pod = edge;
    arrival.label = F::Hash(header);
    const uint8_t protocol = F::ProtocolOf(header);
    const bool hasPorts = protocol == TCP || protocol == UDP;
    uint8_t start[13];
    if (packet && hasPorts && packet->CopyData(start, 13) >= 4)
    {
        const uint32_t ports = start[0] << 24 | start[1] << 16 | start[2] << 8 | start[3];
        arrival.label = evenkeelinternal::Mix(arrival.label, ports);
        // A TCP segment carries no data if its length equals its header length, in 32-bit words.
        arrival.control = protocol == TCP && packet->GetSize() >= 13 &&
                          packet->GetSize() == (start[12] >> 4) * 4U;
    }
    return arrival;
}

} // namespace

/// The default policy of a node, and those of DSCPs.
template <class F>
struct RoutePolicy<F>::Choosers
{
    /**
     * @brief Adds a policy.
     * @param policy its name
     * @param parameters its parameters
     * @param facts the properties of the node
     * @return an empty string, or an error message
     */
    std::string Add(const std::string& policy,
                    const std::string& parameters,
                    const evenkeel::Switch& facts)
    {
        try
        {
            policies.emplace_back(policy, PolicyParameterLines(parameters), facts);
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "";
    }

    std::vector<evenkeel::SwitchChooser> policies; //!< the attribute Policy comes first
    std::array<uint8_t, 64> ofDscp{};              //!< index of the policy, by DSCP
};

template <class F>
RoutePolicy<F>::RoutePolicy()
    : m_seed(0),
      m_tier(FOUND),
      m_portBuffer(0),
      m_stream(-1)
{
}

template <class F>
RoutePolicy<F>::~RoutePolicy() = default;

template <class F>
void
RoutePolicy<F>::SetIp(Ptr<Ip> ip)
{
    m_ip = ip;
    m_routes.SetIp(ip);
}

template <class F>
void
RoutePolicy<F>::Forget()
{
    m_choosers.reset();
    m_routes.Clear();
    m_queues.Clear();
    m_ip = nullptr;
}

template <class F>
void
RoutePolicy<F>::SetPolicy(std::string policy)
{
    NS_LOG_FUNCTION(this << policy);
    m_policy = policy;
    m_choosers.reset();
}

template <class F>
std::string
RoutePolicy<F>::GetPolicy() const
{
    return m_policy;
}

template <class F>
void
RoutePolicy<F>::SetParameters(std::string parameters)
{
    NS_LOG_FUNCTION(this << parameters);
    m_parameters = parameters;
    m_choosers.reset();
}

template <class F>
std::string
RoutePolicy<F>::GetParameters() const
{
    return m_parameters;
}

template <class F>
void
RoutePolicy<F>::SetDscpPolicies(std::string policies)
{
    NS_LOG_FUNCTION(this << policies);
    m_dscpPolicies = policies;
    m_choosers.reset();
}

template <class F>
std::string
RoutePolicy<F>::GetDscpPolicies() const
{
    return m_dscpPolicies;
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
    m_choosers.reset();
}

template <class F>
void
RoutePolicy<F>::RenewSource()
{
    m_routes.SetSource(nullptr);
}

template <class F>
uint64_t
RoutePolicy<F>::GetStateBits() const
{
    uint64_t bits = 0;
    for (std::size_t at = 0; m_choosers && at < m_choosers->policies.size(); at++)
    {
        bits += m_choosers->policies[at].stateBits();
    }
    return bits;
}

template <class F>
void
RoutePolicy<F>::CheckFlowletGap(const Group& group)
{
    uint64_t gapPs = 0;
    for (const evenkeel::SwitchChooser& policy : m_choosers->policies)
    {
        const uint64_t gap = policy.flowletGapPs();
        gapPs = gapPs == 0 || (gap > 0 && gap < gapPs) ? gap : gapPs;
    }
    bool& hasWarned = SimulationSingleton<GapWarning>::Get()->given;
    for (std::size_t hop = 0; gapPs > 0 && !hasWarned && hop < group.rates.size(); hop++)
    {
        const uint32_t interface = group.interfaces[hop];
        const double bits = 8.0 * m_ip->GetMtu(interface);
        if (group.rates[hop] > 0 && 1e12 * bits / group.rates[hop] > gapPs)
        {
            hasWarned = true;
            std::clog << "evenkeel: warning: the flowlet gap of " << gapPs / 1000
                      << " ns is shorter than the transmission of a full packet on interface "
                      << interface << " of node " << m_ip->template GetObject<Node>()->GetId()
                      << " (" << DataRate(group.rates[hop])
                      << "): every packet begins a flowlet; set a longer gap in the attribute "
                         "Parameters, or BaseRtt\n";
        }
    }
}

template <class F>
void
RoutePolicy<F>::MakeChoosers()
{
    if (m_choosers)
    {
        return;
    }
    EVENKEEL_REFUSE_IF(!m_ip,
                       F::Name(),
                       "no IP protocol is set: add this routing to a list of protocols");
    evenkeel::Switch facts;
    facts.id = m_ip->template GetObject<Node>()->GetId();
    facts.ports = m_ip->GetNInterfaces();
    facts.tier = m_tier == FOUND ? IpTopologyOf<F>::Get().TierOf(facts.id) : m_tier;
    facts.portBufferBytes = m_portBuffer;
    facts.baseRttPs = FindBaseRtt().GetPicoSeconds();
    facts.seed = MakeSeed();
    m_choosers = std::make_unique<Choosers>();
    std::string reason = m_choosers->Add(m_policy, m_parameters, facts);
    EVENKEEL_REFUSE_IF(!reason.empty(), F::Name(), reason);
    std::vector<DscpPolicy> policies;
    reason = ReadDscpPolicies(m_dscpPolicies, policies);
    EVENKEEL_REFUSE_IF(!reason.empty(), F::Name(), reason);
    for (const DscpPolicy& each : policies)
    {
        reason = m_choosers->Add(each.policy, each.parameters, facts);
        EVENKEEL_REFUSE_IF(!reason.empty(), F::Name(), "DscpPolicies: " << reason);
        for (uint32_t dscp = each.first; dscp <= each.last; dscp++)
        {
            m_choosers->ofDscp[dscp] = static_cast<uint8_t>(m_choosers->policies.size() - 1);
        }
    }
}

template <class F>
bool
RoutePolicy<F>::HasChoice()
{
    return m_routes.HasChoice() || m_source == "shortest-paths";
}

template <class F>
const typename RoutePolicy<F>::Group*
RoutePolicy<F>::FindGroup(Address destination, bool isOwn)
{
    if (!m_routes.HasSource())
    {
        FindProtocols();
    }
    if (!HasChoice())
    {
        return nullptr;
    }
    bool changed = false;
    const Group& group = m_routes.GroupOf(destination, m_refreshInterval, changed);
    for (std::size_t at = 0; changed && m_choosers && at < m_choosers->policies.size(); at++)
    {
        m_choosers->policies[at].routingChanged();
    }
    const std::size_t count = group.routes.size();
    const bool routesAll = m_routesAll || (m_forwardsAll && !isOwn);
    return count > 1 || (count == 1 && routesAll) ? &group : nullptr;
}

template <class F>
bool
RoutePolicy<F>::FillCandidates(const Group& group, bool weighs, bool looks)
{
    m_indices.clear();
    m_candidates.clear();
    m_queueBytes.clear();
    m_weights.clear();
    weighs = weighs && !group.weights.empty();
    for (std::size_t index = 0; index < group.interfaces.size(); index++)
    {
        const uint32_t interface = group.interfaces[index];
        if (m_ip->IsUp(interface))
        {
            m_indices.push_back(index);
            m_candidates.push_back(interface);
            if (weighs)
            {
                m_weights.push_back(group.weights[index]);
            }
            if (looks)
            {
                m_queueBytes.push_back(m_queues.GetBytes(m_ip->GetNetDevice(interface)));
            }
        }
    }
    return !m_indices.empty();
}

template <class F>
std::size_t
RoutePolicy<F>::Choose(Ptr<const Packet> packet,
                       const Header& header,
                       uint8_t dscp,
                       const Group& group)
{
    if (group.interfaces.size() == 1)
    {
        return 0;
    }
    MakeChoosers();
    if (!m_gapChecked)
    {
        m_gapChecked = true;
        CheckFlowletGap(group);
    }
    evenkeel::SwitchChooser& policy = m_choosers->policies[m_choosers->ofDscp[dscp]];
    if (!FillCandidates(group, policy.usesWeights(), policy.looksAtQueues()))
    {
        return group.interfaces.size();
    }
    evenkeel::Candidates candidates;
    candidates.ports = m_candidates.data();
    candidates.count = m_candidates.size();
    candidates.queueBytes = m_queueBytes.empty() ? nullptr : m_queueBytes.data();
    candidates.weights = m_weights.empty() ? nullptr : m_weights.data();
    const uint32_t choice = policy.choose(ArrivalOf<F>(packet, header, group.edge), candidates);
    NS_LOG_LOGIC("interface " << m_candidates[choice] << " of " << candidates.count
                              << " next hops to " << header.GetDestination());
    m_choice(packet, header, m_candidates[choice], candidates.count);
    return m_indices[choice];
}

template <class F>
Ptr<typename RoutePolicy<F>::Route>
RoutePolicy<F>::FindRoute(Ptr<const Packet> packet, const Header& header, uint8_t dscp)
{
    const Group* group = FindGroup(header.GetDestination(), !packet);
    if (!group)
    {
        return nullptr;
    }
    const std::size_t index = Choose(packet, header, dscp, *group);
    return index == group->routes.size() ? nullptr : group->routes[index];
}

template class RoutePolicy<Ipv4Family>;
template class RoutePolicy<Ipv6Family>;

} // namespace ns3
