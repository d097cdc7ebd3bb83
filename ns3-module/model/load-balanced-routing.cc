// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "load-balanced-routing.h"

#include "evenkeel.h"
#include "ip-topology.h"
#include "policy-parameters.h"

#include "ns3/abort.h"
#include "ns3/data-rate.h"
#include "ns3/ipv4.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulation-singleton.h"
#include "ns3/simulator.h"

#include <iostream>
#include <stdexcept>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("LoadBalancedRouting");

namespace
{

/// Protocol numbers of IP (IANA).
const uint8_t TCP = 6;
const uint8_t UDP = 17;

/// Adds 32 bits to a hash, of which each bit affects all bits (the finaliser of MurmurHash3).
uint32_t
Mix(uint32_t hash, uint32_t value)
{
    hash = hash * 31 + value;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
    return hash ^ (hash >> 16);
}

/**
 * @param packet a packet without its IP header; null if its ports must not be used
 * @param header its IP header
 * @param edge the node that represents the edge switch of its destination
 * @return the packet as the policy sees it
 */
evenkeel::Arrival
ArrivalOf(Ptr<const Packet> packet, const Ipv4Header& header, uint32_t edge)
{
    evenkeel::Arrival arrival;
    arrival.nowPs = Simulator::Now().GetPicoSeconds();
    arrival.bytes = (packet ? packet->GetSize() : 0) + header.GetSerializedSize();
    arrival.edge = edge;
    // IP routing has no pods: the edge switch serves as the pod.
    arrival.pod = edge;
    arrival.label = Mix(header.GetProtocol(), header.GetSource().Get());
    arrival.label = Mix(arrival.label, header.GetDestination().Get());
    const bool isWhole = header.IsLastFragment() && header.GetFragmentOffset() == 0;
    const bool hasPorts = header.GetProtocol() == TCP || header.GetProtocol() == UDP;
    uint8_t start[13];
    if (packet && isWhole && hasPorts && packet->CopyData(start, 13) >= 4)
    {
        const uint32_t ports = start[0] << 24 | start[1] << 16 | start[2] << 8 | start[3];
        arrival.label = Mix(arrival.label, ports);
        // A TCP segment has no data if its length is that of its header, in words of 32 bits.
        arrival.control = header.GetProtocol() == TCP && packet->GetSize() >= 13 &&
                          packet->GetSize() == (start[12] >> 4) * 4U;
    }
    return arrival;
}

} // namespace

namespace
{

/// Whether a simulation was warned of a flowlet gap.
struct GapWarning
{
    bool given{false}; //!< it was
};

} // namespace

struct LoadBalancedRouting::Chooser
{
    evenkeel::SwitchChooser policy;
};

LoadBalancedRouting::LoadBalancedRouting()
    : m_seed(0),
      m_tier(FOUND),
      m_portBuffer(0),
      m_stream(-1)
{
    NS_LOG_FUNCTION(this);
}

LoadBalancedRouting::~LoadBalancedRouting()
{
    NS_LOG_FUNCTION(this);
}

void
LoadBalancedRouting::DoInitialize()
{
    NS_LOG_FUNCTION(this);
    // An unsupported policy ends the simulation before the first packet.
    MakeChooser();
    Ipv4RoutingProtocol::DoInitialize();
}

void
LoadBalancedRouting::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_chooser.reset();
    m_routes.Clear();
    m_queues.Clear();
    m_ipv4 = nullptr;
    Ipv4RoutingProtocol::DoDispose();
}

void
LoadBalancedRouting::SetPolicy(std::string policy)
{
    NS_LOG_FUNCTION(this << policy);
    m_policy = policy;
    m_chooser.reset();
}

std::string
LoadBalancedRouting::GetPolicy() const
{
    return m_policy;
}

void
LoadBalancedRouting::SetParameters(std::string parameters)
{
    NS_LOG_FUNCTION(this << parameters);
    m_parameters = parameters;
    m_chooser.reset();
}

