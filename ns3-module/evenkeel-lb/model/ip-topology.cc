// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "ip-topology.h"

#include "ns3/channel.h"
#include "ns3/data-rate.h"
#include "ns3/log.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/simulation-singleton.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <deque>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IpTopology");

namespace
{

/// Length of a full packet on a link for round-trip times, in bytes.
constexpr uint64_t FULL_PACKET = 1502;
/// Length of an acknowledgement on a link for round-trip times, in bytes.
constexpr uint64_t ACKNOWLEDGEMENT = 54;

/**
 * @param bytes length of a packet
 * @param rateBps rate of a link, not 0
 * @return its transmission time
 */
Time
TransmissionTime(uint64_t bytes, uint64_t rateBps)
{
    return Seconds(8.0 * static_cast<double>(bytes) / static_cast<double>(rateBps));
}

} // namespace

template <class F>
IpTopologyOf<F>&
IpTopologyOf<F>::Get()
{
    IpTopologyOf& topology = *SimulationSingleton<IpTopologyOf>::Get();
    if (topology.m_changes != g_ipChanges)
    {
        topology.Read();
    }
    return topology;
}

template <class F>
uint64_t
IpTopologyOf<F>::RateOf(Ptr<NetDevice> device)
{
    DataRateValue rate;
    Ptr<Channel> channel = device->GetChannel();
    const bool isKnown = device->GetAttributeFailSafe("DataRate", rate) ||
                         (channel && channel->GetAttributeFailSafe("DataRate", rate));
    return isKnown ? rate.Get().GetBitRate() : 0;
}

template <class F>
void
IpTopologyOf<F>::Read()
{
    NS_LOG_FUNCTION(this);
    m_isIntact = m_changes == UINT64_MAX || (m_isIntact && Simulator::Now().IsZero());
    m_changes = g_ipChanges;
    m_vertices.assign(NodeList::GetNNodes(), Vertex());
    m_hosts.clear();
    m_owners.clear();
    m_hostDistances.clear();
    m_distances.clear();
    m_baseRtt = Time(-1);
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        const uint32_t id = (*node)->GetId();
        Ptr<Ip> ip = (*node)->template GetObject<Ip>();
        Vertex& vertex = m_vertices[id];
        // Interface 0 is the loopback.
        for (uint32_t i = 1; ip && i < ip->GetNInterfaces(); i++)
        {
            for (uint32_t j = 0; j < ip->GetNAddresses(i); j++)
            {
                m_owners[F::AddressOf(ip, i, j)] = id;
            }
            vertex.forwards |= ip->IsForwarding(i);
            ReadInterface(ip, i, vertex);
        }
        vertex.isHost = ip && ip->GetNInterfaces() == 2;
        if (vertex.isHost)
        {
            m_hosts.push_back(id);
        }
    }
}

template <class F>
void
IpTopologyOf<F>::ReadInterface(Ptr<Ip> ip, uint32_t interface, Vertex& vertex)
{
    Ptr<NetDevice> device = ip->GetNetDevice(interface);
    Ptr<Channel> channel = device->GetChannel();
    TimeValue delay;
    const bool hasDelay = channel && channel->GetAttributeFailSafe("Delay", delay);
    m_isIntact = m_isIntact && ip->IsUp(interface) && channel && channel->GetNDevices() == 2;
    for (std::size_t end = 0; channel && end < channel->GetNDevices(); ++end)
    {
        Ptr<NetDevice> other = channel->GetDevice(end);
        Ptr<Ip> neighbour = other->GetNode()->template GetObject<Ip>();
        const int32_t at = neighbour ? neighbour->GetInterfaceForDevice(other) : -1;
        vertex.bridged = other != device && at < 0 ? interface : vertex.bridged;
        if (other == device || at < 0 || neighbour->GetNAddresses(at) == 0)
        {
            continue;
        }
        Edge edge;
        edge.interface = interface;
        edge.to = other->GetNode()->GetId();
        edge.gateway = F::AddressOf(neighbour, at, 0);
        edge.isUp = ip->IsUp(interface) && neighbour->IsUp(at);
        edge.rateBps = hasDelay ? RateOf(device) : 0;
        edge.delay = hasDelay ? delay.Get() : Time(0);
        vertex.edges.push_back(edge);
    }
}

template <class F>
bool
IpTopologyOf<F>::IsPlain() const
{
    // A change of a metric is not reported, so read them all.
    uint32_t metric = 0;
    for (auto node = NodeList::Begin(); m_isIntact && node != NodeList::End(); ++node)
    {
        Ptr<Ip> ip = (*node)->template GetObject<Ip>();
        for (uint32_t i = 1; ip && i < ip->GetNInterfaces(); i++)
        {
            metric = metric == 0 ? ip->GetMetric(i) : metric;
            if (ip->GetMetric(i) != metric)
            {
                return false;
            }
        }
    }
    return m_isIntact;
}

