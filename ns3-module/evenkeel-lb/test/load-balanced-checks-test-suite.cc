// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-aborts.h"
#include "evenkeel-diamond.h"
#include "evenkeel-leaves.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/load-balanced-routing-helper.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/**
 * @ingroup evenkeel-tests
 * @brief Tests the messages about policies that cannot have an effect.
 */
class MessagesTestCase : public TestCase
{
  public:
    MessagesTestCase()
        : TestCase("a policy without effect says why, and an unknown one ends the script")
    {
    }

  private:
    /**
     * @param routing the routing of all nodes
     * @param prepare adds routes
     * @return what a simulation with two paths prints to the standard error
     */
    static std::string Said(const Ipv4RoutingHelper& routing,
                            const std::function<void(Diamond&)>& prepare)
    {
        return AbortMessageOf([&] {
            Diamond diamond(routing);
            prepare(diamond);
            diamond.Send(10);
        });
    }

    /**
     * @param text a text
     * @param part a part that it must have once
     */
    void Expect(const std::string& text, const std::string& part)
    {
        NS_TEST_EXPECT_MSG_EQ(CountOf(part, text), 1, part << " in: " << text);
    }

    void DoRun() override
    {
        const auto none = [](Diamond&) {};
        const auto populate = [](Diamond&) { Ipv4GlobalRoutingHelper::PopulateRoutingTables(); };
        const LoadBalancedRoutingHelper drill("drill");
        // A policy with an effect prints nothing; the others print one line each.
        NS_TEST_EXPECT_MSG_EQ(Said(drill.WithGlobalRouting(), populate), "it returned: ", "global");
        NS_TEST_EXPECT_MSG_EQ(Said(drill.WithShortestPaths(Ipv4StaticRoutingHelper()), none),
                              "it returned: ",
                              "shortest paths");
        Ipv4ListRoutingHelper below;
        below.Add(drill, -20);
        below.Add(Ipv4GlobalRoutingHelper(), -10);
        Expect(Said(below, populate),
               "policy drill has no effect, as at node 2: ns3::Ipv4GlobalRouting routes all "
               "packets first, with the priority -10 in the list: add the policy with a higher "
               "priority");
        const auto defaultOnly = [](Diamond& diamond) {
            Ipv4StaticRoutingHelper()
                .GetStaticRouting(diamond.m_nodes.Get(0)->GetObject<Ipv4>())
                ->SetDefaultRoute(Ipv4Address("10.0.0.2"), 1);
        };
        Expect(Said(drill.WithGlobalRouting(), defaultOnly),
               "has no effect, as at node 2: Ipv4GlobalRouting has no routes: call "
               "Ipv4GlobalRoutingHelper::PopulateRoutingTables() before the simulation; with "
               "static routes alone, use WithStaticRouting(); with another protocol, use With");
        Expect(Said(drill.WithGlobalRouting(),
                    [&](Diamond& diamond) {
                        diamond.m_nodes.Get(2)->GetObject<Ipv4>()->SetMetric(SLOW, 9);
                        populate(diamond);
                    }),
               "but Ipv4GlobalRouting has at most one next hop: recompute the routes, give the "
               "links equal metrics");
        const auto single = [](Diamond& diamond) {
            const auto of = [&](uint32_t node) {
                return Ipv4StaticRoutingHelper().GetStaticRouting(
                    diamond.m_nodes.Get(node)->GetObject<Ipv4>());
            };
            of(0)->SetDefaultRoute(Ipv4Address("10.0.0.2"), 1);
            of(2)->SetDefaultRoute(diamond.m_fast, FAST);
        };
        Expect(Said(drill.WithStaticRouting(), single),
               "but the static routes have at most one next hop: add routes of equal prefix");
        Ipv4ListRoutingHelper list;
        list.Add(drill, 10);
        list.Add(Ipv4StaticRoutingHelper(), 0);
        Expect(Said(list, single),
               "its list of protocols has no Ipv4GlobalRouting: use WithShortestPaths(BELOW)");
        // A second address of an interface shares nothing; one network of two links does.
        const auto add = [](uint32_t interface, const char* address) {
            return [=](Diamond& diamond) {
                const Ipv4InterfaceAddress second(address, Ipv4Mask("/24"));
                diamond.m_nodes.Get(2)->GetObject<Ipv4>()->AddAddress(interface, second);
                Ipv4GlobalRoutingHelper::PopulateRoutingTables();
            };
        };
        const std::string shared = "several interfaces of node 2 share the network 10.0.1.0/24";
        Expect(Said(drill.WithGlobalRouting(), add(SLOW, "10.0.1.9")), shared);
        NS_TEST_EXPECT_MSG_EQ(
            CountOf(shared, Said(drill.WithGlobalRouting(), add(FAST, "10.0.1.9"))),
            0,
            shared);
        NS_TEST_EXPECT_MSG_EQ(
            CountOf("share", Said(drill.WithGlobalRoutingOnly(), add(SLOW, "10.0.1.9"))),
            0,
            shared);
        Expect(Said(drill.WithShortestPaths(Ipv4StaticRoutingHelper()),
                    [](Diamond& diamond) {
                        Ptr<Ipv4> ip = diamond.m_nodes.Get(2)->GetObject<Ipv4>();
                        ip->SetDown(SLOW);
                        const NodeContainer ends(diamond.m_nodes.Get(2), CreateObject<Node>());
                        ip->AddInterface(PointToPointHelper().Install(ends).Get(0));
                    }),
               "has no effect, as at node 2: its interface 4 leads to devices without IP");
        // At the line that installs it, before any event.
        const std::string unknown = AbortMessageOf([] {
            InternetStackHelper internet;
            internet.SetRoutingHelper(LoadBalancedRoutingHelper("sprey").WithGlobalRouting());
            internet.Install(NodeContainer(1));
            std::cerr << "installed";
        });
        Expect(unknown,
               "LoadBalancedRouting: unknown policy 'sprey': use 'spray', or another that");
        Expect(unknown, "unknown policy");
        NS_TEST_EXPECT_MSG_EQ(CountOf("installed", unknown), 0, unknown);
    }
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests the messages about protocols below a policy that the policy overrules.
 */
class OverruledTestCase : public TestCase
{
  public:
    OverruledTestCase()
        : TestCase("a policy says once which protocols below it have no effect")
    {
    }

