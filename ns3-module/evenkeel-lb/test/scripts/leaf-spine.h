// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef LEAF_SPINE_H
#define LEAF_SPINE_H

#include "../evenkeel-kit.h"
#include "script.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/// The parts of a leaf-spine.
struct LeafSpineShape
{
    uint32_t leaves;            //!< number of leaves
    uint32_t spines;            //!< number of spines
    uint32_t hostsPerLeaf;      //!< number of hosts below a leaf
    std::string delay{"1us"};   //!< of all links
    uint32_t linksPerSubnet{1}; //!< links of hosts of the same leaf that share a network
};

/**
 * @ingroup evenkeel-tests
 * @brief A leaf-spine of links with 1 Gbps.
 * @tparam F IPv4 or IPv6
 */
template <class F>
class LeafSpine
{
  public:
    using Of = tests::Kit<F>; //!< the family's types and operations

    /**
     * @tparam R Script::Stack, or the helper of a protocol
     * @param script the script, which installs IP
     * @param routing the protocols
     * @param shape the parts
     */
    template <class R>
    LeafSpine(const Script& script, const R& routing, const LeafSpineShape& shape)
        : m_shape(shape),
          m_leaves(shape.leaves),
          m_spines(shape.spines),
          m_hosts(shape.leaves * shape.hostsPerLeaf)
    {
        script.InstallInternet(NodeContainer(m_leaves, m_spines, m_hosts), routing);
        m_p2p.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        m_p2p.SetChannelAttribute("Delay", StringValue(shape.delay));
        for (uint32_t host = 0; host < m_hosts.GetN(); host++)
        {
            const bool isLast = (host + 1) % shape.linksPerSubnet == 0;
            m_hostLinks.push_back(Connect(m_hosts.Get(host), m_leaves.Get(LeafOf(host)), isLast));
        }
        for (uint32_t link = 0; link < shape.leaves * shape.spines; link++)
        {
            m_uplinks.push_back(Connect(m_leaves.Get(link / shape.spines),
                                        m_spines.Get(link % shape.spines),
                                        true));
        }
    }

    /**
     * @param host number of a host
     * @return number of its leaf
     */
    uint32_t LeafOf(uint32_t host) const
    {
        return host / m_shape.hostsPerLeaf;
    }

    /**
     * @param spine number of a spine
     * @return the interface to it at each leaf; 0 is the loopback, and those to hosts come first
     */
    uint32_t UplinkTo(uint32_t spine) const
    {
        return 1 + m_shape.hostsPerLeaf + spine;
    }

    /// Adds static routes from hosts to leaves and from spines to hosts.
    void AddRoutesOfOnePath() const
    {
        for (uint32_t host = 0; host < m_hosts.GetN(); host++)
        {
            RoutesOf(m_hosts.Get(host))->SetDefaultRoute(m_hostLinks[host][1], 1);
            for (uint32_t spine = 0; spine < m_spines.GetN(); spine++)
            {
                const auto& ends = m_uplinks[LeafOf(host) * m_shape.spines + spine];
                RoutesOf(m_spines.Get(spine))
                    ->AddHostRouteTo(m_hostLinks[host][0], ends[0], 1 + LeafOf(host));
            }
        }
    }

    /**
     * @brief Adds static routes over a spine to a host, at all other leaves.
     * @param spine number of the spine
     * @param host number of the host
     */
    void AddRoutesOver(uint32_t spine, uint32_t host) const
    {
        for (uint32_t leaf = 0; leaf < m_leaves.GetN(); leaf++)
        {
            if (leaf != LeafOf(host))
            {
                RoutesOf(m_leaves.Get(leaf))
                    ->AddHostRouteTo(m_hostLinks[host][0],
                                     m_uplinks[leaf * m_shape.spines + spine][1],
                                     UplinkTo(spine));
            }
        }
    }

    /**
     * @brief Adds a flow from each host to one below the next leaf, and runs the script.
     * @param script the script
     * @param packets number of packets of a flow
     * @param start when the first flow begins
     * @return its exit status
     */
    int Run(Script& script, uint32_t packets, Time start = MicroSeconds(10)) const
    {
        for (uint32_t host = 0; host < m_hosts.GetN(); host++)
        {
            const uint32_t to = (host + m_shape.hostsPerLeaf) % m_hosts.GetN();
            script.AddFlow(m_hosts.Get(host),
                           m_hosts.Get(to),
                           m_hostLinks[to][0],
                           packets,
                           MicroSeconds(100),
                           start);
        }
        return script.Run(start + Seconds(1));
    }

    const LeafSpineShape m_shape; //!< the parts
    NodeContainer m_leaves;       //!< the leaves
    NodeContainer m_spines;       //!< the spines
    NodeContainer m_hosts;        //!< the hosts, by leaf

  private:
    using Ends = std::vector<typename F::Address>; //!< addresses of the ends of a link

    /**
     * @param node a node
     * @return its static routing
     */
    static auto RoutesOf(Ptr<Node> node)
    {
        return typename Of::StaticHelper().GetStaticRouting(node->GetObject<typename F::Ip>());
    }

    /**
     * @param lower a node
     * @param upper another, further from hosts
     * @param isLast true if the next link has another network
     * @return the addresses of their link
     */
    Ends Connect(Ptr<Node> lower, Ptr<Node> upper, bool isLast)
    {
        const Ends ends = Of::Assign(m_networks, m_p2p.Install(lower, upper));
        if (isLast)
        {
            m_networks.NewNetwork();
        }
        return ends;
    }

    PointToPointHelper m_p2p;                              //!< makes links
    typename Of::AddressHelper m_networks{Of::Networks()}; //!< addresses
    std::vector<Ends> m_hostLinks;                         //!< between hosts and leaves, by host
    std::vector<Ends> m_uplinks; //!< between leaves and spines, by leaf and spine
};

} // namespace ns3

#endif /* LEAF_SPINE_H */
