// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../model/dscp-policies.h"
#include "evenkeel-aborts.h"
#include "evenkeel-leaves.h"

#include <set>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/**
 * @ingroup evenkeel-tests
 * @brief Tests the policies of a family of IP.
 * @tparam F IPv4 or IPv6
 */
template <class F>
class FamilyTestCase : public TestCase
{
  public:
    FamilyTestCase()
        : TestCase(std::string(F::NAME) +
                   ": policies choose among static routes and shortest paths")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string routes : {"static", "shortest-paths"})
        {
            for (const std::string policy : {"ecmp", "flowlet", "spray", "jsq", "switch-rr"})
            {
                Check(routes, policy);
            }
        }
        Check("rip", "spray");
        Check("list", "spray");
    }

    /**
     * @param routes source of next hops
     * @param policy name of the policy
     */
    void Check(const std::string& routes, const std::string& policy)
    {
        typename Kit<F>::Helper helper(policy);
        Leaves<F> leaves(helper, routes);
        if (routes == "list")
        {
            // The leaf has no route to it, and its list of protocols says so without a crash.
            leaves.SendTo(Kit<F>::Unknown());
        }
        const uint32_t flows = 16;
        const std::string what = routes + ", " + policy;
        const uint64_t missing = leaves.Send(30, std::vector<uint8_t>(flows, 0));
        NS_TEST_EXPECT_MSG_EQ(missing, 0, what << ": all arrive");
        NS_TEST_EXPECT_MSG_EQ(leaves.m_choices.size(), 30 * flows, what);
        std::set<uint32_t> used;
        uint32_t single = 0;
        for (uint32_t flow = 0; flow < flows; flow++)
        {
            const auto uplinks = leaves.UplinksOf(flow);
            single += uplinks.size() == 1 ? 1 : 0;
            for (const auto& [interface, packets] : uplinks)
            {
                used.insert(interface);
            }
        }
        NS_TEST_EXPECT_MSG_EQ(used.size(), Leaves<F>::SPINES, what << ": every uplink is used");
        const bool byFlow = policy == "ecmp" || policy == "flowlet";
        NS_TEST_EXPECT_MSG_EQ(single, (byFlow ? flows : 0), what << ": flows with one uplink");
    }
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests interfaces that go down and up during a run.
 * @tparam F IPv4 or IPv6
 */
template <class F>
class FailuresTestCase : public TestCase
{
  public:
    /**
     * @param sources sources of next hops
     */
    explicit FailuresTestCase(const std::vector<std::string>& sources)
        : TestCase(std::string(F::NAME) +
                   ": an interface that is down is left out at once, and comes back"),
          m_sources(sources)
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string& routes : m_sources)
        {
            for (const std::string policy : {"ecmp", "flowlet", "spray", "jsq", "drill"})
            {
                Check(routes, policy);
            }
        }
    }

    /**
     * @param routes source of next hops
     * @param policy name of the policy
     */
    void Check(const std::string& routes, const std::string& policy)
    {
        const std::string what = routes + ", " + policy;
        typename Kit<F>::Helper helper(policy);
        // A flow sends every 20 us, so each packet may start a flowlet and use the restored uplink.
        helper.Set("Parameters", StringValue(policy == "flowlet" ? "gap = \"15us\"" : ""));
        Leaves<F> leaves(helper, routes);
        const uint32_t failed = Leaves<F>::UPLINK + 1;
        const Time down = leaves.Start() + MicroSeconds(1005);
        const Time up = leaves.Start() + MicroSeconds(2005);
        auto ip = PeekPointer(leaves.GetIp());
        Simulator::Schedule(down, &F::Ip::SetDown, ip, failed);
        Simulator::Schedule(up, &F::Ip::SetUp, ip, failed);
        const uint64_t missing = leaves.Send(150, std::vector<uint8_t>(12, 0));
        NS_TEST_EXPECT_MSG_EQ(missing, 0, what << ": all arrive");
        uint32_t before = 0;
        uint32_t during = 0;
        uint32_t after = 0;
        for (const auto& choice : leaves.m_choices)
        {
            const bool isDown = choice.at >= down && choice.at < up;
            const uint32_t there = Leaves<F>::SPINES - (isDown ? 1 : 0);
            NS_TEST_EXPECT_MSG_EQ(choice.candidates, there, what << ": next hops that are up");
            uint32_t& count = isDown ? during : choice.at < down ? before : after;
            count += choice.interface == failed ? 1 : 0;
        }
        NS_TEST_EXPECT_MSG_GT(before, 0, what << ": used before it failed");
        NS_TEST_EXPECT_MSG_EQ(during, 0, what << ": not used while it is down");
        NS_TEST_EXPECT_MSG_GT(after, 0, what << ": used again");
        NS_TEST_EXPECT_MSG_EQ(leaves.RoutesWithoutSource(60), 0, what << ": own packets");
    }

    std::vector<std::string> m_sources; //!< sources of next hops
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests policies by DSCP.
 * @tparam F IPv4 or IPv6
 */
