// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/load-balanced-routing-helper.h"
#include "ns3/load-balanced-routing.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3;

/**
 * @ingroup tests
 * @defgroup evenkeel-tests Tests of evenkeel
 */

namespace
{

/**
 * @ingroup evenkeel-tests
 *
 * @brief A leaf-spine fabric with a TCP transfer from each host to a host under the other leaf.
 */
class LeafSpine
{
  public:
    /**
     * @param policy name of the policy; empty for global routing alone
     * @param parameters its parameters
     * @param seed of the policy
     */
    LeafSpine(const std::string& policy, const std::string& parameters = "", uint64_t seed = 1)
        : m_leaves(LEAVES),
          m_spines(SPINES),
          m_hosts(LEAVES * HOSTS)
    {
        InternetStackHelper internet;
        if (!policy.empty())
        {
            LoadBalancedRoutingHelper routing(policy);
            routing.Set("Parameters", StringValue(parameters));
            routing.Set("Seed", UintegerValue(seed));
            internet.SetRoutingHelper(routing.WithGlobalRouting());
        }
        internet.Install(m_leaves);
        internet.Install(m_spines);
        internet.Install(m_hosts);
        m_p2p.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
        m_p2p.SetChannelAttribute("Delay", StringValue("1us"));
        m_queues.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("1000p"));
        m_networks.SetBase("10.0.0.0", "255.255.255.0");
        for (uint32_t host = 0; host < m_hosts.GetN(); host++)
        {
            m_addresses.push_back(Connect(m_hosts.Get(host), m_leaves.Get(host / HOSTS)));
        }
        for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
        {
            for (uint32_t spine = 0; spine < SPINES; spine++)
            {
                Connect(m_leaves.Get(leaf), m_spines.Get(spine));
            }
        }
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }

    ~LeafSpine()
    {
        Simulator::Destroy();
    }