std::string
LoadBalancedRouting::GetParameters() const
{
    return m_parameters;
}

int64_t
LoadBalancedRouting::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_stream = stream;
    return 1;
}

uint64_t
LoadBalancedRouting::GetStateBits() const
{
    return m_chooser ? m_chooser->policy.stateBits() : 0;
}

void
LoadBalancedRouting::CheckFlowletGap(const EqualCostRoutes::Group& group)
{
    const uint64_t gapPs = m_chooser->policy.flowletGapPs();
    bool& hasWarned = SimulationSingleton<GapWarning>::Get()->given;
    for (std::size_t hop = 0; gapPs > 0 && !hasWarned && hop < group.rates.size(); hop++)
    {
        const uint32_t interface = group.interfaces[hop];
        const double bits = 8.0 * m_ipv4->GetMtu(interface);
        if (group.rates[hop] > 0 && 1e12 * bits / group.rates[hop] > gapPs)
        {
            hasWarned = true;
            std::clog << "evenkeel: warning: the flowlet gap of " << gapPs / 1000
                      << " ns is shorter than a full packet takes on interface "
                      << interface << " of node " << m_ipv4->GetObject<Node>()->GetId() << " ("
                      << DataRate(group.rates[hop])
                      << "): every packet begins a flowlet; set a longer gap in the attribute "
                         "Parameters, or BaseRtt\n";
        }
    }
}

void
LoadBalancedRouting::MakeChooser()
{
    if (m_chooser)
    {
        return;
    }
    NS_ABORT_MSG_UNLESS(m_ipv4, "LoadBalancedRouting has no Ipv4: add it to an Ipv4ListRouting");
    evenkeel::Switch facts;
    facts.id = m_ipv4->GetObject<Node>()->GetId();
    facts.ports = m_ipv4->GetNInterfaces();
    facts.tier = m_tier == FOUND ? IpTopology::Get().TierOf(facts.id) : m_tier;
    facts.portBufferBytes = m_portBuffer;
    facts.baseRttPs = FindBaseRtt().GetPicoSeconds();
    facts.seed = MakeSeed();
    std::string reason;
    try
    {
        m_chooser.reset(new Chooser{
            evenkeel::SwitchChooser(m_policy, PolicyParameterLines(m_parameters), facts)});
    }
    catch (const std::invalid_argument& error)
    {
        reason = error.what();
    }
    NS_ABORT_MSG_UNLESS(reason.empty(), "LoadBalancedRouting: " << reason);
}

void
LoadBalancedRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    NS_LOG_FUNCTION(this << ipv4);
    m_ipv4 = ipv4;
    m_routes.SetIpv4(ipv4);
}

void
LoadBalancedRouting::NotifyInterfaceUp(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    IpTopology::NoteChange();
}

void
LoadBalancedRouting::NotifyInterfaceDown(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    IpTopology::NoteChange();
}

void
LoadBalancedRouting::NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    IpTopology::NoteChange();
}

void
LoadBalancedRouting::NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    IpTopology::NoteChange();
}

const EqualCostRoutes::Group*
LoadBalancedRouting::FindGroup(Ipv4Address destination)
{
    if (!m_routes.HasSource())
    {
        FindProtocols();
    }
    if (!m_routes.HasChoice() && m_source != "shortest-paths")
    {
        return nullptr;
    }
    bool changed = false;
    const EqualCostRoutes::Group& group = m_routes.GroupOf(destination, m_refreshInterval, changed);
    if (changed && m_chooser)
    {
        m_chooser->policy.routingChanged();
    }
    const std::size_t count = group.routes.size();
    return count > 1 || (count == 1 && m_routesAll) ? &group : nullptr;
}

