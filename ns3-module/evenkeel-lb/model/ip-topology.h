// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef IP_TOPOLOGY_H
#define IP_TOPOLOGY_H

#include "next-hop-source.h"

#include "ns3/channel.h"
#include "ns3/data-rate.h"
#include "ns3/net-device.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/simulation-singleton.h"
#include "ns3/simulator.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{

/// Changes of interfaces and addresses so far, over all nodes: one can affect every node's routes.
inline uint64_t g_ipChanges = 0;

/**
 * @ingroup evenkeel
 * @brief The IPv4 or IPv6 nodes of a simulation and their links.
 *
 * All routers share one topology, which is read when first needed and again after an interface
 * changes. A node with one link is a host; all others are switches.
 *
 * @tparam F IPv4 or IPv6
 */
template <class F>
class IpTopologyOf
{
  public:
    using Address = typename F::Address;    //!< an address
    using Ip = typename F::Ip;              //!< the IP of a node
    using Hops = std::vector<NextHopOf<F>>; //!< next hops of a node

    /// @return the current topology of this simulation
    static IpTopologyOf& Get()
    {
        IpTopologyOf& topology = *SimulationSingleton<IpTopologyOf>::Get();
        if (topology.m_changes != g_ipChanges)
        {
            topology.Read();
        }
        return topology;
    }

    /**
     * @param device a device
     * @return the rate of its link in bits per second; 0 if it is unknown
     */
    static uint64_t RateOf(Ptr<NetDevice> device)
    {
        DataRateValue rate;
        Ptr<Channel> channel = device->GetChannel();
        const bool isKnown = device->GetAttributeFailSafe("DataRate", rate) ||
                             (channel && channel->GetAttributeFailSafe("DataRate", rate));
        return isKnown ? rate.Get().GetBitRate() : 0;
    }

    /**
     * @param destination the address of a host
     * @return the id of the adjacent node, which represents its edge switch; 0 without one
     */
    uint32_t EdgeOf(Address destination) const
    {
        const auto owner = m_owners.find(destination);
        if (owner == m_owners.end())
        {
            return 0;
        }
        const Vertex& vertex = m_vertices[owner->second];
        return vertex.isHost && !vertex.edges.empty() ? vertex.edges[0].to : owner->second;
    }

    /**
     * @param node id of a node
     * @return switch tiers between it and the hosts; 0 for edge switches and hosts
     */
    uint8_t TierOf(uint32_t node) const
    {
        const uint32_t distance = m_hostDistances[node];
        return distance == UNREACHABLE || distance == 0 ? 0 : std::min(distance - 1, 255U);
    }

    /// @return the longest round-trip time of a full packet between two hosts of the idle network,
    ///         in which links without the attributes DataRate and Delay take no time
    Time GetBaseRtt()
    {
        if (!m_baseRtt.IsStrictlyNegative())
        {
            return m_baseRtt;
        }
        m_baseRtt = Time(0);
        // The hosts of a switch have equivalent paths, so one of them is enough.
        std::set<uint32_t> switches;
        for (const uint32_t from : m_hosts)
        {
            const std::vector<Edge>& edges = m_vertices[from].edges;
            if (edges.empty() || !switches.insert(edges[0].to).second)
            {
                continue;
            }
            std::vector<Time> times(m_vertices.size());
            DistancesTo({from}, &times);
            for (const uint32_t to : m_hosts)
            {
                m_baseRtt = std::max(m_baseRtt, times[to]);
            }
        }
        return m_baseRtt;
    }

    /**
     * @return true if every path costs the number of its links: all links have wires, two ends and
     *         the same metric, and none has been added or down since the simulation started
     */
    bool IsPlain() const
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