    /**
     * @brief Runs a transfer from every host.
     * @param bytes length of each transfer
     * @return when the last byte arrived; 1 s if a transfer did not complete
     */
    Time Transfer(uint64_t bytes)
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
        Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(5)));
        m_expected = bytes;
        for (uint32_t host = 0; host < m_hosts.GetN(); host++)
        {
            const uint32_t receiver = (host + HOSTS) % m_hosts.GetN();
            PacketSinkHelper sink("ns3::TcpSocketFactory",
                                  InetSocketAddress(Ipv4Address::GetAny(), 5000));
            sink.Install(m_hosts.Get(receiver))
                .Get(0)
                ->TraceConnectWithoutContext("Rx", MakeCallback(&LeafSpine::Receive, this));
            BulkSendHelper bulk("ns3::TcpSocketFactory",
                                InetSocketAddress(m_addresses[receiver], 5000));
            bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
            bulk.Install(m_hosts.Get(host)).Start(MicroSeconds(10 * host));
            m_hosts.Get(receiver)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
                "LocalDeliver",
                MakeCallback(&LeafSpine::CountReordered, this));
        }
        for (auto leaf = m_leaves.Begin(); leaf != m_leaves.End(); ++leaf)
        {
            if (auto policy = PolicyOf(*leaf))
            {
                policy->TraceConnectWithoutContext("Choice",
                                                   MakeCallback(&LeafSpine::CountChoice, this));
            }
        }
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        return m_received == bytes * m_hosts.GetN() ? m_last : Seconds(1);
    }

    /**
     * @param node a node
     * @return its policy, or null
     */
    static Ptr<LoadBalancedRouting> PolicyOf(Ptr<Node> node)
    {
        return Ipv4RoutingHelper::GetRouting<LoadBalancedRouting>(
            node->GetObject<Ipv4>()->GetRoutingProtocol());
    }

    static constexpr uint32_t LEAVES = 2; //!< leaf switches
    static constexpr uint32_t SPINES = 4; //!< spine switches
    static constexpr uint32_t HOSTS = 4;  //!< hosts per leaf

    NodeContainer m_leaves;                 //!< leaf switches
    NodeContainer m_spines;                 //!< spine switches
    NodeContainer m_hosts;                  //!< hosts
    std::map<uint32_t, uint64_t> m_choices; //!< packets, by chosen interface
    uint64_t m_reordered = 0;               //!< packets that arrived after one sent later

  private:
    /// Addresses and ports of a flow.
    using Flow = std::tuple<uint32_t, uint32_t, uint16_t, uint16_t>;

    /**
     * @param a a node
     * @param b another
     * @return the address of the first
     */
    Ipv4Address Connect(Ptr<Node> a, Ptr<Node> b)
    {
        NetDeviceContainer devices = m_p2p.Install(a, b);
        m_queues.Install(devices);
        Ipv4InterfaceContainer interfaces = m_networks.Assign(devices);
        m_networks.NewNetwork();
        return interfaces.GetAddress(0);
    }

    /**
     * @param packet bytes that arrived
     * @param from their sender
     */
    void Receive(Ptr<const Packet> packet, const Address& from)
    {
        m_received += packet->GetSize();
        m_last = Simulator::Now();
    }

    /**
     * @brief Counts a packet as reordered if its IP identification is lower than that of an earlier
     * packet of its flow. Senders increment the identification per pair of hosts.
     * @param header the packet's header
     * @param packet the packet
     * @param interface the interface that it arrived at
     */
    void CountReordered(const Ipv4Header& header, Ptr<const Packet> packet, uint32_t interface)
    {
        uint8_t ports[4] = {};
        packet->CopyData(ports, 4);
        const Flow flow(header.GetSource().Get(),
                        header.GetDestination().Get(),
                        ports[0] << 8 | ports[1],
                        ports[2] << 8 | ports[3]);
        const uint16_t number = header.GetIdentification();
        auto [highest, isNew] = m_highest.emplace(flow, number);
        if (!isNew && static_cast<int16_t>(number - highest->second) < 0)
        {
            m_reordered++;
        }
        else
        {
            highest->second = number;
        }
    }

    /**
     * @param packet the packet
     * @param header its header
     * @param interface the chosen interface
     * @param candidates number of next hops
     */
    void CountChoice(Ptr<const Packet> packet,
                     const Ipv4Header& header,
                     uint32_t interface,
                     uint32_t candidates)
    {
        m_choices[interface]++;
    }

    PointToPointHelper m_p2p;             //!< links
    TrafficControlHelper m_queues;        //!< queues
    Ipv4AddressHelper m_networks;         //!< addresses
    std::vector<Ipv4Address> m_addresses; //!< addresses of the hosts
    uint64_t m_expected = 0;              //!< bytes of each transfer
    uint64_t m_received = 0;              //!< bytes received in all transfers
    Time m_last;                          //!< when the last byte arrived
    /// Highest IP identification received, by flow.
    std::map<Flow, uint16_t> m_highest;
};

/**
 * @ingroup evenkeel-tests
 *
 * @brief Tests the order of packets and the completion times of TCP under several policies.
 */
class PoliciesTestCase : public TestCase
{
  public:
    PoliciesTestCase()
        : TestCase("policies change the order of packets and the completion times as expected")
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t bytes = 1000000;
        std::map<std::string, Time> last;
        std::map<std::string, uint64_t> reordered;
        for (std::string policy : {"", "ecmp", "flowlet", "spray", "jsq", "drill", "switch-rr"})
        {
            LeafSpine fabric(policy, policy == "flowlet" ? "gap = \"200us\"" : "");
            last[policy] = fabric.Transfer(bytes);
            reordered[policy] = fabric.m_reordered;
            NS_TEST_EXPECT_MSG_LT(last[policy], Seconds(1), policy << ": all transfers complete");
            if (policy != "")
            {
                const std::size_t used = fabric.m_choices.size();
                NS_TEST_EXPECT_MSG_GT(used, 1, policy << ": several spines are used");
            }
        }
        // One path per flow or burst keeps the order; one path per packet does not.
        NS_TEST_EXPECT_MSG_EQ(reordered[""], 0, "global routing alone keeps order");
        NS_TEST_EXPECT_MSG_EQ(reordered["ecmp"], 0, "a hash keeps order");
        NS_TEST_EXPECT_MSG_EQ(reordered["flowlet"],
                              0,
                              "a gap longer than the queueing delay keeps order");
        NS_TEST_EXPECT_MSG_GT(reordered["spray"], 100, "spraying reorders");
        // Global routing alone sends every packet to the first of four spines.
        NS_TEST_EXPECT_MSG_LT(last["ecmp"], last[""], "several paths are faster than one");
        NS_TEST_EXPECT_MSG_LT(last["spray"], last["ecmp"], "spraying uses all paths");
        NS_TEST_EXPECT_MSG_LT(last["jsq"] + last["jsq"], last[""], "jsq halves the time");
        NS_TEST_EXPECT_MSG_LT(last["drill"], last["ecmp"], "drill uses all paths");
        NS_TEST_EXPECT_MSG_LT(last["switch-rr"], last["ecmp"], "switch-rr uses all paths");
    }
};