  private:
    /**
     * @tparam S a simulation
     * @tparam T types of the arguments of its constructor
     * @param prepare is called after the simulation was made
     * @param args the arguments
     * @return what a simulation prints to the standard error
     */
    template <class S, class... T>
    static std::string Said(const std::function<void(S&)>& prepare, const T&... args)
    {
        return AbortMessageOf([&] {
            S simulation(args...);
            prepare(simulation);
        });
    }

    /**
     * @param text a text
     * @param warning the only warning that it must have
     */
    void Expect(const std::string& text, const std::string& warning)
    {
        NS_TEST_EXPECT_MSG_EQ(text, "it returned: evenkeel: warning: " + warning + "\n", "warning");
    }

    void DoRun() override
    {
        const LoadBalancedRoutingHelper drill("drill");
        const auto send = [](Diamond& diamond) { diamond.Send(10); };
        const std::string links =
            ": the policy chooses among the paths with the fewest links and ignores metrics; to "
            "keep the routes of the protocol, install it without the policy; to balance by metric, "
            "use ";
        Expect(Said<Diamond>(send, drill.WithShortestPaths(RipHelper())),
               "policy drill, as at node 0, overrules ns3::Rip" + links +
                   "Ipv4::SetMetric and WithGlobalRouting()");
        Expect(Said<Leaves<Ipv6Family>>([](auto& leaves) { leaves.Send(10, {0}); },
                                        Ipv6LoadBalancedRoutingHelper("ecmp"),
                                        "rip"),
               "policy ecmp, as at node 5, overrules ns3::RipNg" + links +
                   "WithStaticRouting() and one route per next hop");
        // Routes of global routing are overruled only if there are any.
        const Ipv4GlobalRoutingHelper global;
        NS_TEST_EXPECT_MSG_EQ(Said<Diamond>(send, drill.WithShortestPaths(global)),
                              "it returned: ",
                              "no routes");
        const auto populate = [](Diamond& diamond) {
            Ipv4GlobalRoutingHelper::PopulateRoutingTables();
            diamond.Send(10);
        };
        Expect(Said<Diamond>(populate, drill.WithShortestPaths(global)),
               "policy drill, as at node 0, overrules ns3::Ipv4GlobalRouting" + links +
                   "Ipv4::SetMetric and WithGlobalRouting()");
        // RandomEcmpRouting has an effect where no policy chooses, as at the second edge.
        const auto random = [&](const std::vector<uint32_t>& nodes) {
            return [&, nodes](Diamond& diamond) {
                for (const uint32_t node : nodes)
                {
                    Ipv4RoutingHelper::GetRouting<Ipv4GlobalRouting>(
                        diamond.m_nodes.Get(node)->GetObject<Ipv4>()->GetRoutingProtocol())
                        ->SetAttribute("RandomEcmpRouting", BooleanValue(true));
                }
                populate(diamond);
            };
        };
        Expect(
            Said<Diamond>(random({2}), drill.WithGlobalRouting()),
            "policy drill, as at node 2, overrules RandomEcmpRouting of "
            "ns3::Ipv4GlobalRouting: the policy chooses among the same next hops; for a random "
            "one per packet, use the policy switch-random; otherwise set the attribute to false");
        NS_TEST_EXPECT_MSG_EQ(Said<Diamond>(random({0, 1, 3, 4, 5}), drill.WithGlobalRouting()),
                              "it returned: ",
                              "no choice");
    }
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests the share of each uplink under light traffic, whose queues are empty.
 */
class SharesTestCase : public TestCase
{
  public:
    SharesTestCase()
        : TestCase("jsq uses idle uplinks evenly, because ties are random")
    {
    }

