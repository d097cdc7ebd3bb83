// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EVENKEEL_LEAVES_H
#define EVENKEEL_LEAVES_H

#include "evenkeel-kit.h"

#include "ns3/applications-module.h"
#include "ns3/point-to-point-module.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

/**
 * @ingroup evenkeel-tests
 *
 * @brief Two leaves with two hosts each under three spines, and UDP flows from the hosts of the
 * first leaf to those of the second.
 *
 * @tparam F IPv4 or IPv6
 */
template <class F>
class Leaves
{
  public:
    using Address = typename F::Address; //!< an address
    using Of = Kit<F>;                   //!< the family's types and operations

    static constexpr uint32_t HOSTS = 2;          //!< hosts per leaf
    static constexpr uint32_t SPINES = 3;         //!< spines
    static constexpr uint32_t UPLINK = 1 + HOSTS; //!< the first uplink; 0 is the loopback

    /// A choice by the policy of the first leaf.
    struct Choice
    {
        Time at;             //!< the time
        uint32_t flow;       //!< number of the flow
        uint32_t interface;  //!< the chosen interface
        uint32_t candidates; //!< number of next hops
    };

    /**
     * @param helper of the policy
     * @param routes source of next hops; "rip" for shortest paths above RIP, "list" for those above
     *        a list of RIP and static routing
     * @param lastRate rate of the links of the last spine; those of the others have 1 Gbps
     */
    Leaves(const typename Of::Helper& helper,
           const std::string& routes,
           const std::string& lastRate = "1Gbps")
        : m_leaves(2),
          m_spines(SPINES),
          m_hosts(2 * HOSTS),
          m_networks(Of::Networks())
    {
        InternetStackHelper internet;
        Of::SetRouting(internet, helper, routes);
        internet.Install(NodeContainer(m_leaves, m_spines, m_hosts));
        for (uint32_t host = 0; host < m_hosts.GetN(); host++)
        {
            const auto ends = Connect(m_hosts.Get(host), m_leaves.Get(host / HOSTS), "1Gbps");
            m_addresses.push_back(ends[0]);
            if (routes != "rip")
            {
                StaticOf(m_hosts.Get(host))->SetDefaultRoute(ends[1], 1);
            }
        }
        for (uint32_t leaf = 0; leaf < 2; leaf++)
        {
            for (uint32_t spine = 0; spine < SPINES; spine++)
            {
                const auto ends = Connect(m_leaves.Get(leaf),
                                          m_spines.Get(spine),
                                          spine + 1 == SPINES ? lastRate : "1Gbps");
                for (uint32_t host = 0; routes == "static" && host < m_hosts.GetN(); host++)
                {
                    const bool below = host / HOSTS == leaf;
                    StaticOf(below ? m_spines.Get(spine) : m_leaves.Get(leaf))
                        ->AddHostRouteTo(m_addresses[host],
                                         ends[below ? 0 : 1],
                                         below ? 1 + leaf : UPLINK + spine);
                }
            }
        }
        if (routes == "global")
        {
            Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        }
        GetPolicy()->TraceConnectWithoutContext("Choice", MakeCallback(&Leaves::Record, this));
    }

    ~Leaves()
    {
        Simulator::Destroy();
    }

    /// @return when flows begin: by then IPv6 has checked for duplicate addresses
    static Time Start()
    {
        return Seconds(2);
    }

    /**
     * @brief Runs flows. Each sends a packet of 500 bytes every 20 us.
     * @param packets number of packets per flow
     * @param dscps DSCP of each flow, by flow
     * @return number of packets that did not arrive
     */
    uint64_t Send(uint32_t packets, const std::vector<uint8_t>& dscps)
    {
        ApplicationContainer servers;
        for (uint32_t flow = 0; flow < dscps.size(); flow++)
        {
            const uint32_t from = flow % HOSTS;
            const uint32_t to = HOSTS + flow / HOSTS % HOSTS;
            const uint16_t port = FIRST_PORT + flow;
            servers.Add(UdpServerHelper(port).Install(m_hosts.Get(to)));
            Ptr<Socket> socket =
                Socket::CreateSocket(m_hosts.Get(from), UdpSocketFactory::GetTypeId());
            // ns-3.37 takes the DSCP from the address when a socket connects.
            socket->Connect(typename Of::SocketAddress(m_addresses[to], port));
            Of::SetDscp(socket, dscps[flow]);
            for (uint32_t packet = 0; packet < packets; packet++)
            {
                const Time at = Start() + MicroSeconds(20 * packet) + NanoSeconds(100 * flow);
                Simulator::Schedule(at, [socket]() { socket->Send(Create<Packet>(500)); });
            }
        }
        Simulator::Stop(Start() + Seconds(1));
        Simulator::Run();
        uint64_t missing = static_cast<uint64_t>(packets) * dscps.size();
        for (uint32_t flow = 0; flow < dscps.size(); flow++)
        {
            missing -= DynamicCast<UdpServer>(servers.Get(flow))->GetReceived();
        }
        return missing;
    }