/**
 * @ingroup evenkeel-tests
 *
 * @brief Tests that runs with the same seed are equal, and runs with other seeds differ.
 */
class SeedsTestCase : public TestCase
{
  public:
    SeedsTestCase()
        : TestCase("seeds, streams and attributes determine the choices of a policy")
    {
    }

  private:
    /**
     * @param seed the seed of the policy
     * @param stream the stream for AssignStreams, used if the seed is 0
     * @return packets, by uplink
     */
    std::map<uint32_t, uint64_t> Run(uint64_t seed, int64_t stream)
    {
        LeafSpine fabric("ecmp", "", seed);
        LoadBalancedRoutingHelper helper;
        const int64_t used = helper.AssignStreams(fabric.m_leaves, stream);
        NS_TEST_EXPECT_MSG_EQ(used, LeafSpine::LEAVES, "one stream per node");
        fabric.Transfer(50000);
        return fabric.m_choices;
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ((Run(1, 0) == Run(1, 7)), true, "a seed overrides the stream");
        NS_TEST_EXPECT_MSG_EQ((Run(0, 7) == Run(0, 7)), true, "equal streams");
        std::set<std::map<uint32_t, uint64_t>> different;
        for (int64_t n = 1; n <= 5; n++)
        {
            different.insert(Run(n, 0));
            different.insert(Run(0, 100 * n));
        }
        NS_TEST_EXPECT_MSG_GT(different.size(), 5, "different seeds");

        Config::SetDefault("ns3::LoadBalancedRouting::Policy", StringValue("drill"));
        Config::SetDefault("ns3::LoadBalancedRouting::Parameters", StringValue("samples = 3"));
        Ptr<LoadBalancedRouting> routing = CreateObject<LoadBalancedRouting>();
        StringValue value;
        routing->GetAttribute("Policy", value);
        NS_TEST_EXPECT_MSG_EQ(value.Get(), "drill", "default of Policy");
        routing->GetAttribute("Parameters", value);
        NS_TEST_EXPECT_MSG_EQ(value.Get(), "samples = 3", "default of Parameters");
        Config::SetDefault("ns3::LoadBalancedRouting::Policy", StringValue("ecmp"));
        Config::SetDefault("ns3::LoadBalancedRouting::Parameters", StringValue(""));
    }
};

/**
 * @ingroup evenkeel-tests
 *
 * @brief Tests that the policy follows route changes during the simulation.
 */
