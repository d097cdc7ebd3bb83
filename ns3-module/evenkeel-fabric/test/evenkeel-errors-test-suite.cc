// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../../evenkeel-lb/test/evenkeel-aborts.h"

#include "ns3/collective-helper.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/fabric-channel.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch-port.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric.h"
#include "ns3/failure-helper.h"
#include "ns3/pointer.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <functional>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/**
 * @ingroup evenkeel-tests
 * @brief Tests that calls that come too late abort with the name of the call.
 */
class TooLateTestCase : public TestCase
{
  public:
    TooLateTestCase()
        : TestCase("a call after the fabric was made ends the program with the reason")
    {
    }

  private:
    /// @return calls that have no effect once a fabric is made
    static std::vector<Refused> Late()
    {
        const StringValue value("1");
        return {
            {"FabricHelper::SetNicAttribute",
             "",
             [=](FabricHelper& it) { it.SetNicAttribute("Payload", value); }},
            {"FabricHelper::SetSwitchAttribute",
             "",
             [=](FabricHelper& it) { it.SetSwitchAttribute("BufferBytes", value); }},
            {"FabricHelper::SetChannelAttribute",
             "",
             [=](FabricHelper& it) { it.SetChannelAttribute("DataRate", value); }},
            {"FabricHelper::SetFabricAttribute",
             "",
             [=](FabricHelper& it) { it.SetFabricAttribute("StopWhenDone", value); }},
            {"FabricHelper::SetPolicy", "", [](FabricHelper& it) { it.SetPolicy("nonsense"); }},
            {"FabricHelper::AddClass", "", [](FabricHelper& it) { it.AddClass("bulk"); }},
            {"FabricHelper::SetNicsPerNode", "", [](FabricHelper& it) { it.SetNicsPerNode(1); }},
            {"FabricHelper::SetPortsPerNic", "", [](FabricHelper& it) { it.SetPortsPerNic(2); }},
            {"FabricHelper::AssignStreams", "", [](FabricHelper& it) { it.AssignStreams(1); }},
            {"CollectiveHelper::Install",
             "",
             [](FabricHelper& it) { CollectiveHelper("all-to-all").Install(it); }},
        };
    }

    /// @return calls that would make the fabric a second time
    static std::vector<Refused> LateMakers()
    {
        return {
            {"FabricHelper::Install",
             "",
             [](FabricHelper& it) { it.Install(CreateObject<Node>(), CreateObject<Node>()); }},
            {"FabricHelper::Finish", "another FabricHelper", [](FabricHelper& it) { it.Finish(); }},
            {"FabricHelper::CreateLeafSpine",
             "",
             [](FabricHelper& it) { it.CreateLeafSpine(1, 1, 2); }},
            {"FabricHelper::CreateTopology",
             "",
             [](FabricHelper& it) { it.CreateTopology("fat-tree", "k", UintegerValue(2)); }},
            {"FabricHelper::CreateFromScenario",
             "",
             [](FabricHelper& it) { it.CreateFromScenario("/nowhere/some.toml"); }},
        };
    }

    void DoRun() override
    {
        FabricHelper helper;
        helper.CreateLeafSpine(2, 2, 2);
        std::vector<Refused> all = Late();
        const std::vector<Refused> makers = LateMakers();
        all.insert(all.end(), makers.begin(), makers.end());
        for (const Refused& late : all)
        {
            const std::string said = AbortMessageOf([&] { late.call(helper); });
            NS_TEST_EXPECT_MSG_EQ(CountOf("evenkeel: " + late.what +
                                              ": the fabric has been made "
                                              "by FabricHelper::CreateLeafSpine",
                                          said),
                                  1,
                                  late.what << ": " << said);
            NS_TEST_EXPECT_MSG_NE(said.find(late.reason), std::string::npos, said);
        }
        Simulator::Destroy();
    }
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests calls with values that cannot take effect.
 */
class RefusedTestCase : public TestCase
{
  public:
    RefusedTestCase()
        : TestCase("a call that cannot take effect ends the program with the reason")
    {
    }

