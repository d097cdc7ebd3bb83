// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef SCRIPT_H
#define SCRIPT_H

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/ipv6-load-balanced-routing-helper.h"
#include "ns3/load-balanced-routing-helper.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <ctime>
#include <iostream>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel-tests
 * @brief Shared by the scripts of this folder: an optional policy, flows, and the output.
 *
 * With `--policy=none` a script uses nothing of the module. If no packet has a choice of paths, the
 * standard output must not depend on the policy.
 */
class Script
{
  public:
    /// The protocols that a script has without the module.
    enum Stack
    {
        DEFAULT,     //!< those of InternetStackHelper: static and global routing
        GLOBAL_ONLY, //!< global routing alone
        STATIC,      //!< static routing alone
        IPV6,        //!< those of InternetStackHelper for IPv6: static routing
        RIP          //!< RIP above static routing
    };

    /**
     * @param argc number of arguments
     * @param argv the arguments
     */
    Script(int argc, char* argv[])
    {
        CommandLine cmd;
        cmd.AddValue("policy", "a policy, or none", m_policy);
        cmd.Parse(argc, argv);
    }

    /**
     * @brief Installs IP.
     * @param nodes the nodes
     * @param stack the protocols
     */
    void InstallInternet(const NodeContainer& nodes, Stack stack = DEFAULT) const
    {
        InternetStackHelper internet;
        if (stack == RIP)
        {
            internet.SetRoutingHelper(RipList());
        }
        else if (stack == IPV6 && m_policy != "none")
        {
            Ipv6LoadBalancedRoutingHelper routing(m_policy);
            internet.SetRoutingHelper(routing.WithStaticRouting());
        }
        else if (stack != IPV6 && m_policy != "none")
        {
            LoadBalancedRoutingHelper routing(m_policy);
            internet.SetRoutingHelper(stack == DEFAULT  ? routing.WithGlobalRouting()
                                      : stack == STATIC ? routing.WithStaticRouting()
                                                        : routing.WithGlobalRoutingOnly());
        }
        else if (stack == GLOBAL_ONLY)
        {
            internet.SetRoutingHelper(Ipv4GlobalRoutingHelper());
        }
        else if (stack == STATIC)
        {
            internet.SetRoutingHelper(Ipv4StaticRoutingHelper());
        }
        internet.Install(nodes);
    }

    /**
     * @brief Installs IP with another protocol, and the policy above it among the shortest paths.
     * @param nodes the nodes
     * @param below the helper of the protocol
     */
    void InstallInternet(const NodeContainer& nodes, const Ipv4RoutingHelper& below) const
    {
        InternetStackHelper internet;
        internet.SetRoutingHelper(below);
        if (m_policy != "none")
        {
            internet.SetRoutingHelper(LoadBalancedRoutingHelper(m_policy).WithShortestPaths(below));
        }
        internet.Install(nodes);
    }

    /**
     * @brief Adds a flow of UDP packets.
     * @param from the sender
     * @param to the receiver
     * @param address an address of the receiver
     * @param packets number of packets
     * @param interval time between them
     * @param start when the first flow begins
     */
    void AddFlow(Ptr<Node> from,
                 Ptr<Node> to,
                 const Address& address,
                 uint32_t packets,
                 Time interval = MicroSeconds(100),
                 Time start = MicroSeconds(10))
    {
        const uint16_t port = 9000 + m_servers.GetN();
        m_servers.Add(UdpServerHelper(port).Install(to));
        UdpClientHelper client(address, port);
        client.SetAttribute("MaxPackets", UintegerValue(packets));
        client.SetAttribute("Interval", TimeValue(interval));
        client.SetAttribute("PacketSize", UintegerValue(1000));
        client.Install(from).Start(start + MicroSeconds(3 * m_servers.GetN()));
        m_arrivals.push_back(Time(0));
        m_servers.Get(m_servers.GetN() - 1)
            ->TraceConnectWithoutContext(
                "Rx",
                MakeCallback(&Script::Receive, this).Bind(m_servers.GetN() - 1));
        m_sent += packets;
    }

    /**
     * @brief Runs the simulation and prints the arrivals.
     * @param stop when it ends
     * @return the exit status: 0 if all packets arrived
     */
    int Run(Time stop)
    {
        Simulator::Stop(stop);
        const std::clock_t before = std::clock();
        Simulator::Run();
        const double us = 1e6 * (std::clock() - before) / CLOCKS_PER_SEC;
        uint64_t received = 0;
        for (uint32_t flow = 0; flow < m_servers.GetN(); flow++)
        {
            const uint64_t packets = DynamicCast<UdpServer>(m_servers.Get(flow))->GetReceived();
            received += packets;
            std::cout << "flow " << flow << ": " << packets << " packets, arrivals "
                      << m_arrivals[flow].GetNanoSeconds() << " ns in sum\n";
        }
        std::cout << received << " of " << m_sent << " packets arrived\n";
        std::cerr << "CPU of the run: " << static_cast<uint64_t>(us) << " us\n";
        Simulator::Destroy();
        return received == m_sent ? 0 : 1;
    }

  private:
    /// @return RIP above static routing, with the policy above both
    Ipv4ListRoutingHelper RipList() const
    {
        Ipv4ListRoutingHelper list;
        if (m_policy != "none")
        {
            list.Add(LoadBalancedRoutingHelper(m_policy), 10);
        }
        list.Add(RipHelper(), 5);
        list.Add(Ipv4StaticRoutingHelper(), 0);
        return list;
    }

    /**
     * @brief Adds the time of an arrival.
     * @param flow number of the flow
     */
    void Receive(uint32_t flow, Ptr<const Packet>)
    {
        m_arrivals[flow] += Simulator::Now();
    }

    std::string m_policy{"none"};   //!< name of the policy
    ApplicationContainer m_servers; //!< by flow
    std::vector<Time> m_arrivals;   //!< sum of arrival times, by flow
    uint64_t m_sent{0};             //!< packets of all flows
};

} // namespace ns3

#endif /* SCRIPT_H */