  private:
    void DoRun() override
    {
        const LoadBalancedRoutingHelper jsq("jsq");
        Leaves<Ipv4Family> leaves(jsq, "global");
        // A packet of a flow every 20 us, 2 x 4.3 us of 1 Gbps: most queues are empty.
        const uint32_t packets = 300;
        NS_TEST_EXPECT_MSG_EQ(leaves.Send(packets, {0, 0, 0, 0}), 0, "all arrive");
        std::map<uint32_t, double> shares;
        for (const auto& choice : leaves.m_choices)
        {
            shares[choice.interface] += 1.0 / leaves.m_choices.size();
        }
        NS_TEST_EXPECT_MSG_EQ(shares.size(), Leaves<Ipv4Family>::SPINES, "uplinks");
        for (const auto& [interface, share] : shares)
        {
            NS_TEST_EXPECT_MSG_LT(share * Leaves<Ipv4Family>::SPINES, 1.3, interface);
        }
    }
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests properties that must not change the choices.
 */
class InvarianceTestCase : public TestCase
{
  public:
    InvarianceTestCase()
        : TestCase("choices do not depend on refreshes, nor on names and the order of nodes")
    {
    }

  private:
    /**
     * @param routes source of next hops
     * @param interval the attribute RefreshInterval
     * @return interfaces that the policy chose, in order
     */
    static std::vector<uint32_t> Choices(const std::string& routes, Time interval)
    {
        LoadBalancedRoutingHelper helper("spray");
        helper.Set("RefreshInterval", TimeValue(interval));
        Leaves<Ipv4Family> leaves(helper, routes);
        leaves.Send(100, {0, 0, 0, 0});
        std::vector<uint32_t> interfaces;
        for (const auto& choice : leaves.m_choices)
        {
            interfaces.push_back(choice.interface);
        }
        return interfaces;
    }

