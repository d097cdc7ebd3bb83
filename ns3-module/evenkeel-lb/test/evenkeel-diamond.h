// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EVENKEEL_DIAMOND_H
#define EVENKEEL_DIAMOND_H

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/load-balanced-routing.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

/**
 * @ingroup evenkeel-tests
 *
 * @brief Two hosts, two edge switches, and two switches between these. The links of the first
 * middle switch have twice the rate.
 */
class Diamond
{
  public:
    /**
     * @param routing installs the routing of all nodes
     * @param slow rate of the links on the second path
     * @param order numbers of the nodes in the order in which they are made
     */
    explicit Diamond(const Ipv4RoutingHelper& routing,
                     const std::string& slow = "5Gbps",
                     const std::vector<uint32_t>& order = {0, 1, 2, 3, 4, 5})
    {
        std::map<uint32_t, Ptr<Node>> nodes;
        for (const uint32_t number : order)
        {
            nodes[number] = CreateObject<Node>();
        }
        for (const auto& [number, node] : nodes)
        {
            m_nodes.Add(node);
        }
        InternetStackHelper internet;
        internet.SetRoutingHelper(routing);
        internet.Install(m_nodes);
        m_networks.SetBase("10.0.0.0", "255.255.255.0");
        Connect(0, 2, "10Gbps");
        m_fast = Connect(2, 4, "10Gbps").GetAddress(1);
        m_slow = Connect(2, 5, slow).GetAddress(1);
        Connect(4, 3, "10Gbps");
        Connect(5, 3, slow);
        m_to = Connect(1, 3, "10Gbps").GetAddress(0);
    }

    ~Diamond()
    {
        Simulator::Destroy();
    }

    /**
     * @brief Sends packets from the first host to the second.
     * @param packets their number
     * @return number of packets that arrived
     */
    uint64_t Send(uint32_t packets)
    {
        ApplicationContainer server = UdpServerHelper(9).Install(m_nodes.Get(1));
        UdpClientHelper client(m_to, 9);
        client.SetAttribute("MaxPackets", UintegerValue(packets));
        client.SetAttribute("Interval", TimeValue(MicroSeconds(10)));
        client.Install(m_nodes.Get(0)).Start(MicroSeconds(1));
        if (auto policy = GetPolicy())
        {
            policy->TraceConnectWithoutContext("Choice", MakeCallback(&Diamond::Count, this));
        }
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        return DynamicCast<UdpServer>(server.Get(0))->GetReceived();
    }

    /// @return the policy of the first edge switch
    Ptr<LoadBalancedRouting> GetPolicy() const
    {
        return Ipv4RoutingHelper::GetRouting<LoadBalancedRouting>(
            m_nodes.Get(2)->GetObject<Ipv4>()->GetRoutingProtocol());
    }

    NodeContainer m_nodes;                  //!< hosts 0, 1; edges 2, 3; middle switches 4, 5
    Ipv4Address m_to;                       //!< address of the second host
    Ipv4Address m_fast;                     //!< next hop of the first edge on the fast path
    Ipv4Address m_slow;                     //!< next hop of the first edge on the slow path
    std::map<uint32_t, uint32_t> m_choices; //!< packets by interface of the first edge

  private:
    /**
     * @param a a node
     * @param b another
     * @param rate of their link
     * @return their addresses
     */
    Ipv4InterfaceContainer Connect(uint32_t a, uint32_t b, const std::string& rate)
    {
        PointToPointHelper p2p;
        p2p.SetDeviceAttribute("DataRate", StringValue(rate));
        p2p.SetChannelAttribute("Delay", StringValue("1us"));
        const auto ends = m_networks.Assign(p2p.Install(m_nodes.Get(a), m_nodes.Get(b)));
        m_networks.NewNetwork();
        return ends;
    }

    /**
     * @param interface the chosen interface
     */
    void Count(Ptr<const Packet>, const Ipv4Header&, uint32_t interface, uint32_t)
    {
        m_choices[interface]++;
    }

    Ipv4AddressHelper m_networks; //!< addresses
};

/// Interface of the first edge on the fast path.
constexpr uint32_t FAST = 2;
/// Interface of the first edge on the slow path.
constexpr uint32_t SLOW = 3;

} // namespace tests
} // namespace ns3

#endif /* EVENKEEL_DIAMOND_H */
