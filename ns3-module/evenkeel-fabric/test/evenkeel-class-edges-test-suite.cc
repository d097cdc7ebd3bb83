// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../../evenkeel-lb/test/evenkeel-aborts.h"
#include "evenkeel-class-site.h"

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/quoted.h"
#include "ns3/rdma-nic.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <functional>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// A file that exists and is a valid scenario path.
constexpr const char* SCENARIO = "/dev/null";

/**
 * @param helper makes a fabric
 * @return a fabric of four hosts
 */
Ptr<Fabric>
Made(FabricHelper& helper)
{
    return helper.CreateLeafSpine(1, 1, 4);
}

/// Tests invalid traffic classes.
class RefusedClassTestCase : public TestCase
{
  public:
    RefusedClassTestCase()
        : TestCase("traffic classes that cannot be end the program with the reason")
    {
    }

  private:
    /// @return invalid traffic classes, and references to classes that do not exist
    static std::vector<Refused> WrongClasses()
    {
        const auto made = Made;
        const auto add = [](FabricHelper& it, uint32_t count) {
            for (uint32_t number = 0; number < count; ++number)
            {
                it.AddClass("class" + std::to_string(number));
            }
        };
        return {
            {"class[3].name = class1 is invalid",
             "names must be unique",
             [=](FabricHelper& it) {
                 add(it, 3);
                 it.AddClass("class1");
                 made(it);
             }},
            {"class = 8 in total is invalid",
             "a fabric has at most 7 traffic classes",
             [=](FabricHelper& it) {
                 add(it, 8);
                 made(it);
             }},
            {"FabricHelper::AddClass",
             "has no weight",
             [](FabricHelper& it) { it.AddClass("a", FabricHelper::STRICT, 2); }},
            {"class[0].weight = 65 is invalid",
             "it must be from 1 to 64",
             [=](FabricHelper& it) {
                 it.AddClass("a", FabricHelper::WEIGHTED, 65);
                 made(it);
             }},
            {"the settings of the fabric:",
             "must not have control characters",
             [=](FabricHelper& it) {
                 it.AddClass("a\"\nweight = 2");
                 made(it);
             }},
            {"the settings of the fabric:",
             "workload.class",
             [=](FabricHelper& it) {
                 it.AddClass("a");
                 CollectiveHelper collective("all-to-all");
                 collective.SetClass("a\"\nbytes = \"1KB");
                 collective.Install(it);
                 made(it);
             }},
            {"the settings of the fabric:",
             "ack_priority must be true",
             [=](FabricHelper& it) {
                 it.AddClass("a");
                 it.SetNicAttribute("AckPriority", StringValue("false"));
                 made(it);
             }},
            {"the NIC of host 2 has ack_priority = false",
             "set it to true",
             [=](FabricHelper& it) {
                 it.AddClass("a");
                 it.SetNicAttributeOf(2, "AckPriority", StringValue("false"));
                 made(it);
             }},
            {"FabricHelper::CreateFromScenario",
             "put them into the scenario",
             [](FabricHelper& it) {
                 it.AddClass("a");
                 it.CreateFromScenario(SCENARIO);
             }},
            {"Fabric::GetStreamIn",
             "there is no traffic class 'class2': the fabric has 'class0', 'class1'",
             [=](FabricHelper& it) {
                 add(it, 2);
                 made(it)->GetStreamIn("class2");
             }},
        };
    }

    void DoRun() override
    {
        for (const Refused& wrong : WrongClasses())
        {
            FabricHelper helper;
            const std::string said = AbortMessageOf([&] { wrong.call(helper); });
            NS_TEST_EXPECT_MSG_EQ(CountOf(wrong.what, said), 1, wrong.what << ": " << said);
            NS_TEST_EXPECT_MSG_NE(said.find(wrong.reason), std::string::npos, said);
            NS_TEST_EXPECT_MSG_EQ(said.find("what():"), std::string::npos, "printed once");
        }
        Simulator::Destroy();
    }
};