bool
LoadBalancedRouting::FillCandidates(const EqualCostRoutes::Group& group)
{
    m_indices.clear();
    m_candidates.clear();
    m_queueBytes.clear();
    m_weights.clear();
    const bool weighs = m_chooser->policy.usesWeights() && !group.weights.empty();
    const bool looks = m_chooser->policy.looksAtQueues();
    for (std::size_t index = 0; index < group.interfaces.size(); index++)
    {
        const uint32_t interface = group.interfaces[index];
        if (m_ipv4->IsUp(interface))
        {
            m_indices.push_back(index);
            m_candidates.push_back(interface);
            if (weighs)
            {
                m_weights.push_back(group.weights[index]);
            }
            if (looks)
            {
                m_queueBytes.push_back(m_queues.GetBytes(m_ipv4, interface));
            }
        }
    }
    return !m_indices.empty();
}

std::size_t
LoadBalancedRouting::Choose(Ptr<const Packet> packet,
                            const Ipv4Header& header,
                            const EqualCostRoutes::Group& group)
{
    if (group.interfaces.size() == 1)
    {
        return 0;
    }
    MakeChooser();
    if (!m_gapChecked)
    {
        m_gapChecked = true;
        CheckFlowletGap(group);
    }
    if (!FillCandidates(group))
    {
        return group.interfaces.size();
    }
    evenkeel::Candidates candidates;
    candidates.ports = m_candidates.data();
    candidates.count = m_candidates.size();
    candidates.queueBytes = m_queueBytes.empty() ? nullptr : m_queueBytes.data();
    candidates.weights = m_weights.empty() ? nullptr : m_weights.data();
    const uint32_t choice =
        m_chooser->policy.choose(ArrivalOf(packet, header, group.edge), candidates);
    NS_LOG_LOGIC("interface " << m_candidates[choice] << " of " << candidates.count
                              << " next hops to " << header.GetDestination());
    m_choice(packet, header, m_candidates[choice], candidates.count);
    return m_indices[choice];
}

Ptr<Ipv4Route>
LoadBalancedRouting::RouteOutput(Ptr<Packet> packet,
                                 const Ipv4Header& header,
                                 Ptr<NetDevice> device,
                                 Socket::SocketErrno& error)
{
    NS_LOG_FUNCTION(this << packet << header << device);
    const Ipv4Address destination = header.GetDestination();
    error = Socket::ERROR_NOROUTETOHOST;
    if (device || destination.IsMulticast() || destination.IsBroadcast())
    {
        return nullptr;
    }
    const EqualCostRoutes::Group* group = FindGroup(destination);
    if (!group)
    {
        return nullptr;
    }
    // Some transport protocols add their ports to the packet later, so ports are not used here.
    const std::size_t index = Choose(nullptr, header, *group);
    if (index == group->routes.size())
    {
        return nullptr;
    }
    error = Socket::ERROR_NOTERROR;
    // A copy, because the socket may change its route.
    return Create<Ipv4Route>(*group->routes[index]);
}

bool
LoadBalancedRouting::RouteInput(Ptr<const Packet> packet,
                                const Ipv4Header& header,
                                Ptr<const NetDevice> device,
                                evenkeelinternal::RouteInput::Unicast unicast,
                                evenkeelinternal::RouteInput::Multicast multicast,
                                evenkeelinternal::RouteInput::Local local,
                                evenkeelinternal::RouteInput::Error error)
{
    NS_LOG_FUNCTION(this << packet << header << device);
    const Ipv4Address destination = header.GetDestination();
    if (destination.IsMulticast() || destination.IsBroadcast())
    {
        return false;
    }
    if (!m_routes.HasChoice() && m_source != "shortest-paths")
    {
        return false;
    }
    const uint32_t interface = m_ipv4->GetInterfaceForDevice(device);
    if (m_ipv4->IsDestinationAddress(destination, interface) || !m_ipv4->IsForwarding(interface))
    {
        // Ipv4ListRouting does the local delivery, and the next protocol handles the rest.
        return false;
    }
    const EqualCostRoutes::Group* group = FindGroup(destination);
    if (!group)
    {
        return false;
    }
    const std::size_t index = Choose(packet, header, *group);
    if (index == group->routes.size())
    {
        return false;
    }
    unicast(group->routes[index], packet, header);
    return true;
}

} // namespace ns3