    void DoRun() override
    {
        for (const std::string routes : {"global", "static", "shortest"})
        {
            const std::vector<uint32_t> choices = Choices(routes, Time(0));
            NS_TEST_EXPECT_MSG_GT(choices.size(), 100, routes);
            NS_TEST_EXPECT_MSG_EQ((choices == Choices(routes, MicroSeconds(50))), true, routes);
        }
        const std::vector<std::vector<uint32_t>> orders = {{0, 1, 2, 3, 4, 5},
                                                           {5, 4, 3, 2, 1, 0},
                                                           {4, 0, 3, 5, 1, 2}};
        for (const std::vector<uint32_t>& order : orders)
        {
            Diamond diamond(LoadBalancedRoutingHelper("switch-rr").WithGlobalRouting(),
                            "5Gbps",
                            order);
            for (uint32_t node = 0; node < order.size(); node++)
            {
                Names::Add("node" + std::to_string(order[node]), diamond.m_nodes.Get(node));
            }
            Ipv4GlobalRoutingHelper::PopulateRoutingTables();
            NS_TEST_EXPECT_MSG_EQ(diamond.Send(100), 100, "all arrive");
            NS_TEST_EXPECT_MSG_EQ(diamond.m_choices[FAST], 50, "fast path");
            NS_TEST_EXPECT_MSG_EQ(diamond.m_choices[SLOW], 50, "slow path");
            Names::Clear();
        }
    }
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests that a policy changes nothing without a choice of next hops.
 */
class NoChoiceTestCase : public TestCase
{
  public:
    NoChoiceTestCase()
        : TestCase("without a choice, the protocols and the random streams are those of the script")
    {
    }

  private:
    /**
     * @param internet installs IP
     * @return number of random streams that a node takes
     */
    static uint64_t Streams(const InternetStackHelper& internet)
    {
        const uint64_t before = RngSeedManager::GetNextStreamIndex();
        internet.Install(CreateObject<Node>());
        return RngSeedManager::GetNextStreamIndex() - before;
    }

    /**
     * @param down when an interface on the second path goes down
     * @return number of packets of ten that arrive before RIP has routes
     */
    static uint64_t ArrivedAboveRip(Time down)
    {
        Diamond diamond(LoadBalancedRoutingHelper("spray").WithShortestPaths(RipHelper()));
        auto ip = PeekPointer(diamond.m_nodes.Get(2)->GetObject<Ipv4>());
        Simulator::Schedule(down, &Ipv4::SetDown, ip, SLOW);
        return diamond.Send(10);
    }

    void DoRun() override
    {
        const LoadBalancedRoutingHelper ecmp("ecmp");
        InternetStackHelper internet;
        const uint64_t streams = Streams(internet);
        internet.SetRoutingHelper(ecmp.WithStaticRouting());
        NS_TEST_EXPECT_MSG_EQ(Streams(internet), streams, "static routing");
        internet.SetRoutingHelper(ecmp.WithGlobalRouting());
        NS_TEST_EXPECT_MSG_EQ(Streams(internet), streams, "global routing");
        NS_TEST_EXPECT_MSG_EQ(ArrivedAboveRip(Time(0)), 0, "RIP routes packets without a choice");
        NS_TEST_EXPECT_MSG_EQ(ArrivedAboveRip(MicroSeconds(56)), 10, "kept after a failure");
    }
};

/// The suite.
class LoadBalancedChecksTestSuite : public TestSuite
{
  public:
    LoadBalancedChecksTestSuite()
        : TestSuite("evenkeel-load-balanced-checks")
    {
        AddTestCase(new MessagesTestCase);
        AddTestCase(new OverruledTestCase);
        AddTestCase(new SharesTestCase);
        AddTestCase(new InvarianceTestCase);
        AddTestCase(new NoChoiceTestCase);
    }
};

LoadBalancedChecksTestSuite g_loadBalancedChecksTestSuite; //!< registers itself

} // namespace
