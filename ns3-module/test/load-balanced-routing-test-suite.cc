// SPDX-License-Identifier: GPL-2.0-only

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
 * @brief A leaf-spine fabric with TCP transfers from each host to one under the other leaf.
 */
class LeafSpine
{
  public:
    /**
     * @param policy a policy; none for global routing alone
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
     * @brief Every host sends so many bytes.
     * @param bytes how many
     * @return when the last of them came in
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
                MakeCallback(&LeafSpine::CountOvertaken, this));
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
    static constexpr uint32_t HOSTS = 4;  //!< hosts a leaf

    NodeContainer m_leaves;                  //!< leaf switches
    NodeContainer m_spines;                  //!< spine switches
    NodeContainer m_hosts;                   //!< hosts
    std::map<uint32_t, uint64_t> m_choices;  //!< packets by interface that was chosen
    uint64_t m_overtaken = 0;                //!< packets that came after a later one

  private:
    /// Addresses and ports.
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
     * @param packet bytes that came in
     * @param from their sender
     */
    void Receive(Ptr<const Packet> packet, const Address& from)
    {
        m_received += packet->GetSize();
        m_last = Simulator::Now();
    }

    /**
     * @brief Senders count packets by pair of hosts; in a flow, a lower number was overtaken.
     * @param header the packet's header
     * @param packet the packet
     * @param interface where it came in
     */
    void CountOvertaken(const Ipv4Header& header, Ptr<const Packet> packet, uint32_t interface)
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
            m_overtaken++;
        }
        else
        {
            highest->second = number;
        }
    }

    /**
     * @param packet the packet
     * @param header its header
     * @param interface what was chosen
     * @param candidates of how many
     */
    void CountChoice(Ptr<const Packet> packet,
                     const Ipv4Header& header,
                     uint32_t interface,
                     uint32_t candidates)
    {
        m_choices[interface]++;
    }

    PointToPointHelper m_p2p;               //!< links
    TrafficControlHelper m_queues;          //!< queues
    Ipv4AddressHelper m_networks;           //!< addresses
    std::vector<Ipv4Address> m_addresses;   //!< of hosts
    uint64_t m_expected = 0;                //!< bytes of a transfer
    uint64_t m_received = 0;                //!< bytes of all
    Time m_last;                            //!< when the last byte came in
    /// The highest number that came in, by flow.
    std::map<Flow, uint16_t> m_highest;
};

/**
 * @ingroup evenkeel-tests
 *
 * @brief Times move as they should, and packets overtake each other under spraying alone.
 */
class PoliciesTestCase : public TestCase
{
  public:
    PoliciesTestCase()
        : TestCase("TCP under policies: order and completion times")
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t bytes = 1000000;
        std::map<std::string, Time> last;
        std::map<std::string, uint64_t> overtaken;
        for (std::string policy : {"", "ecmp", "flowlet", "spray", "jsq", "drill", "switch-rr"})
        {
            LeafSpine fabric(policy, policy == "flowlet" ? "gap = \"200us\"" : "");
            last[policy] = fabric.Transfer(bytes);
            overtaken[policy] = fabric.m_overtaken;
            NS_TEST_EXPECT_MSG_LT(last[policy], Seconds(1), policy << " must be done");
            if (policy != "")
            {
                const std::size_t used = fabric.m_choices.size();
                NS_TEST_EXPECT_MSG_GT(used, 1, policy << " must use several spines");
            }
        }
        // A path for each flow or burst keeps order; a path for each packet does not.
        NS_TEST_EXPECT_MSG_EQ(overtaken[""], 0, "global routing alone keeps order");
        NS_TEST_EXPECT_MSG_EQ(overtaken["ecmp"], 0, "a hash keeps order");
        NS_TEST_EXPECT_MSG_EQ(overtaken["flowlet"], 0, "gaps longer than queues keep order");
        NS_TEST_EXPECT_MSG_GT(overtaken["spray"], 100, "spraying reorders");
        // Global routing alone sends all over the first spine: of four, at a quarter of the rate.
        NS_TEST_EXPECT_MSG_LT(last["ecmp"], last[""], "two paths are more than one");
        NS_TEST_EXPECT_MSG_LT(last["spray"], last["ecmp"], "sprayed packets use all paths");
        NS_TEST_EXPECT_MSG_LT(last["jsq"] + last["jsq"], last[""], "so do those that look");
        NS_TEST_EXPECT_MSG_LT(last["drill"], last["ecmp"], "so do those that look at two");
        NS_TEST_EXPECT_MSG_LT(last["switch-rr"], last["ecmp"], "so do those in turn");
    }
};

/**
 * @ingroup evenkeel-tests
 *
 * @brief Runs are the same for the same seed, and others for another.
 */
class SeedsTestCase : public TestCase
{
  public:
    SeedsTestCase()
        : TestCase("Seeds, streams and attributes reach the policy")
    {
    }