    /**
     * @brief Schedules a packet from the first host.
     * @param to an address
     */
    void SendTo(const Address& to)
    {
        Ptr<Socket> socket = Socket::CreateSocket(m_hosts.Get(0), UdpSocketFactory::GetTypeId());
        socket->Connect(typename Of::SocketAddress(to, 1));
        Simulator::Schedule(Start(), [socket]() { socket->Send(Create<Packet>(500)); });
    }

    /**
     * @param count number of routes to request
     * @return number of routes without a source address, for packets that the first leaf itself
     *         sends
     */
    uint32_t RoutesWithoutSource(uint32_t count) const
    {
        typename F::Header header;
        header.SetDestination(m_addresses[HOSTS]);
        uint32_t without = 0;
        for (uint32_t route = 0; route < count; route++)
        {
            Socket::SocketErrno error = Socket::ERROR_NOTERROR;
            const auto found = GetPolicy()->RouteOutput(Create<Packet>(8), header, nullptr, error);
            without += !found || found->GetSource() == Address() ? 1 : 0;
        }
        return without;
    }

    /// @return the policy of the first leaf
    Ptr<typename Of::Policy> GetPolicy() const
    {
        return F::RoutingHelper::template GetRouting<typename Of::Policy>(
            GetIp()->GetRoutingProtocol());
    }

    /// @return the IP of the first leaf
    Ptr<typename F::Ip> GetIp() const
    {
        return m_leaves.Get(0)->template GetObject<typename F::Ip>();
    }

    /**
     * @param flow number of a flow
     * @return its packets by interface of the first leaf
     */
    std::map<uint32_t, uint32_t> UplinksOf(uint32_t flow) const
    {
        std::map<uint32_t, uint32_t> uplinks;
        for (const Choice& choice : m_choices)
        {
            if (choice.flow == flow)
            {
                uplinks[choice.interface]++;
            }
        }
        return uplinks;
    }

    std::vector<Choice> m_choices; //!< choices, in order

  private:
    static constexpr uint16_t FIRST_PORT = 9000; //!< port of the first flow

    /// @param a a node @param b another @param rate of their link @return their addresses
    std::vector<Address> Connect(Ptr<Node> a, Ptr<Node> b, const std::string& rate)
    {
        PointToPointHelper p2p;
        p2p.SetDeviceAttribute("DataRate", StringValue(rate));
        p2p.SetChannelAttribute("Delay", StringValue("1us"));
        const std::vector<Address> ends = Of::Assign(m_networks, p2p.Install(a, b));
        m_networks.NewNetwork();
        return ends;
    }

    /// @param node a node @return its static routes
    static Ptr<typename F::StaticRouting> StaticOf(Ptr<Node> node)
    {
        return typename Of::StaticHelper().GetStaticRouting(
            node->template GetObject<typename F::Ip>());
    }

    /// @param packet a packet @param interface the chosen one @param candidates their number
    void Record(Ptr<const Packet> packet,
                const typename F::Header&,
                uint32_t interface,
                uint32_t candidates)
    {
        if (!packet)
        {
            return; // A route for a packet of the leaf itself.
        }
        uint8_t ports[4] = {};
        packet->CopyData(ports, 4);
        const uint32_t flow = (ports[2] << 8 | ports[3]) - FIRST_PORT;
        m_choices.push_back({Simulator::Now(), flow, interface, candidates});
    }

    NodeContainer m_leaves;                //!< leaves
    NodeContainer m_spines;                //!< spines
    NodeContainer m_hosts;                 //!< hosts
    typename Of::AddressHelper m_networks; //!< addresses
    std::vector<Address> m_addresses;      //!< addresses of the hosts
};

} // namespace tests
} // namespace ns3

#endif /* EVENKEEL_LEAVES_H */