template <class F>
class DscpTestCase : public TestCase
{
  public:
    DscpTestCase()
        : TestCase(std::string(F::NAME) + ": packets of some DSCPs have their own policy")
    {
    }

  private:
    void DoRun() override
    {
        typename Kit<F>::Helper helper("ecmp");
        helper.Set("DscpPolicies",
                   StringValue("46 = switch-rr, 8-11 = flowlet(gap = \"1ms\"), 12 = spray"));
        Leaves<F> leaves(helper, "shortest-paths");
        const std::vector<uint8_t> dscps{0, 46, 8, 12, 11, 45, 63, 46};
        const uint64_t missing = leaves.Send(60, dscps);
        NS_TEST_EXPECT_MSG_EQ(missing, 0, "all arrive");
        uint32_t inTurn = 0;
        for (uint32_t flow = 0; flow < dscps.size(); flow++)
        {
            const bool spread = dscps[flow] == 46 || dscps[flow] == 12;
            const auto uplinks = leaves.UplinksOf(flow);
            NS_TEST_EXPECT_MSG_EQ(uplinks.size(),
                                  (spread ? Leaves<F>::SPINES : 1),
                                  "uplinks of DSCP " << +dscps[flow]);
            for (uint32_t uplink = 0; dscps[flow] == 46 && uplink < Leaves<F>::SPINES; uplink++)
            {
                const auto found = uplinks.find(Leaves<F>::UPLINK + uplink);
                inTurn += found == uplinks.end() ? 0 : found->second;
            }
        }
        NS_TEST_EXPECT_MSG_EQ(inTurn, 120, "two flows in turn");
    }
};

/// Tests valid and invalid values of the attribute DscpPolicies.
class DscpFormatTestCase : public TestCase
{
  public:
    DscpFormatTestCase()
        : TestCase("DscpPolicies names what is wrong and what would be right")
    {
    }

