// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../../evenkeel-lb/test/evenkeel-aborts.h"
#include "evenkeel-failure-site.h"

#include "ns3/boolean.h"
#include "ns3/fabric-channel.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric.h"
#include "ns3/failure-helper.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/**
 * @ingroup evenkeel-tests
 * @brief Tests that failures added during a run equal the same failures declared before it.
 */
class SameTestCase : public TestCase
{
  public:
    SameTestCase()
        : TestCase("a failure by a call during a run equals the same one declared before")
    {
    }

  private:
    /**
     * @brief Compares the runs of a variant.
     * @param variant the variant of the case
     * @param faults failures
     * @param what name of the failures
     * @return the results
     */
    Outcome Compare(const Variant& variant, const std::vector<Fault>& faults, const char* what)
    {
        const Outcome declared = FailureSite(variant).Run(faults, DECLARED);
        const Outcome none = FailureSite(variant).Run({}, DECLARED);
        NS_TEST_EXPECT_MSG_EQ((declared.numbers != none.numbers), true, what << " has an effect");
        for (const When when : {FINISHED, BEGINNING, SOONER, RESTORED})
        {
            const Outcome late = FailureSite(variant).Run(faults, when);
            NS_TEST_EXPECT_MSG_EQ((late.numbers == declared.numbers),
                                  true,
                                  what << " under " << variant.policy << ", called at " << when);
            NS_TEST_EXPECT_MSG_EQ(late.finishPs, declared.finishPs, what);
        }
        return declared;
    }

    void DoRun() override
    {
        const std::vector<Fault> down{{"down", 6, 5000, 21000}};
        for (const char* policy : {"ecmp", "spray", "drill", "reps", "wcmp", "ofan"})
        {
            const Outcome result = Compare({policy}, down, "a link that is down and up");
            NS_TEST_EXPECT_MSG_GT(result.dropped, 0, "packets are lost");
            Compare({policy}, {{"down", 9, 3000, -1}}, "a link that stays down");
            Compare({policy}, {{"degrade", 7, 4000, 33000, 1, 3}}, "a slow link");
            Compare({policy}, {{"loss", 8, 2000, 30000, 1, 50}}, "a lossy link");
        }
        Compare({"spray"}, {{"down", 4, 5000, 21000}}, "the port of a host");
        Compare({"spray"}, {{"degrade", 1, 5000, 21000, 1, 7}}, "a slow port of a host");
        Compare({"spray"}, {{"switch", 3, 5000, 21000}}, "a spine");
        Compare({"spray", 1, true}, {{"degrade", 7, 4000, 33000, 1, 9}}, "a slow link with PFC");
        Compare({"ecmp", 1, false, true}, down, "a link of traced ports");
        for (const char* policy : {"plane-jsq", "spray"})
        {
            Compare({policy, 2}, {{"down", 12, 5000, 21000}}, "a port of two");
            Compare({policy, 2}, {{"loss", 12, 5000, 21000, 1, 20}}, "a lossy port of two");
        }
        CompareSeveral();
    }

    /// Tests overlapping failures of one link, which one call ends.
    void CompareSeveral()
    {
        const std::vector<Fault> overlapping{{"down", 6, 5000, 9000},
                                             {"down", 6, 7000, 21000},
                                             {"degrade", 6, 6000, 30000, 1, 2},
                                             {"loss", 6, 20000, 40000, 1, 30},
                                             {"loss", 6, 23000, 45000, 1, 9}};
        const Outcome declared = FailureSite({"spray"}).Run(overlapping, DECLARED);
        for (const When when : {FINISHED, BEGINNING, SOONER})
        {
            const Outcome late = FailureSite({"spray"}).Run(overlapping, when);
            NS_TEST_EXPECT_MSG_EQ((late.numbers == declared.numbers), true, "called at " << when);
        }
        const std::vector<Fault> together{{"degrade", 6, 6000, 30000, 1, 2},
                                          {"loss", 6, 9000, 30000, 1, 30},
                                          {"down", 6, 25000, 30000}};
        const Outcome alike = FailureSite({"spray"}).Run(together, DECLARED);
        FailureSite site({"spray"});
        for (const Fault& fault : together)
        {
            Fault open = fault;
            open.until = -1;
            site.Schedule(open, DECLARED);
        }
        Simulator::Schedule(NanoSeconds(30000), [&] { site.End(together[0]); });
        const Outcome ended = site.Run({}, FINISHED);
        NS_TEST_EXPECT_MSG_EQ((ended.numbers == alike.numbers), true, "one call ends all");
    }
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests failures added by a trace sink of the fabric, and a link that flaps.
 */
class SinkTestCase : public TestCase
{
  public:
    SinkTestCase()
        : TestCase("a trace sink of the fabric can let links fail, and a script links flap")
    {
    }

