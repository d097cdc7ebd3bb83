// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../model/equal-cost-routes.h"
#include "../model/next-hop-source.h"
#include "evenkeel-diamond.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/load-balanced-routing-helper.h"
#include "ns3/load-balanced-routing.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// A source of routes that counts how often it is read.
class CountingSource : public NextHopSource
{
  public:
    /// The routes, and the counts of reads.
    struct Routes
    {
        uint32_t finds{0};     //!< lookups of a destination
        uint64_t number{1};    //!< changes that the signature shows
        uint32_t interface{2}; //!< interface of the next hop
    };

    /**
     * @param routes the routes
     */
    explicit CountingSource(Routes& routes)
        : m_routes(routes)
    {
    }

    std::vector<NextHop> Find(Ipv4Address) override
    {
        m_routes.finds++;
        return {{m_routes.interface, Ipv4Address("10.0.1.2")}};
    }

    uint64_t GetSignature() override
    {
        return m_routes.number;
    }

  private:
    Routes& m_routes; //!< the routes
};

/// Tests when routes are read: after a change, and once per interval.
class ReadingTestCase : public TestCase
{
  public:
    ReadingTestCase()
        : TestCase("routes are read after a change, and by no node with one link")
    {
    }

  private:
    /**
     * @brief Looks up a destination 100 times in 100 ms. Its route changes twice; the signature
     * shows the first change only.
     * @param interval the attribute RefreshInterval
     * @param interface expected interface at the end
     * @return number of times that the routes were read
     */
    uint32_t TestChanges(Time interval, uint32_t interface)
    {
        Diamond diamond{Ipv4StaticRoutingHelper()};
        CountingSource::Routes routes;
        EqualCostRoutes table;
        table.SetIp(diamond.m_nodes.Get(2)->GetObject<Ipv4>());
        table.SetSource(std::make_unique<CountingSource>(routes));
        bool changed = false;
        const auto find = [&] { return table.GroupOf(diamond.m_to, interval, changed); };
        for (uint32_t time = 0; time < 100; time++)
        {
            Simulator::Schedule(MicroSeconds(1000 * time + 1), [&] { find(); });
        }
        Simulator::Schedule(MilliSeconds(35), [&] { routes.number++, routes.interface = 3; });
        Simulator::Schedule(MicroSeconds(35001), [&] {
            NS_TEST_EXPECT_MSG_EQ(find().hops[0].interface, 3, "the next packet sees it");
        });
        Simulator::Schedule(MilliSeconds(52), [&] { routes.interface = 1; });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(find().hops[0].interface, interface, "interval " << interval);
        return routes.finds;
    }

    /// Tests a host with one link and two routes, which it never reads.
    void TestOneLink()
    {
        LoadBalancedRoutingHelper routing("switch-rr");
        Diamond diamond(routing.WithStaticRouting());
        Ptr<Ipv4> host = diamond.m_nodes.Get(0)->GetObject<Ipv4>();
        for (const std::string gateway : {"10.0.0.2", "10.0.0.3"})
        {
            Ipv4StaticRoutingHelper().GetStaticRouting(host)->AddHostRouteTo(
                diamond.m_to,
                Ipv4Address(gateway.c_str()),
                1);
        }
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        bool chose = false;
        const auto note = [&](Ptr<const Packet>, const Ipv4Header&, uint32_t, uint32_t) {
            chose = true;
        };
        const Callback<void, Ptr<const Packet>, const Ipv4Header&, uint32_t, uint32_t> noted(note);
        Ipv4RoutingHelper::GetRouting<LoadBalancedRouting>(host->GetRoutingProtocol())
            ->TraceConnectWithoutContext("Choice", noted);
        diamond.Send(10);
        NS_TEST_EXPECT_MSG_EQ(chose, false, "the host with one link did not read its routes");
    }

    /// Replaces the last static route, so that the number of routes stays the same.
    void TestReplaced()
    {
        Diamond diamond(LoadBalancedRoutingHelper("switch-rr").WithStaticRouting());
        const auto of = [&](uint32_t node) {
            return Ipv4StaticRoutingHelper().GetStaticRouting(
                diamond.m_nodes.Get(node)->GetObject<Ipv4>());
        };
        of(0)->SetDefaultRoute(Ipv4Address("10.0.0.2"), 1);
        of(4)->SetDefaultRoute(Ipv4Address("10.0.9.9"), 2);
        of(5)->SetDefaultRoute(Ipv4Address("10.0.9.9"), 2);
        of(2)->AddHostRouteTo(diamond.m_to, diamond.m_fast, FAST);
        of(2)->AddHostRouteTo(diamond.m_to, diamond.m_slow, SLOW);
        Simulator::Schedule(MicroSeconds(505), [&] {
            of(2)->RemoveRoute(of(2)->GetNRoutes() - 1);
            // A second gateway on the fast path, because a table cannot have a route twice.
            of(2)->AddHostRouteTo(diamond.m_to, Ipv4Address("10.0.9.9"), FAST);
        });
        NS_TEST_EXPECT_MSG_EQ(diamond.Send(100), 100, "all arrive");
        NS_TEST_EXPECT_MSG_EQ_TOL(diamond.m_choices[SLOW], 25U, 1U, "none after the replacement");
    }