  private:
    void DoRun() override
    {
        std::vector<DscpPolicy> read;
        NS_TEST_EXPECT_MSG_EQ(ReadDscpPolicies(" ", read), "", "none");
        NS_TEST_EXPECT_MSG_EQ(read.size(), 0, "none");
        const std::string text =
            "0=drill(samples = 3), 8 - 10 = flowlet(gap = \"5us\"; x = [1, 2])";
        NS_TEST_EXPECT_MSG_EQ(ReadDscpPolicies(text, read), "", text);
        NS_TEST_ASSERT_MSG_EQ(read.size(), 2, text);
        NS_TEST_EXPECT_MSG_EQ(read[0].policy + "/" + read[0].parameters, "drill/samples = 3", text);
        NS_TEST_EXPECT_MSG_EQ(+read[1].first, 8, text);
        NS_TEST_EXPECT_MSG_EQ(+read[1].last, 10, text);
        NS_TEST_EXPECT_MSG_EQ(read[1].parameters, "gap = \"5us\"; x = [1, 2]", text);
        for (const std::string bad :
             {"drill", "64 = drill", "9-8 = drill", "1 =", "EF = drill", "1 = drill(x", "1=jsq,"})
        {
            const std::string reason = ReadDscpPolicies(bad, read);
            NS_TEST_EXPECT_MSG_NE(reason.find("expected DSCP = POLICY"), reason.npos, bad);
        }
        const std::string twice = ReadDscpPolicies("1-3 = jsq, 3 = drill", read);
        NS_TEST_EXPECT_MSG_NE(twice.find("has DSCP 3 twice"), twice.npos, twice);
        const std::string unknown = AbortMessageOf([]() {
            Kit<Ipv6Family>::Helper helper("ecmp");
            helper.Set("DscpPolicies", StringValue("46 = nonsense"));
            Leaves<Ipv6Family> leaves(helper, "static");
            leaves.Send(1, {0});
        });
        NS_TEST_EXPECT_MSG_NE(unknown.find("Ipv6LoadBalancedRouting: DscpPolicies:"),
                              unknown.npos,
                              unknown);
        const std::string global = AbortMessageOf([]() {
            Kit<Ipv6Family>::Helper helper("ecmp");
            helper.Set("Routes", StringValue("global"));
            Leaves<Ipv6Family> leaves(helper, "static");
            leaves.GetPolicy()->SetAttribute("Routes", StringValue("global"));
            leaves.Send(1, {0});
        });
        NS_TEST_EXPECT_MSG_NE(global.find("must be static, shortest-paths"), global.npos, global);
    }
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests the weights of wcmp.
 * @tparam F IPv4 or IPv6
 */
template <class F>
class WeightsTestCase : public TestCase
{
  public:
    WeightsTestCase()
        : TestCase(std::string(F::NAME) + ": wcmp takes its weights from the rates of links")
    {
    }

  private:
    void DoRun() override
    {
        const uint32_t flows = 400;
        for (const std::string policy : {"wcmp", "ecmp"})
        {
            typename Kit<F>::Helper helper(policy);
            Leaves<F> leaves(helper, "shortest-paths", "4Gbps");
            const uint64_t missing = leaves.Send(1, std::vector<uint8_t>(flows, 0));
            NS_TEST_EXPECT_MSG_EQ(missing, 0, "all arrive");
            uint32_t fast = 0;
            for (const auto& choice : leaves.m_choices)
            {
                fast += choice.interface == Leaves<F>::UPLINK + Leaves<F>::SPINES - 1 ? 1 : 0;
            }
            // Rates of 1, 1 and 4 Gbps. Four standard deviations are 38 flows.
            const uint32_t expected = policy == "wcmp" ? flows * 4 / 6 : flows / 3;
            NS_TEST_EXPECT_MSG_EQ_TOL(fast, expected, 38U, policy << ": flows on the fast link");
        }
    }
};

/// The suite.
class LoadBalancedFamiliesTestSuite : public TestSuite
{
  public:
    LoadBalancedFamiliesTestSuite()
        : TestSuite("evenkeel-load-balanced-families")
    {
        AddTestCase(new FamilyTestCase<Ipv4Family>);
        AddTestCase(new FamilyTestCase<Ipv6Family>);
        // Not static routes: ns-3 removes them with their interface and does not restore them.
        AddTestCase(new FailuresTestCase<Ipv4Family>({"global", "shortest-paths"}));
        AddTestCase(new FailuresTestCase<Ipv6Family>({"shortest-paths"}));
        AddTestCase(new DscpTestCase<Ipv4Family>);
        AddTestCase(new DscpTestCase<Ipv6Family>);
        AddTestCase(new DscpFormatTestCase);
        AddTestCase(new WeightsTestCase<Ipv4Family>);
        AddTestCase(new WeightsTestCase<Ipv6Family>);
    }
};

LoadBalancedFamiliesTestSuite g_loadBalancedFamiliesTestSuite; //!< registers itself

} // namespace