template <class F>
std::vector<uint32_t>
IpTopologyOf<F>::DistancesTo(const std::vector<uint32_t>& to) const
{
    std::vector<uint32_t> distances(m_vertices.size(), UNREACHABLE);
    std::deque<uint32_t> queue(to.begin(), to.end());
    for (const uint32_t id : to)
    {
        distances[id] = 0;
    }
    while (!queue.empty())
    {
        const uint32_t id = queue.front();
        queue.pop_front();
        // Paths continue through this node only if it forwards packets.
        if (distances[id] > 0 && (!m_vertices[id].forwards || m_vertices[id].isHost))
        {
            continue;
        }
        for (const Edge& edge : m_vertices[id].edges)
        {
            if (edge.isUp && distances[edge.to] == UNREACHABLE)
            {
                distances[edge.to] = distances[id] + 1;
                queue.push_back(edge.to);
            }
        }
    }
    return distances;
}

template <class F>
uint32_t
IpTopologyOf<F>::EdgeOf(Address destination)
{
    const auto owner = m_owners.find(destination);
    if (owner == m_owners.end())
    {
        return 0;
    }
    const Vertex& vertex = m_vertices[owner->second];
    return vertex.isHost && !vertex.edges.empty() ? vertex.edges[0].to : owner->second;
}

template <class F>
uint8_t
IpTopologyOf<F>::TierOf(uint32_t node)
{
    if (m_hostDistances.empty())
    {
        m_hostDistances = DistancesTo(m_hosts);
    }
    const uint32_t distance = m_hostDistances[node];
    return distance == UNREACHABLE || distance == 0
               ? 0
               : static_cast<uint8_t>(std::min(distance - 1, 255U));
}

template <class F>
Time
IpTopologyOf<F>::GetBaseRtt()
{
    if (m_baseRtt.IsStrictlyNegative())
    {
        m_baseRtt = Time(0);
        // The hosts of a switch have equivalent paths, so one of them is enough.
        std::vector<bool> seen(m_vertices.size(), false);
        for (const uint32_t host : m_hosts)
        {
            const std::vector<Edge>& edges = m_vertices[host].edges;
            if (!edges.empty() && !seen[edges[0].to])
            {
                seen[edges[0].to] = true;
                m_baseRtt = std::max(m_baseRtt, LongestRoundTrip(host));
            }
        }
    }
    return m_baseRtt;
}

template <class F>
Time
IpTopologyOf<F>::LongestRoundTrip(uint32_t from) const
{
    // Breadth-first: paths with the fewest links, and among them the fastest.
    const std::vector<uint32_t> distances = DistancesTo({from});
    std::vector<Time> times(m_vertices.size(), Time::Max());
    times[from] = Time(0);
    std::deque<uint32_t> queue{from};
    Time longest;
    while (!queue.empty())
    {
        const uint32_t id = queue.front();
        queue.pop_front();
        for (const Edge& edge : m_vertices[id].edges)
        {
            if (!edge.isUp || edge.rateBps == 0 || distances[edge.to] != distances[id] + 1)
            {
                continue;
            }
            const bool isNew = times[edge.to] == Time::Max();
            const Time time = times[id] + edge.delay + edge.delay +
                              TransmissionTime(FULL_PACKET + ACKNOWLEDGEMENT, edge.rateBps);
            times[edge.to] = std::min(times[edge.to], time);
            if (isNew)
            {
                queue.push_back(edge.to);
            }
        }
        if (m_vertices[id].isHost)
        {
            longest = std::max(longest, times[id]);
        }
    }
    return longest;
}

template <class F>
std::vector<NextHopOf<F>>
IpTopologyOf<F>::HopsTo(uint32_t to, uint32_t from) const
{
    std::vector<NextHopOf<F>> hops;
    const std::vector<uint32_t>& distances = m_distances.at(to);
    for (const Edge& edge : m_vertices[from].edges)
    {
        const Vertex& next = m_vertices[edge.to];
        const bool passes = edge.to == to || (next.forwards && !next.isHost);
        if (edge.isUp && passes && distances[from] != UNREACHABLE &&
            distances[edge.to] + 1 == distances[from])
        {
            hops.push_back({edge.interface, edge.gateway});
        }
    }
    return hops;
}

template <class F>
std::vector<NextHopOf<F>>
IpTopologyOf<F>::NextHops(uint32_t node, Address destination, bool isChoice)
{
    const auto owner = m_owners.find(destination);
    if (owner == m_owners.end())
    {
        return {};
    }
    const uint32_t to = owner->second;
    if (m_distances.find(to) == m_distances.end())
    {
        m_distances.emplace(to, DistancesTo({to}));
        for (uint32_t from = 0; from < m_vertices.size() && m_choices.count(to) == 0; from++)
        {
            if (HopsTo(to, from).size() > 1)
            {
                m_choices.insert(to);
            }
        }
    }
    return isChoice && m_choices.count(to) == 0 ? std::vector<NextHopOf<F>>() : HopsTo(to, node);
}

template <class F>
uint32_t
IpTopologyOf<F>::BridgedInterface(uint32_t node) const
{
    return m_vertices[node].bridged;
}

template class IpTopologyOf<Ipv4Family>;
template class IpTopologyOf<Ipv6Family>;

} // namespace ns3