    /// Injects a route at two nodes, whose distances from outside may differ.
    void TestExternal()
    {
        Diamond diamond(LoadBalancedRoutingHelper("switch-rr").WithGlobalRouting());
        for (const uint32_t node : {4, 5})
        {
            diamond.m_nodes.Get(node)->GetObject<InjectingRouter>()->InjectRoute(
                Ipv4Address("11.0.0.0"),
                Ipv4Mask("255.0.0.0"));
        }
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        const auto isRouted = [&](Ipv4Address destination) {
            Ipv4Header header;
            header.SetDestination(destination);
            Socket::SocketErrno error;
            return diamond.GetPolicy()->RouteOutput(Create<Packet>(), header, nullptr, error) !=
                   nullptr;
        };
        NS_TEST_EXPECT_MSG_EQ(isRouted(diamond.m_to), true, "two equal-cost routes");
        NS_TEST_EXPECT_MSG_EQ(isRouted(Ipv4Address("11.0.0.1")), false, "global routing decides");
    }

    void DoRun() override
    {
        TestExternal();
        NS_TEST_EXPECT_MSG_EQ(TestChanges(Time(0), 3), 2, "read once per visible change");
        NS_TEST_EXPECT_MSG_EQ_TOL(TestChanges(MilliSeconds(10), 1),
                                  11U,
                                  1U,
                                  "read once per interval and change");
        TestOneLink();
        TestReplaced();
    }
};

/// Tests attributes that are set during a run.
class AttributesTestCase : public TestCase
{
  public:
    AttributesTestCase()
        : TestCase("attributes that are set during a run take effect")
    {
    }

  private:
    /**
     * @brief Sets an attribute of the first edge in the middle of 100 packets.
     * @param name of the attribute
     * @param value of the attribute
     * @return packets by interface of the edge
     */
    std::map<uint32_t, uint32_t> Run(const std::string& name, const std::string& value)
    {
        LoadBalancedRoutingHelper routing("switch-rr");
        Diamond diamond(routing.WithGlobalRouting());
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        Ptr<LoadBalancedRouting> policy = diamond.GetPolicy();
        Simulator::Schedule(MicroSeconds(505), [this, policy, name, value] {
            NS_TEST_EXPECT_MSG_GT(policy->GetStateBits(), 0, "it has chosen");
            policy->SetAttribute(name, StringValue(value));
            const uint64_t bits = policy->GetStateBits();
            NS_TEST_EXPECT_MSG_EQ((bits == 0), (name != "Routes"), "made again after " << name);
        });
        NS_TEST_EXPECT_MSG_EQ(diamond.Send(100), 100, "all arrive");
        return diamond.m_choices;
    }

    void DoRun() override
    {
        for (const auto& [name, value] :
             std::vector<std::pair<std::string, std::string>>{{"Seed", "7"},
                                                              {"Tier", "1"},
                                                              {"PortBuffer", "2000"},
                                                              {"BaseRtt", "10us"},
                                                              {"Parameters", ""}})
        {
            const std::map<uint32_t, uint32_t> choices = Run(name, value);
            NS_TEST_EXPECT_MSG_EQ(choices.at(FAST) + choices.at(SLOW), 100, name);
        }
        const std::map<uint32_t, uint32_t> choices = Run("Routes", "static");
        NS_TEST_EXPECT_MSG_EQ_TOL(choices.at(FAST) + choices.at(SLOW), 50U, 1U, "no static routes");
    }
};

/// The suite.
class LoadBalancedChangesTestSuite : public TestSuite
{
  public:
    LoadBalancedChangesTestSuite()
        : TestSuite("evenkeel-load-balanced-changes")
    {
        AddTestCase(new ReadingTestCase);
        AddTestCase(new AttributesTestCase);
    }
};

LoadBalancedChangesTestSuite g_loadBalancedChangesTestSuite; //!< registers itself

} // namespace