  private:
    /**
     * @param seed the policy's
     * @param stream that AssignStreams is given, if the seed is 0
     * @return packets by uplink
     */
    std::map<uint32_t, uint64_t> Run(uint64_t seed, int64_t stream)
    {
        LeafSpine fabric("ecmp", "", seed);
        LoadBalancedRoutingHelper helper;
        const int64_t used = helper.AssignStreams(fabric.m_leaves, stream);
        NS_TEST_EXPECT_MSG_EQ(used, LeafSpine::LEAVES, "a stream a node");
        fabric.Transfer(50000);
        return fabric.m_choices;
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ((Run(1, 0) == Run(1, 7)), true, "a seed of its own decides alone");
        NS_TEST_EXPECT_MSG_EQ((Run(0, 7) == Run(0, 7)), true, "a stream decides");
        std::set<std::map<uint32_t, uint64_t>> different;
        for (int64_t n = 1; n <= 5; n++)
        {
            different.insert(Run(n, 0));
            different.insert(Run(0, 100 * n));
        }
        NS_TEST_EXPECT_MSG_GT(different.size(), 5, "other seeds are other hashes");

        Config::SetDefault("ns3::LoadBalancedRouting::Policy", StringValue("drill"));
        Config::SetDefault("ns3::LoadBalancedRouting::Parameters", StringValue("samples = 3"));
        Ptr<LoadBalancedRouting> routing = CreateObject<LoadBalancedRouting>();
        StringValue value;
        routing->GetAttribute("Policy", value);
        NS_TEST_EXPECT_MSG_EQ(value.Get(), "drill", "defaults reach the object");
        routing->GetAttribute("Parameters", value);
        NS_TEST_EXPECT_MSG_EQ(value.Get(), "samples = 3", "likewise");
        Config::SetDefault("ns3::LoadBalancedRouting::Policy", StringValue("ecmp"));
        Config::SetDefault("ns3::LoadBalancedRouting::Parameters", StringValue(""));
    }
};

/**
 * @ingroup evenkeel-tests
 *
 * @brief Routes that change while the simulation runs are followed.
 */
class FailureTestCase : public TestCase
{
  public:
    FailureTestCase()
        : TestCase("A next hop that is down is not chosen, and comes back")
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::Ipv4GlobalRouting::RespondToInterfaceEvents", BooleanValue(true));
        {
            LeafSpine fabric("switch-rr");
            Ptr<Ipv4> leaf = fabric.m_leaves.Get(0)->GetObject<Ipv4>();
            // Interface 0 is the loopback, then the hosts, then the spines.
            const uint32_t uplink = 1 + LeafSpine::HOSTS;
            m_uplink = uplink;
            LeafSpine::PolicyOf(fabric.m_leaves.Get(0))
                ->TraceConnectWithoutContext("Choice",
                                             MakeCallback(&FailureTestCase::Count, this));
            Simulator::Schedule(MicroSeconds(100), &Ipv4::SetDown, leaf, uplink);
            Simulator::Schedule(MicroSeconds(400), &Ipv4::SetUp, leaf, uplink);
            const Time last = fabric.Transfer(1000000);
            NS_TEST_EXPECT_MSG_LT(last, Seconds(1), "all transfers must be done");
        }
        NS_TEST_EXPECT_MSG_GT(m_before, 0, "used before it failed");
        NS_TEST_EXPECT_MSG_EQ(m_during, 0, "not used while it was down");
        NS_TEST_EXPECT_MSG_GT(m_after, 0, "used again");
        NS_TEST_EXPECT_MSG_EQ(m_others, 3, "three next hops while one was down");
        Config::SetDefault("ns3::Ipv4GlobalRouting::RespondToInterfaceEvents",
                           BooleanValue(false));
    }

    /**
     * @param packet the packet
     * @param header its header
     * @param interface what was chosen
     * @param candidates of how many
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
            uint64_t& count =
                isDown ? m_during : (now <= MicroSeconds(100) ? m_before : m_after);
            count++;
        }
    }

    uint32_t m_uplink = 0;  //!< the interface that fails
    uint32_t m_others = 0;  //!< candidates while it is down
    uint64_t m_before = 0;  //!< packets over it, before
    uint64_t m_during = 0;  //!< ... while it is down
    uint64_t m_after = 0;   //!< ... after
};

/**
 * @ingroup evenkeel-tests
 *
 * @brief The policy may change while the simulation runs, by path, and every class has its name.
 */
class ConfigurationTestCase : public TestCase
{
  public:
    ConfigurationTestCase()
        : TestCase("By name, by path, and printed")
    {
    }

  private:

    void DoRun() override
    {
        ObjectFactory factory("ns3::LoadBalancedRouting");
        NS_TEST_EXPECT_MSG_NE(factory.Create<LoadBalancedRouting>(), nullptr, "by name");
        LeafSpine fabric("ecmp");
        Ptr<LoadBalancedRouting> routing = LeafSpine::PolicyOf(fabric.m_leaves.Get(0));
        Simulator::Schedule(MicroSeconds(200), [routing]() {
            routing->SetAttribute("Policy", StringValue("spray"));
        });
        fabric.Transfer(200000);
        NS_TEST_EXPECT_MSG_GT(fabric.m_overtaken, 0, "spraying has begun");
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
        // The defaults of types and durations, whose names differ between versions.
        AddTestCase(new PoliciesTestCase);
        AddTestCase(new SeedsTestCase);
        AddTestCase(new FailureTestCase);
        AddTestCase(new ConfigurationTestCase);
    }
};

/// Registers itself.
LoadBalancedRoutingTestSuite g_loadBalancedRoutingTestSuite;

} // namespace
