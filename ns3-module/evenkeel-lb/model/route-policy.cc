// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "route-policy.h"

#include "device-queues.h"
#include "dscp-policies.h"
#include "equal-cost-routes.h"
#include "evenkeel.h"
#include "ip-topology.h"
#include "policy-checks.h"
#include "policy-parameters.h"
#include "refuse.h"

#include "ns3/data-rate.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulation-singleton.h"
#include "ns3/simulator.h"

#include <array>
#include <sstream>
#include <stdexcept>
#include <type_traits>
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
     * @brief Makes the policies of the attributes. Aborts with a message if one is unsupported.
     * @param of has the attributes
     * @param facts the properties of the node
     */
    Choosers(const RoutePolicy& of, const evenkeel::Switch& facts)
    {
        std::string reason = Add(of.m_policy, of.m_parameters, facts);
        EVENKEEL_REFUSE_IF(!reason.empty(), F::Name(), reason);
        std::vector<DscpPolicy> entries;
        reason = ReadDscpPolicies(of.m_dscpPolicies, entries);
        EVENKEEL_REFUSE_IF(!reason.empty(), F::Name(), reason);
        for (const DscpPolicy& each : entries)
        {
            reason = Add(each.policy, each.parameters, facts);
            EVENKEEL_REFUSE_IF(!reason.empty(), F::Name(), "DscpPolicies: " << reason);
            for (uint32_t dscp = each.first; dscp <= each.last; dscp++)
            {
                ofDscp[dscp] = static_cast<uint8_t>(policies.size() - 1);
            }
        }
    }

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
      m_stream(-1),
      m_routes(std::make_unique<EqualCostRoutesOf<F>>()),
      m_queues(std::make_unique<DeviceQueues>())
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
    m_routes->SetIp(ip);
    // ns-3 initializes only the protocols that are aggregated to the node.
    Simulator::ScheduleNow(&Object::Initialize, Ptr<Object>(this));
    // A wrong name ends the script at the line that installs it, not when the simulation runs.
    CheckPolicies();
}

template <class F>
void
RoutePolicy<F>::CheckPolicies() const
{
    NS_LOG_FUNCTION(this);
    // Nodes mostly have the same policies, so check them once.
    std::string& accepted = SimulationSingleton<PolicyChecks<F>>::Get()->accepted;
    const std::string text = m_policy + '\n' + m_parameters + '\n' + m_dscpPolicies;
    if (accepted != text)
    {
        Choosers(*this, evenkeel::Switch());
        accepted = text;
    }
}

template <class F>
void
RoutePolicy<F>::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_choosers.reset();
    m_routes->Clear();
    *m_queues = DeviceQueues();
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
    m_choosers.reset();
}

template <class F>
void
RoutePolicy<F>::RenewSource()
{
    NS_LOG_FUNCTION(this);
    m_routes->SetSource(nullptr);
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
    NS_LOG_FUNCTION(this);
    uint64_t gapPs = 0;
    for (const evenkeel::SwitchChooser& policy : m_choosers->policies)
    {
        const uint64_t gap = policy.flowletGapPs();
        gapPs = gapPs == 0 || (gap > 0 && gap < gapPs) ? gap : gapPs;
    }
    bool& hasWarned = SimulationSingleton<PolicyChecks<F>>::Get()->isGapDone;
    for (std::size_t hop = 0; gapPs > 0 && !hasWarned && hop < group.rates.size(); hop++)
    {
        const uint32_t interface = group.interfaces[hop];
        const double bits = 8.0 * m_ip->GetMtu(interface);
        if (group.rates[hop] > 0 && 1e12 * bits / group.rates[hop] > gapPs)
        {
            hasWarned = true;
            std::ostringstream text;
            text << "the flowlet gap of " << gapPs / 1000
                 << " ns is shorter than the transmission of a full packet on interface "
                 << interface << " of node " << m_ip->template GetObject<Node>()->GetId() << " ("
                 << DataRate(group.rates[hop])
                 << "): every packet begins a flowlet; set a longer gap in the attribute "
                    "Parameters, or BaseRtt";
            WarnOfPolicy(text.str());
        }
    }
}

template <class F>
void
RoutePolicy<F>::DoInitialize()
{
    NS_LOG_FUNCTION(this);
    EVENKEEL_REFUSE_IF(!m_ip,
                       F::Name(),
                       "no IP protocol is set: add this routing to a list of protocols");
    CheckPolicies();
    CheckPlace();
    F::RoutingProtocol::DoInitialize();
}

template <class F>
void
RoutePolicy<F>::MakeChoosers()
{
    NS_LOG_FUNCTION(this);
    if (m_choosers)
    {
        return;
    }
    evenkeel::Switch facts;
    facts.id = m_ip->template GetObject<Node>()->GetId();
    facts.ports = m_ip->GetNInterfaces();
    facts.tier = m_tier == FOUND ? IpTopologyOf<F>::Get().TierOf(facts.id) : m_tier;
    facts.portBufferBytes = m_portBuffer;
    facts.baseRttPs = FindBaseRtt().GetPicoSeconds();
    facts.seed = MakeSeed();
    m_choosers = std::make_unique<Choosers>(*this, facts);
}

template <class F>
bool
RoutePolicy<F>::HasChoice()
{
    return m_routes->HasChoice() || m_source == "shortest-paths";
}

template <class F>
const typename RoutePolicy<F>::Group*
RoutePolicy<F>::FindGroup(Address destination, bool isOwn)
{
    if (!m_routes->GetSource())
    {
        FindProtocols();
    }
    if (!HasChoice())
    {
        return nullptr;
    }
    bool changed = false;
    const Group& group = m_routes->GroupOf(destination, m_refreshInterval, changed);
    for (std::size_t at = 0; changed && m_choosers && at < m_choosers->policies.size(); at++)
    {
        m_choosers->policies[at].routingChanged();
    }
    CheckChoice(destination, group);
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
                m_queueBytes.push_back(m_queues->GetBytes(m_ip->GetNetDevice(interface)));
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
    if (!F::IsRouted(destination) || !HasChoice())
    {
        return false;
    }
    const uint32_t interface = m_ip->GetInterfaceForDevice(device);
    if (F::IsLocal(m_ip, destination, interface) || !m_ip->IsForwarding(interface))
    {
        // The list does local delivery; the next protocol handles the rest.
        return false;
    }
    Ptr<Route> route = FindRoute(packet, header, F::DscpOf(header, nullptr));
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