class FailureTestCase : public TestCase
{
  public:
    FailureTestCase()
        : TestCase("a next hop is not chosen while it is down, and chosen again afterwards")
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::Ipv4GlobalRouting::RespondToInterfaceEvents", BooleanValue(true));
        {
            LeafSpine fabric("switch-rr");
            Ptr<Ipv4> leaf = fabric.m_leaves.Get(0)->GetObject<Ipv4>();
            // Interface 0 is the loopback; the interfaces to hosts and then to spines follow.
            const uint32_t uplink = 1 + LeafSpine::HOSTS;
            m_uplink = uplink;
            LeafSpine::PolicyOf(fabric.m_leaves.Get(0))
                ->TraceConnectWithoutContext("Choice", MakeCallback(&FailureTestCase::Count, this));
            Simulator::Schedule(MicroSeconds(100), &Ipv4::SetDown, leaf, uplink);
            Simulator::Schedule(MicroSeconds(400), &Ipv4::SetUp, leaf, uplink);
            const Time last = fabric.Transfer(1000000);
            NS_TEST_EXPECT_MSG_LT(last, Seconds(1), "all transfers complete");
        }
        NS_TEST_EXPECT_MSG_GT(m_before, 0, "used before it failed");
        NS_TEST_EXPECT_MSG_EQ(m_during, 0, "not used while it was down");
        NS_TEST_EXPECT_MSG_GT(m_after, 0, "used again");
        NS_TEST_EXPECT_MSG_EQ(m_others, 3, "three next hops while one was down");
        Config::SetDefault("ns3::Ipv4GlobalRouting::RespondToInterfaceEvents", BooleanValue(false));
    }

    /**
     * @param packet the packet
     * @param header its header
     * @param interface the chosen interface
     * @param candidates number of next hops
     */
    void Count(Ptr<const Packet> packet,
               const Ipv4Header& header,
               uint32_t interface,
               uint32_t candidates)
    {
        const Time now = Simulator::Now();
        const bool isDown = now > MicroSeconds(100) && now < MicroSeconds(400);
        m_others = isDown ? candidates : m_others;
        if (interface == m_uplink)
        {
            uint64_t& count = isDown ? m_during : (now <= MicroSeconds(100) ? m_before : m_after);
            count++;
        }
    }

    uint32_t m_uplink = 0; //!< the interface that fails
    uint32_t m_others = 0; //!< candidates while it is down
    uint64_t m_before = 0; //!< packets over it before the failure
    uint64_t m_during = 0; //!< packets over it while it is down
    uint64_t m_after = 0;  //!< packets over it after it is up again
};

/**
 * @ingroup evenkeel-tests
 *
 * @brief Tests a policy change during the simulation, and the printed routing table.
 */
class ConfigurationTestCase : public TestCase
{
  public:
    ConfigurationTestCase()
        : TestCase("the policy can change during the simulation, and the table prints it")
    {
    }

  private:
    void DoRun() override
    {
        ObjectFactory factory("ns3::LoadBalancedRouting");
        NS_TEST_EXPECT_MSG_NE(factory.Create<LoadBalancedRouting>(), nullptr, "the TypeId");
        LeafSpine fabric("ecmp");
        Ptr<LoadBalancedRouting> routing = LeafSpine::PolicyOf(fabric.m_leaves.Get(0));
        Simulator::Schedule(MicroSeconds(200),
                            [routing]() { routing->SetAttribute("Policy", StringValue("spray")); });
        fabric.Transfer(200000);
        NS_TEST_EXPECT_MSG_GT(fabric.m_reordered, 0, "packets are sprayed");
        NS_TEST_EXPECT_MSG_EQ((routing->GetStateBits() <= 64 << 16), true, "state is bounded");
        std::ostringstream text;
        fabric.m_leaves.Get(0)->GetObject<Ipv4>()->GetRoutingProtocol()->PrintRoutingTable(
            Create<OutputStreamWrapper>(&text));
        NS_TEST_EXPECT_MSG_NE(text.str().find("policy spray"), std::string::npos, text.str());
        NS_TEST_EXPECT_MSG_NE(text.str().find("by one of the interfaces 5 6 7 8"),
                              std::string::npos,
                              text.str());
    }
};

/**
 * @ingroup evenkeel-tests
 *
 * @brief The suite of LoadBalancedRouting.
 */
class LoadBalancedRoutingTestSuite : public TestSuite
{
  public:
    LoadBalancedRoutingTestSuite()
        : TestSuite("evenkeel-load-balanced-routing")
    {
        // The default test type and duration, because their names differ between versions of ns-3.
        AddTestCase(new PoliciesTestCase);
        AddTestCase(new SeedsTestCase);
        AddTestCase(new FailureTestCase);
        AddTestCase(new ConfigurationTestCase);
    }
};

/// Registers itself.
LoadBalancedRoutingTestSuite g_loadBalancedRoutingTestSuite;

} // namespace
