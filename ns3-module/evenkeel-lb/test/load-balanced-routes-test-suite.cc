// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../model/ip-topology.h"
#include "evenkeel-diamond.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/load-balanced-routing-helper.h"
#include "ns3/policy-parameters.h"

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// Tests next hops from static routes and from shortest paths.
class SourcesTestCase : public TestCase
{
  public:
    SourcesTestCase()
        : TestCase("next hops come from static routes or from shortest paths")
    {
    }

  private:
    void DoRun() override
    {
        LoadBalancedRoutingHelper routing("switch-rr");
        {
            Diamond diamond(routing.WithShortestPaths(Ipv4StaticRoutingHelper()));
            Ptr<Ipv4> edge = diamond.m_nodes.Get(2)->GetObject<Ipv4>();
            Simulator::Schedule(MicroSeconds(505), &Ipv4::SetDown, edge, SLOW);
            NS_TEST_EXPECT_MSG_EQ(diamond.Send(100), 100, "all arrive over shortest paths");
            NS_TEST_EXPECT_MSG_EQ_TOL(diamond.m_choices[FAST], 25U, 1U, "half of those before");
            NS_TEST_EXPECT_MSG_EQ_TOL(diamond.m_choices[SLOW], 25U, 1U, "none after the failure");
        }
        {
            Diamond diamond(routing.WithStaticRouting());
            Ipv4StaticRoutingHelper helper;
            const auto of = [&](uint32_t node) {
                return helper.GetStaticRouting(diamond.m_nodes.Get(node)->GetObject<Ipv4>());
            };
            of(0)->SetDefaultRoute(Ipv4Address("10.0.0.2"), 1);
            for (const uint32_t way : {4, 5})
            {
                of(way)->SetDefaultRoute(Ipv4Address("10.0.9.9"), 2);
            }
            of(2)->AddHostRouteTo(diamond.m_to, diamond.m_fast, FAST);
            of(2)->AddHostRouteTo(diamond.m_to, diamond.m_slow, SLOW);
            NS_TEST_EXPECT_MSG_EQ(diamond.Send(100), 100, "all arrive over static routes");
            NS_TEST_EXPECT_MSG_EQ(diamond.m_choices[FAST], 50, "equal static routes");
            NS_TEST_EXPECT_MSG_EQ(diamond.m_choices[SLOW], 50, "equal static routes");
        }
    }
};

/// Tests values computed from the rates and delays of links.
class FoundTestCase : public TestCase
{
  public:
    FoundTestCase()
        : TestCase("weights, tiers, round trips and flowlet gaps are found from links")
    {
    }

  private:
    void DoRun() override
    {
        {
            LoadBalancedRoutingHelper routing("spray-rr");
            routing.Set("Parameters", StringValue("weights = \"capacity\""));
            routing.Set("Seed", UintegerValue(1));
            Diamond diamond(routing.WithGlobalRouting());
            Ipv4GlobalRoutingHelper::PopulateRoutingTables();
            NS_TEST_EXPECT_MSG_EQ(diamond.Send(3000), 3000, "all arrive");
            NS_TEST_EXPECT_MSG_EQ_TOL(diamond.m_choices[FAST], 2000U, 150U, "twice the rate");
            IpTopology& topology = IpTopology::Get();
            const std::vector<uint32_t> tiers{0, 0, 0, 0, 1, 1};
            for (uint32_t node = 0; node < tiers.size(); node++)
            {
                NS_TEST_EXPECT_MSG_EQ(topology.TierOf(diamond.m_nodes.Get(node)->GetId()),
                                      tiers[node],
                                      "tier of node " << node);
            }
            // Four links each way: 1 us each, and 1,556 bytes at 10 Gbps, on the faster path.
            NS_TEST_EXPECT_MSG_EQ(topology.GetBaseRtt(), NanoSeconds(8000 + 4 * 1245), "base RTT");
        }
        const std::string warning = Warning("100Mbps");
        NS_TEST_EXPECT_MSG_NE(warning.find("the flowlet gap of 50000 ns is shorter than"),
                              std::string::npos,
                              warning);
        NS_TEST_EXPECT_MSG_EQ(Warning("5Gbps"), "", "a fast link has no warning");
        // Half of the round-trip time over the faster path, which is computed above.
        const std::string found = Warning("100Mbps", Time(0));
        NS_TEST_EXPECT_MSG_NE(found.find("the flowlet gap of 6490 ns is shorter than"),
                              std::string::npos,
                              found);
        // 1,500 bytes at 100 Mbps take 120 us. The gap in the message ends the warning.
        NS_TEST_EXPECT_MSG_NE(found.find("; set gap = \"240us\", twice that transmission, in "),
                              std::string::npos,
                              found);
        NS_TEST_EXPECT_MSG_EQ(Warning("100Mbps", Time(0), "gap = \"240us\""), "", "the message");
        // The round trip over the faster path, 12.98 us, is longer than 1,500 bytes at 5 Gbps.
        const std::string shorter = Warning("5Gbps", NanoSeconds(200));
        NS_TEST_EXPECT_MSG_NE(
            shorter.find("; set gap = \"7us\", half of the longest round-trip time, in the "
                         "attribute Parameters; flowlet without a gap takes it if BaseRtt is 0\n"),
            std::string::npos,
            shorter);
        NS_TEST_EXPECT_MSG_EQ(Warning("5Gbps", NanoSeconds(200), "gap = \"7us\""), "", "the gap");
        NS_TEST_EXPECT_MSG_EQ(Warning("5Gbps", Time(0)), "", "BaseRtt");
    }

    /**
     * @param slow rate of a link
     * @param baseRtt the longest round-trip time, twice the gap; 0 to compute it
     * @param parameters of the policy
     * @return the warnings of a simulation with flowlets
     */
    std::string Warning(const std::string& slow,
                        Time baseRtt = MicroSeconds(100),
                        const std::string& parameters = "")
    {
        std::ostringstream text;
        std::streambuf* const before = std::cerr.rdbuf(text.rdbuf());
        {
            LoadBalancedRoutingHelper routing("flowlet");
            routing.Set("BaseRtt", TimeValue(baseRtt));
            routing.Set("Parameters", StringValue(parameters));
            Diamond diamond(routing.WithGlobalRouting(), slow);
            Ipv4GlobalRoutingHelper::PopulateRoutingTables();
            diamond.Send(10);
        }
        std::cerr.rdbuf(before);
        return text.str();
    }
};

/// Tests the format of parameters.
class ParametersTestCase : public TestCase
{
  public:
    ParametersTestCase()
        : TestCase("parameters are separated by semicolons or newlines")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(PolicyParameterLines("gap = \"5us\"; x = 'a;b';y = 3"),
                              "gap = \"5us\"\n x = 'a;b'\ny = 3",
                              "semicolons");
        NS_TEST_EXPECT_MSG_EQ(PolicyParameterLines("a = 1\nb = 2"), "a = 1\nb = 2", "line ends");
    }
};

/// The suite.
class LoadBalancedRoutesTestSuite : public TestSuite
{
  public:
    LoadBalancedRoutesTestSuite()
        : TestSuite("evenkeel-load-balanced-routes")
    {
        AddTestCase(new SourcesTestCase);
        AddTestCase(new FoundTestCase);
        AddTestCase(new ParametersTestCase);
    }
};

LoadBalancedRoutesTestSuite g_loadBalancedRoutesTestSuite; //!< registers itself

} // namespace
