// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef IP_TOPOLOGY_H
#define IP_TOPOLOGY_H

#include "next-hop-source.h"

#include "ns3/net-device.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <set>
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
    using Address = typename F::Address; //!< an address
    using Ip = typename F::Ip;           //!< the IP of a node

    /// @return the current topology of this simulation
    static IpTopologyOf& Get();

    /**
     * @param destination the address of a host
     * @return the id of the adjacent node, which represents its edge switch; 0 without one
     */
    uint32_t EdgeOf(Address destination);
    /**
     * @param node id of a node
     * @return switch tiers between it and the hosts; 0 for edge switches and hosts
     */
    uint8_t TierOf(uint32_t node);
    /// @return the longest round-trip time of a full packet between two hosts of the idle network;
    ///         0 if it is unknown because links lack the attributes DataRate and Delay
    Time GetBaseRtt();
    /**
     * @return true if every path costs the number of its links: all links have two ends and the
     *         same metric, and none has been added or down since the simulation started
     */
    bool IsPlain() const;
    /**
     * @param node id of a node
     * @param destination an address
     * @param isChoice return none unless some node has, or had before a failure, several next hops
     *        to the destination
     * @return the next hops on shortest paths to it
     */
    std::vector<NextHopOf<F>> NextHops(uint32_t node, Address destination, bool isChoice = false);
    /**
     * @param node id of a node
     * @return an interface with a device without IP on its channel; 0 without one
     */
    uint32_t BridgedInterface(uint32_t node) const;

    /**
     * @param device a device
     * @return the rate of its link in bits per second; 0 if it is unknown
     */
    static uint64_t RateOf(Ptr<NetDevice> device);

  private:
    /// One direction of a link.
    struct Edge
    {
        uint32_t interface; //!< outgoing interface
        uint32_t to;        //!< id of the neighbour
        Address gateway;    //!< address of the neighbour
        bool isUp;          //!< both interfaces are up
        uint64_t rateBps;   //!< link rate; 0 if unknown
        Time delay;         //!< link delay
    };

    /// A node.
    struct Vertex
    {
        std::vector<Edge> edges; //!< by interface
        bool forwards{false};    //!< it forwards packets
        bool isHost{false};      //!< it has one link
        uint32_t bridged{0};     //!< see BridgedInterface
    };

    /// Reads nodes and links.
    void Read();
    /**
     * @brief Reads the links of a node's interface.
     * @param ip the IP of the node
     * @param interface the interface
     * @param vertex the node
     */
    void ReadInterface(Ptr<Ip> ip, uint32_t interface, Vertex& vertex);
    /**
     * @brief Computes the number of links from every node to the nearest of some nodes.
     * @param to ids of those nodes
     * @return the numbers by id; UNREACHABLE where there is no path
     */
    std::vector<uint32_t> DistancesTo(const std::vector<uint32_t>& to) const;
    /**
     * @param to id of a node whose distances are known
     * @param from id of a node
     * @return the next hops on shortest paths between them
     */
    std::vector<NextHopOf<F>> HopsTo(uint32_t to, uint32_t from) const;
    /**
     * @param from id of a host
     * @return the longest round trip to another host; 0 if it is unknown
     */
    Time LongestRoundTrip(uint32_t from) const;

    /// The distance without a path.
    static constexpr uint32_t UNREACHABLE = UINT32_MAX;

    std::vector<Vertex> m_vertices;        //!< by id of the node
    std::vector<uint32_t> m_hosts;         //!< ids of hosts
    std::map<Address, uint32_t> m_owners;  //!< id of the node, by address
    std::vector<uint32_t> m_hostDistances; //!< links to the nearest host, by id
    std::unordered_map<uint32_t, std::vector<uint32_t>> m_distances; //!< by destination's id
    std::set<uint32_t> m_choices; //!< ids of destinations to which some node had several next hops
    Time m_baseRtt{-1};           //!< negative until computed
    uint64_t m_changes{UINT64_MAX}; //!< changes when it was read
    bool m_isIntact{true};          //!< all links have two ends and were up whenever it was read
};

extern template class IpTopologyOf<Ipv4Family>;
extern template class IpTopologyOf<Ipv6Family>;

/// The topology of IPv4.
using IpTopology = IpTopologyOf<Ipv4Family>;

} // namespace ns3

#endif /* IP_TOPOLOGY_H */