  private:
    /// @return calls that are invalid at any time
    static std::vector<Refused> Wrong()
    {
        const auto made = [](FabricHelper& it) { return it.CreateLeafSpine(2, 2, 2); };
        return {
            {"RdmaNic::PostMessage",
             "must not be negative",
             [=](FabricHelper& it) {
                 Ptr<Fabric> fabric = made(it);
                 fabric->GetNic(0)->PostMessage(fabric->GetNic(1), 1, NanoSeconds(-5));
             }},
            {"RdmaNic::NotifyCompletion",
             "is null",
             [=](FabricHelper& it) {
                 made(it)->GetNic(0)->NotifyCompletion(0, RdmaNic::MessageCallback());
             }},
            {"RdmaNic::NotifyDelivery",
             "is null",
             [=](FabricHelper& it) {
                 made(it)->GetNic(0)->NotifyDelivery(0, RdmaNic::MessageCallback());
             }},
            {"CollectiveHelper::SetBytes",
             "'bytes' is already set to \"7B\"",
             [](FabricHelper&) {
                 CollectiveHelper collective("all-to-all");
                 collective.SetBytes(7);
                 collective.SetBytes(8);
             }},
            {"CollectiveHelper::Install",
             "has 0 NICs in this fabric",
             [=](FabricHelper& it) {
                 CollectiveHelper("all-to-all").Install(it, NodeContainer(2));
                 made(it);
             }},
            {"CollectiveHelper::Set: algorithms",
             "a scenario has no value of this type",
             [](FabricHelper&) {
                 CollectiveHelper("all-to-all").Set("algorithms", PointerValue());
             }},
            {"FabricHelper::CreateFromScenario",
             "put them into the scenario",
             [](FabricHelper& it) {
                 FailureHelper(it).SwitchDown("leaf0", Time(0));
                 it.CreateFromScenario(SCENARIO);
             }},
            {"the settings of the fabric:",
             "unknown policy 'nonsense'",
             [=](FabricHelper& it) {
                 it.SetPolicy("nonsense");
                 made(it);
             }},
        };
    }

    /// @return invalid messages and connections
    static std::vector<Refused> WrongMessages()
    {
        const auto made = [](FabricHelper& it) { return it.CreateLeafSpine(2, 2, 2); };
        return {
            {"RdmaNic::PostMessage",
             "in one finished fabric",
             [=](FabricHelper& it) { made(it)->GetNic(0)->PostMessage(nullptr, 1); }},
            {"RdmaNic::PostMessage",
             "expected two different hosts",
             [=](FabricHelper& it) {
                 Ptr<Fabric> fabric = made(it);
                 fabric->GetNic(0)->PostMessage(fabric->GetNic(0), 1);
             }},
            {"RdmaNic::PostMessage",
             "at least one byte",
             [=](FabricHelper& it) {
                 Ptr<Fabric> fabric = made(it);
                 fabric->GetNic(0)->PostMessage(fabric->GetNic(1), 0);
             }},
            {"Fabric::GetNic",
             "the fabric has 4 hosts",
             [=](FabricHelper& it) { made(it)->GetNic(9); }},
            {"FabricSwitch::GetPort",
             "the switch has 4 ports",
             [=](FabricHelper& it) {
                 made(it);
                 it.GetSwitches().Get(0)->GetObject<FabricSwitch>()->GetPort(9);
             }},
        };
    }

