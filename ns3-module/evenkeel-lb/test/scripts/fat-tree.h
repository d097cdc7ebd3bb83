// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FAT_TREE_H
#define FAT_TREE_H

#include "script.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel-tests
 * @brief A k = 12 fat-tree of 432 hosts. Each host sends packets to a host of another pod.
 */
class FatTree
{
  public:
    /// Half the number of ports of a switch.
    static constexpr uint32_t HALF = 6;
    /// Number of pods.
    static constexpr uint32_t PODS = 2 * HALF;

    /// One end of a link.
    struct End
    {
        Ptr<Ipv4> ip;        //!< IP of the node
        uint32_t interface;  //!< the interface
        Ipv4Address address; //!< its address
    };

    /// A link.
    struct Link
    {
        End lower; //!< the end nearer to hosts
        End upper; //!< the other end
    };

    /**
     * @param script the script, which installs IP
     * @param stack the protocols
     */
    FatTree(const Script& script, Script::Stack stack)
        : m_hosts(PODS * HALF * HALF)
    {
        NodeContainer edges(PODS * HALF);
        NodeContainer aggregations(PODS * HALF);
        NodeContainer cores(HALF * HALF);
        script.InstallInternet(NodeContainer(cores, aggregations, edges, m_hosts), stack);
        for (uint32_t host = 0; host < m_hosts.GetN(); host++)
        {
            m_hostLinks.push_back(Connect(m_hosts.Get(host), edges.Get(host / HALF)));
        }
        for (uint32_t number = 0; number < PODS * HALF; number++)
        {
            for (uint32_t port = 0; port < HALF; port++)
            {
                m_edgeLinks.push_back(
                    Connect(edges.Get(number), aggregations.Get(number / HALF * HALF + port)));
                m_coreLinks.push_back(
                    Connect(aggregations.Get(number), cores.Get(number % HALF * HALF + port)));
            }
        }
    }

    /**
     * @brief Adds a flow of 25 packets from each host, and runs the script.
     * @param script the script
     * @param interval time between the packets of a flow
     * @return its exit status
     */
    int Run(Script& script, Time interval = MilliSeconds(1)) const
    {
        for (uint32_t host = 0; host < m_hosts.GetN(); host++)
        {
            const uint32_t to = (host + 7 * HALF * HALF) % m_hosts.GetN();
            script.AddFlow(m_hosts.Get(host),
                           m_hosts.Get(to),
                           m_hostLinks[to].lower.address,
                           25,
                           interval);
        }
        return script.Run(30 * interval);
    }

    std::vector<Link> m_hostLinks; //!< between hosts and edges, by host
    std::vector<Link> m_edgeLinks; //!< between edges and aggregations, by edge and port
    std::vector<Link> m_coreLinks; //!< between aggregations and cores, by aggregation and port

  private:
    /**
     * @param lower a node
     * @param upper another, further from hosts
     * @return their link
     */
    Link Connect(Ptr<Node> lower, Ptr<Node> upper)
    {
        PointToPointHelper p2p;
        p2p.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        p2p.SetChannelAttribute("Delay", StringValue("1us"));
        const Ipv4InterfaceContainer ends = m_network.Assign(p2p.Install(lower, upper));
        m_network.NewNetwork();
        return {{ends.Get(0).first, ends.Get(0).second, ends.GetAddress(0)},
                {ends.Get(1).first, ends.Get(1).second, ends.GetAddress(1)}};
    }

    NodeContainer m_hosts;                                      //!< the hosts
    Ipv4AddressHelper m_network{"10.0.0.0", "255.255.255.252"}; //!< addresses
};

} // namespace ns3

#endif /* FAT_TREE_H */