    /**
     * @param node id of a node
     * @param destination an address
     * @param isChoice return none unless some node has, or had before a failure, several next hops
     *        to the destination
     * @return the next hops on shortest paths to it
     */
    Hops NextHops(uint32_t node, Address destination, bool isChoice = false)
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
        return isChoice && m_choices.count(to) == 0 ? Hops() : HopsTo(to, node);
    }

    /**
     * @param node id of a node
     * @return an interface with a device without IP on its channel; 0 without one
     */
    uint32_t BridgedInterface(uint32_t node) const
    {
        return m_vertices[node].bridged;
    }

    /**
     * @param node id of a node
     * @param destination an address
     * @return the type of a wireless channel, if every path to it crosses one; empty otherwise
     */
    std::string WirelessTo(uint32_t node, Address destination)
    {
        const auto owner = m_owners.find(destination);
        if (owner == m_owners.end() || owner->second == node ||
            !NextHops(node, destination).empty())
        {
            return "";
        }
        const std::string& own = m_vertices[node].wireless;
        return own.empty() ? m_vertices[owner->second].wireless : own;
    }

  private:
    /// One direction of a link.
    struct Edge
    {
        uint32_t interface; //!< outgoing interface
        uint32_t to;        //!< id of the neighbour
        Address gateway;    //!< address of the neighbour
        bool isUp;          //!< both interfaces are up
        Time roundTrip;     //!< time of a full packet and its acknowledgement; 0 if unknown
    };

    /// A node.
    struct Vertex
    {
        std::vector<Edge> edges; //!< by interface
        bool forwards{false};    //!< it forwards packets
        bool isHost{false};      //!< it has one link
        uint32_t bridged{0};     //!< see BridgedInterface
        std::string wireless;    //!< type of a wireless channel; empty without one

        /// @return true if paths continue through it
        bool IsRouter() const
        {
            return forwards && !isHost;
        }
    };

    /// Reads nodes and links.
    void Read()
    {
        m_isIntact = m_changes == UINT64_MAX || (m_isIntact && Simulator::Now().IsZero());
        m_changes = g_ipChanges;
        m_vertices.assign(NodeList::GetNNodes(), Vertex());
        m_hosts.clear();
        m_owners.clear();
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
        m_hostDistances = DistancesTo(m_hosts);
    }

    /**
     * @brief Reads the links of a node's interface. Wireless channels add no links, because their
     * nodes may be out of range of one another.
     * @param ip the IP of the node
     * @param interface the interface
     * @param vertex the node
     */
    void ReadInterface(Ptr<Ip> ip, uint32_t interface, Vertex& vertex)
    {
        Ptr<NetDevice> device = ip->GetNetDevice(interface);
        Ptr<Channel> channel = device->GetChannel();
        const Time roundTrip = RoundTripOf(device);
        m_isIntact = m_isIntact && ip->IsUp(interface) && channel && channel->GetNDevices() == 2;
        if (channel && IsWireless(channel->GetInstanceTypeId()))
        {
            m_isIntact = false;
            vertex.wireless = channel->GetInstanceTypeId().GetName();
            return;
        }
        for (std::size_t end = 0; channel && end < channel->GetNDevices(); ++end)
        {
            Ptr<NetDevice> other = channel->GetDevice(end);
            Ptr<Ip> neighbour = other->GetNode()->template GetObject<Ip>();
            const int32_t at = neighbour ? neighbour->GetInterfaceForDevice(other) : -1;
            vertex.bridged = other != device && at < 0 ? interface : vertex.bridged;
            if (other != device && at >= 0 && neighbour->GetNAddresses(at) > 0)
            {
                vertex.edges.push_back({interface,
                                        other->GetNode()->GetId(),
                                        F::AddressOf(neighbour, at, 0),
                                        ip->IsUp(interface) && neighbour->IsUp(at),
                                        roundTrip});
            }
        }
    }

    /**
     * @param channel type of a channel
     * @return true if it is wireless
     */
    bool IsWireless(TypeId channel)
    {
        const auto [found, isNew] = m_wireless.try_emplace(channel, false);
        // By name: the modules of these types may be missing.
        for (const char* const name : {"ns3::YansWifiChannel",
                                       "ns3::SpectrumChannel",
                                       "ns3::WimaxChannel",
                                       "ns3::UanChannel"})
        {
            TypeId base;
            found->second |= isNew && TypeId::LookupByNameFailSafe(name, &base) &&
                             (channel == base || channel.IsChildOf(base));
        }
        return found->second;
    }

    /**
     * @param device a device
     * @return the time of a full packet and its acknowledgement over its link; 0 if it is unknown
     */
    static Time RoundTripOf(Ptr<NetDevice> device)
    {
        // Their lengths on a link, in bytes.
        constexpr double BYTES = 1502 + 54;
        TimeValue delay;
        Ptr<Channel> channel = device->GetChannel();
        const uint64_t rateBps = RateOf(device);
        const bool isKnown =
            rateBps > 0 && channel && channel->GetAttributeFailSafe("Delay", delay);
        return isKnown ? delay.Get() + delay.Get() + Seconds(8 * BYTES / rateBps) : Time(0);
    }

    /**
     * @brief Computes the number of links from every node to the nearest of some nodes.
     * @param to ids of those nodes
     * @param[out] times if not null: round-trip times by id, over the fastest of the paths with the
     *             fewest links; all are 0 before the call
     * @return the numbers by id; UNREACHABLE where there is no path
     */
    std::vector<uint32_t> DistancesTo(const std::vector<uint32_t>& to,
                                      std::vector<Time>* times = nullptr) const
    {
        std::vector<uint32_t> distances(m_vertices.size(), UNREACHABLE);
        std::deque<uint32_t> queue(to.begin(), to.end());
        for (const uint32_t id : to)
        {
            distances[id] = 0;
        }
        for (; !queue.empty(); queue.pop_front())
        {
            const uint32_t id = queue.front();
            // Paths continue through this node only if it forwards packets.
            if (distances[id] > 0 && !m_vertices[id].IsRouter())
            {
                continue;
            }
            for (const Edge& edge : m_vertices[id].edges)
            {
                const bool isNew = edge.isUp && distances[edge.to] == UNREACHABLE;
                if (isNew)
                {
                    distances[edge.to] = distances[id] + 1;
                    queue.push_back(edge.to);
                }
                if (times && edge.isUp && distances[edge.to] == distances[id] + 1)
                {
                    const Time time = (*times)[id] + edge.roundTrip;
                    (*times)[edge.to] = isNew ? time : std::min(time, (*times)[edge.to]);
                }
            }
        }
        return distances;
    }

    /**
     * @param to id of a node whose distances are known
     * @param from id of a node
     * @return the next hops on shortest paths between them
     */
    Hops HopsTo(uint32_t to, uint32_t from) const
    {
        Hops hops;
        const std::vector<uint32_t>& distances = m_distances.at(to);
        for (const Edge& edge : m_vertices[from].edges)
        {
            const bool passes = edge.to == to || m_vertices[edge.to].IsRouter();
            if (edge.isUp && passes && distances[from] != UNREACHABLE &&
                distances[edge.to] + 1 == distances[from])
            {
                hops.push_back({edge.interface, edge.gateway});
            }
        }
        return hops;
    }

    /// The distance without a path.
    static constexpr uint32_t UNREACHABLE = UINT32_MAX;

    std::vector<Vertex> m_vertices;        //!< by id of the node
    std::vector<uint32_t> m_hosts;         //!< ids of hosts
    std::map<Address, uint32_t> m_owners;  //!< id of the node, by address
    std::vector<uint32_t> m_hostDistances; //!< links to the nearest host, by id
    std::unordered_map<uint32_t, std::vector<uint32_t>> m_distances; //!< by destination's id
    std::set<uint32_t> m_choices; //!< ids of destinations to which some node had several next hops
    std::map<TypeId, bool> m_wireless; //!< result of IsWireless, by type
    Time m_baseRtt{-1};                //!< negative until computed
    uint64_t m_changes{UINT64_MAX};    //!< changes when it was read
    bool m_isIntact{true}; //!< all links had wires, two ends, and were up at each reading
};

/// The topology of IPv4.
using IpTopology = IpTopologyOf<Ipv4Family>;

} // namespace ns3

#endif /* IP_TOPOLOGY_H */