/// Tests names in scenarios that contain quotes and backslashes.
class QuotedTestCase : public TestCase
{
  public:
    QuotedTestCase()
        : TestCase("names have quotes and backslashes as other characters")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(Quoted("a\"\\\n\x7f"), "\"a\\\"\\\\\\u000a\\u007f\"", "escapes");
        ClassSite site;
        const std::string name = "say \"hi\" \\n";
        site.m_helper.AddClass("first");
        site.m_helper.AddClass(name);
        CollectiveHelper collective("incast");
        collective.SetBytes(PAYLOAD);
        collective.Set("fan_in", UintegerValue(1));
        collective.SetClass(name);
        collective.Install(site.m_helper);
        site.Make(1, 1, 2);
        site.Record(site.m_fabric->GetNic(0));
        site.Record(site.m_fabric->GetNic(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_sent, "1", "the class of the workload");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetClasses()[1].name, name, "the name");
    }
};

/// Tests the pause state that a port reports.
class PauseStateTestCase : public TestCase
{
  public:
    PauseStateTestCase()
        : TestCase("a port is paused from the first class to the last")
    {
    }

  private:
    /**
     * @brief Applies PFC orders to a port: for class 0, 1, 1, 0, and class 0 twice.
     * @param classes number of traffic classes
     * @return the reports of the trace source Pause: P for a pause, R for a resume
     */
    std::string ReportedWith(uint32_t classes)
    {
        ClassSite site;
        for (uint32_t number = 0; number < classes; ++number)
        {
            site.m_helper.AddClass("class" + std::to_string(number));
        }
        site.Make(1, 1, 2);
        const Ptr<RdmaNic> nic = site.m_fabric->GetNic(0);
        std::string reported;
        uint32_t frames = 0;
        nic->TraceConnectWithoutContext("Pause", Callback<void, bool>([&reported](bool paused) {
                                            reported += paused ? 'P' : 'R';
                                        }));
        nic->TraceConnectWithoutContext(
            "ClassPause",
            Callback<void, uint32_t, bool>([&frames](uint32_t, bool) { ++frames; }));
        const uint32_t second = classes > 1 ? 1 : 0;
        Simulator::Schedule(MicroSeconds(1), [&] {
            const uint64_t now = site.m_fabric->GetNowPs();
            nic->ApplyPfcOrder(now, FabricPfcOrder::PAUSE, 0);
            for (const uint32_t none : {7, 8, 32, 40})
            {
                NS_TEST_EXPECT_MSG_EQ(nic->IsClassPaused(none), false, "class " << none);
                NS_TEST_EXPECT_MSG_EQ(nic->GetWaitingBytesOf(none), 0, "class " << none);
            }
            NS_TEST_EXPECT_MSG_EQ((nic->IsClassPaused(0) && nic->IsPaused()), true, "class 0");
            nic->ApplyPfcOrder(now, FabricPfcOrder::PAUSE, second);
            nic->ApplyPfcOrder(now, FabricPfcOrder::RESUME, second);
            NS_TEST_EXPECT_MSG_EQ(nic->IsPaused(), (classes > 1), "class 0 still is");
            nic->ApplyPfcOrder(now, FabricPfcOrder::RESUME, 0);
            nic->ApplyPfcOrder(now, FabricPfcOrder::PAUSE, 0);
            nic->ApplyPfcOrder(now, FabricPfcOrder::RESUME, 0);
            NS_TEST_EXPECT_MSG_EQ(nic->IsPaused(), false, "no class is");
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(frames, 6, "each frame is reported with its class");
        return reported;
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(ReportedWith(0), "PPRRPR", "each frame");
        NS_TEST_EXPECT_MSG_EQ(ReportedWith(2), "PRPR", "each change");
    }
};

/// Tests IP packets in a traffic class that is paused at a NIC.
class PausedIpTestCase : public TestCase
{
  public:
    PausedIpTestCase()
        : TestCase("IP packets of a paused class wait for its resume")
    {
    }

  private:
    /**
     * @brief Pauses the first class of a NIC while IP and RDMA wait in two classes.
     * @param packets of each class of RDMA
     * @return the packets that started there
     */
    std::string SentWith(uint64_t packets)
    {
        ClassSite site;
        site.m_helper.AddClass("zero");
        site.m_helper.AddClass("one");
        site.Make(1, 1, 2);
        site.Receive(0);
        const Ptr<RdmaNic> nic = site.m_fabric->GetNic(1);
        site.Record(nic);
        site.SendUdpWith(0, 4);
        site.SendUdpWith(8, 4);
        for (const char* name : {"zero", "one"})
        {
            if (packets > 0)
            {
                site.Post(name, 1, 0, packets, MicroSeconds(1));
            }
        }
        const auto order = [&site, nic](FabricPfcOrder what) {
            nic->ApplyPfcOrder(site.m_fabric->GetNowPs(), what, 0);
        };
        Simulator::Schedule(NanoSeconds(500), [=] { order(FabricPfcOrder::PAUSE); });
        Simulator::Schedule(MicroSeconds(20), [=, &site] {
            site.m_sent += '|';
            order(FabricPfcOrder::RESUME);
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[0].packets, 8, "datagrams");
        NS_TEST_EXPECT_MSG_EQ(site.IsConserved(), true, "conserved");
        return site.m_sent;
    }

    /// Runs an incast whose frames pause the class of datagrams.
    void RunIncast()
    {
        ClassSite site;
        site.m_helper.SetSwitchAttribute("Pfc", BooleanValue(true));
        site.m_helper.SetSwitchAttribute("BufferBytes", UintegerValue(400000));
        site.m_helper.AddClass("zero");
        site.m_helper.AddClass("one");
        site.Make(1, 1, 4);
        site.Receive(0);
        for (uint32_t src = 1; src < 4; ++src)
        {
            site.Post("zero", src, 0, 100);
        }
        site.Post("one", 1, 0, 50);
        site.SendUdpWith(0, 12);
        site.SendUdpWith(8, 12);
        bool wasPaused = false;
        site.m_fabric->GetNic(1)->TraceConnectWithoutContext(
            "ClassPause",
            Callback<void, uint32_t, bool>([&](uint32_t trafficClass, bool paused) {
                wasPaused |=
                    paused && site.m_fabric->GetNic(1)->GetWaitingBytesOf(trafficClass) > 0;
            }));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(wasPaused, true, "a class in which IP waits is paused");
        NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[0].packets, 24, "datagrams");
        NS_TEST_EXPECT_MSG_EQ(site.IsConserved(), true, "conserved");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetVerdict(), Fabric::COMPLETED, "verdict");
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(SentWith(0), "bbbb|aaaa", "IP alone");
        const std::string both = SentWith(4);
        NS_TEST_EXPECT_MSG_EQ(both.size(), 17, both);
        NS_TEST_EXPECT_MSG_EQ(both.find('|'), 8, both);
        NS_TEST_EXPECT_MSG_EQ(CountIn(both, 0, 8, 'b'), 4, both);
        NS_TEST_EXPECT_MSG_EQ(CountIn(both, 0, 8, '1'), 4, both);
        NS_TEST_EXPECT_MSG_EQ(CountIn(both, 9, 8, 'a'), 4, both);
        NS_TEST_EXPECT_MSG_EQ(CountIn(both, 9, 8, '0'), 4, both);
        RunIncast();
    }
};

/// The suite.
class EvenkeelClassEdgesTestSuite : public TestSuite
{
  public:
    EvenkeelClassEdgesTestSuite()
        : TestSuite("evenkeel-class-edges")
    {
        AddTestCase(new RefusedClassTestCase);
        AddTestCase(new QuotedTestCase);
        AddTestCase(new PauseStateTestCase);
        AddTestCase(new PausedIpTestCase);
    }
};

EvenkeelClassEdgesTestSuite g_evenkeelClassEdgesTestSuite; //!< registers itself

} // namespace