  private:
    void DoRun() override
    {
        FailureSite site({"spray"});
        uint64_t began = 0;
        site.m_fabric = site.m_helper.Finish();
        Ptr<RdmaNic> first = site.m_fabric->GetNic(0);
        const uint32_t message = first->PostMessage(site.m_fabric->GetNic(3), 20000);
        first->NotifyCompletion(
            message,
            Callback<void, const FabricMessageEvent&>([&](const FabricMessageEvent& event) {
                began = event.atPs;
                for (uint32_t link = 6; link < 10; ++link)
                {
                    site.m_failures.Down(site.m_helper.GetChannels()[link], Simulator::Now());
                }
            }));
        Ptr<RdmaNic> second = site.m_fabric->GetNic(1);
        second->PostMessage(site.m_fabric->GetNic(4), 2000000);
        second->PostMessage(site.m_fabric->GetNic(2), 20000);
        Simulator::Stop(MicroSeconds(400));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(began, 0, "the sink was called");
        const std::vector<FabricFlow> flows = site.m_fabric->GetCore().GetFlows();
        NS_TEST_EXPECT_MSG_EQ(flows[1].completedPs, FABRIC_NEVER, "no way is left between leaves");
        NS_TEST_EXPECT_MSG_NE(flows[2].completedPs, FABRIC_NEVER, "a leaf is whole");
        for (uint32_t link = 6; link < 10; ++link)
        {
            site.m_failures.Restore(site.m_helper.GetChannels()[link], Simulator::Now());
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetVerdict(), Fabric::COMPLETED, "all is well again");
        const uint64_t end = site.m_fabric->GetFinishPs();
        NS_TEST_EXPECT_MSG_GT(end, 400000000, "after the links came back");
    }
};

/// A call that must abort.
struct Refused
{
    std::string what;                       //!< name of the call
    std::string reason;                     //!< part of the message
    std::function<void(FailureSite&)> call; //!< the call
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests calls that cannot take effect.
 */
class RefusedTestCase : public TestCase
{
  public:
    RefusedTestCase()
        : TestCase("a failure that cannot be ends the program with call, reason and cure")
    {
    }

  private:
    /// @return calls at 10 us of a run
    static std::vector<Refused> DuringRun()
    {
        const auto now = [] { return Simulator::Now(); };
        const auto link = [](FailureSite& it) { return it.m_helper.GetChannels()[6]; };
        return {
            {"FailureHelper::Down",
             "+9us is in the past (now +10us)",
             [=](FailureSite& it) { it.m_failures.Down(link(it), MicroSeconds(9)); }},
            {"FailureHelper::SwitchDown",
             "is in the past",
             [=](FailureSite& it) { it.m_failures.SwitchDown("switch2", NanoSeconds(9999)); }},
            {"FailureHelper::Down",
             "must be later than",
             [=](FailureSite& it) { it.m_failures.Down(link(it), now(), MicroSeconds(10)); }},
            {"FailureHelper::Down",
             "unknown link 'switch0-switch9'",
             [=](FailureSite& it) { it.m_failures.Down("switch0-switch9", now()); }},
            {"FailureHelper::SwitchDown",
             "unknown switch 'spine0'",
             [=](FailureSite& it) { it.m_failures.SwitchDown("spine0", now()); }},
            {"FailureHelper::Down",
             "FabricHelper::GetChannels",
             [=](FailureSite& it) { it.m_failures.Down(CreateObject<FabricChannel>(), now()); }},
            {"FailureHelper::Degrade",
             "some of the rate must remain",
             [=](FailureSite& it) { it.m_failures.Degrade(link(it), 0, 2, now()); }},
            {"FailureHelper::Lose",
             "is in the past",
             [=](FailureSite& it) { it.m_failures.Lose(link(it), 1, 2, Time(0)); }},
            {"FailureHelper::Restore",
             "no failure of link 'switch0-switch2' is in progress at 10us",
             [=](FailureSite& it) { it.m_failures.Restore(link(it), now()); }},
            {"FailureHelper::Restore",
             "unknown link 'nonsense'",
             [=](FailureSite& it) { it.m_failures.Restore("nonsense", now()); }},
            {"FailureHelper::RestoreSwitch",
             "is in the past",
             [=](FailureSite& it) { it.m_failures.RestoreSwitch("switch2", MicroSeconds(9)); }},
        };
    }

    /**
     * @param wrong a call
     * @param run makes the call
     */
    void Expect(const Refused& wrong, const std::function<void()>& run)
    {
        const std::string said = AbortMessageOf(run);
        NS_TEST_EXPECT_MSG_NE(said.find("evenkeel: " + wrong.what + ": "),
                              std::string::npos,
                              wrong.what << ": " << said);
        NS_TEST_EXPECT_MSG_NE(said.find(wrong.reason), std::string::npos, said);
        NS_TEST_EXPECT_MSG_EQ(said.find("what():"), std::string::npos, "printed once");
    }

    void DoRun() override
    {
        for (const Refused& wrong : DuringRun())
        {
            Expect(wrong, [&] {
                FailureSite site({"ecmp"});
                Simulator::Schedule(MicroSeconds(10), [&] { wrong.call(site); });
                site.Run({}, DECLARED);
            });
        }
        const Refused before{
            "FailureHelper::Restore",
            "the fabric has not been made",
            [](FailureSite& it) { it.m_failures.Restore("switch0-switch2", MicroSeconds(1)); }};
        Expect(before, [&] {
            FailureSite site({"ecmp"});
            before.call(site);
        });
        const Refused after{
            "FailureHelper::Down",
            "the run of the fabric has ended",
            [](FailureSite& it) { it.m_failures.Down("switch0-switch2", Simulator::Now()); }};
        Expect(after, [&] {
            FailureSite site({"ecmp"});
            site.m_helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
            site.Run({}, DECLARED);
            after.call(site);
        });
    }
};

/// The suite.
class EvenkeelFailuresTestSuite : public TestSuite
{
  public:
    EvenkeelFailuresTestSuite()
        : TestSuite("evenkeel-failures")
    {
        AddTestCase(new SameTestCase);
        AddTestCase(new SinkTestCase);
        AddTestCase(new RefusedTestCase);
    }
};

EvenkeelFailuresTestSuite g_evenkeelFailuresTestSuite; //!< registers itself

} // namespace