    /// @return attributes that are set after the fabric was made
    static std::vector<Refused> Attributes()
    {
        const auto made = [](FabricHelper& it) { return it.CreateLeafSpine(2, 2, 2); };
        return {
            {"an attribute of RdmaNic (host 1) was changed",
             "before FabricHelper::Finish",
             [=](FabricHelper& it) {
                 made(it)->GetNic(1)->SetAttribute("Payload", UintegerValue(1000));
                 Simulator::Run();
             }},
            {"an attribute of Fabric was changed",
             "before FabricHelper::Finish",
             [=](FabricHelper& it) { made(it)->SetAttribute("Gap", UintegerValue(0)); }},
            {"an attribute of FabricSwitch (switch 0) was changed",
             "before FabricHelper::Finish",
             [=](FabricHelper& it) {
                 made(it);
                 it.GetSwitches().Get(0)->GetObject<FabricSwitch>()->SetAttribute(
                     "Policy",
                     StringValue("spray"));
                 Simulator::Run();
             }},
            {"an attribute of FabricChannel (link 2) was changed",
             "before FabricHelper::Finish",
             [=](FabricHelper& it) {
                 made(it);
                 it.GetChannels()[2]->SetAttribute("DataRate", StringValue("1Gbps"));
                 Simulator::Run();
             }},
            {"an attribute of RdmaNic (host 0) was changed",
             "before FabricHelper::Finish",
             [=](FabricHelper& it) {
                 made(it);
                 DuringRun("/NodeList/*/DeviceList/*/$ns3::RdmaNic/Retries", "3");
             }},
            {"an attribute of FabricSwitch (switch 0) was changed",
             "before FabricHelper::Finish",
             [=](FabricHelper& it) {
                 made(it);
                 DuringRun("/NodeList/*/$ns3::FabricSwitch/EcnKmin", "1000");
             }},
            {"an attribute of FabricChannel (link 0) was changed",
             "before FabricHelper::Finish",
             [=](FabricHelper& it) {
                 made(it);
                 DuringRun("/ChannelList/*/$ns3::FabricChannel/Delay", "1us");
             }},
        };
    }

    /**
     * @brief Sets attributes at a time of a run.
     * @param path of the attributes
     * @param value their value
     */
    static void DuringRun(const std::string& path, const std::string& value)
    {
        Simulator::Schedule(MicroSeconds(3), [=] { Config::Set(path, StringValue(value)); });
        Simulator::Schedule(MicroSeconds(4), [] { std::cerr << "the run went on"; });
        Simulator::Run();
    }

    void DoRun() override
    {
        std::vector<Refused> all = Wrong();
        for (const auto& more : {WrongMessages(), Attributes()})
        {
            all.insert(all.end(), more.begin(), more.end());
        }
        for (const Refused& wrong : all)
        {
            FabricHelper helper;
            const std::string said = AbortMessageOf([&] { wrong.call(helper); });
            NS_TEST_EXPECT_MSG_EQ(CountOf(wrong.what, said), 1, wrong.what << ": " << said);
            NS_TEST_EXPECT_MSG_NE(said.find(wrong.reason), std::string::npos, said);
            NS_TEST_EXPECT_MSG_EQ(said.find("what():"), std::string::npos, "printed once");
            NS_TEST_EXPECT_MSG_EQ(said.find("the run went on"), std::string::npos, said);
        }
        TestSame();
        const std::string said =
            AbortMessageOf([] { FabricHelper().CreateFromScenario("/nowhere/some.toml"); });
        NS_TEST_EXPECT_MSG_NE(said.find("/nowhere/some.toml"), std::string::npos, said);
    }

    /// Sets an attribute to its current value, which is no change.
    void TestSame()
    {
        FabricHelper helper;
        Ptr<Fabric> fabric = helper.CreateLeafSpine(2, 2, 2);
        fabric->GetNic(0)->PostMessage(fabric->GetNic(3), 1);
        const std::string said = AbortMessageOf(
            [] { DuringRun("/NodeList/*/DeviceList/*/$ns3::RdmaNic/Payload", "4096"); });
        NS_TEST_EXPECT_MSG_EQ(said, "it returned: the run went on", "the same value");
        Simulator::Destroy();
    }

    /// A file that exists and is a valid scenario path.
    static constexpr const char* SCENARIO = "/dev/null";
};

/// The suite.
class EvenkeelErrorsTestSuite : public TestSuite
{
  public:
    EvenkeelErrorsTestSuite()
        : TestSuite("evenkeel-errors")
    {
        AddTestCase(new TooLateTestCase);
        AddTestCase(new RefusedTestCase);
    }
};

EvenkeelErrorsTestSuite g_evenkeelErrorsTestSuite; //!< registers itself

} // namespace
