// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-aborts.h"

#include "ns3/collective-helper.h"
#include "ns3/data-rate.h"
#include "ns3/fabric-channel.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric.h"
#include "ns3/failure-helper.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <functional>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// A call that must end the program.
struct Refused
{
    std::string what;                        //!< names the call, and is in the message
    std::string reason;                      //!< is in the message, too
    std::function<void(FabricHelper&)> call; //!< the call
};

/// Counts occurrences of a part in a text.
std::size_t
CountOf(const std::string& part, const std::string& text)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    {
        ++count;
    }
    return count;
}

/**
 * @ingroup evenkeel-tests
 * @brief Tests that calls which come too late are refused, by the name of the call.
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
        const auto channel = [](FabricHelper& it) { return it.GetChannels()[0]; };
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
            {"FabricHelper::SetGap", "", [](FabricHelper& it) { it.SetGap(0); }},
            {"FabricHelper::SetForwardingDelay",
             "",
             [](FabricHelper& it) { it.SetForwardingDelay(Time(1)); }},
            {"FabricHelper::AddSettings", "", [](FabricHelper& it) { it.AddSettings("x"); }},
            {"FabricHelper::AddFailure",
             "",
             [=](FabricHelper& it) { it.AddFailure(channel(it), "at = \"1us\""); }},
            {"FabricHelper::SetFirstHosts",
             "",
             [](FabricHelper& it) { it.SetFirstHosts(NodeContainer()); }},
            {"FabricHelper::SetNicsPerNode", "", [](FabricHelper& it) { it.SetNicsPerNode(1); }},
            {"FabricHelper::AssignStreams", "", [](FabricHelper& it) { it.AssignStreams(1); }},
            {"FabricHelper::Install",
             "",
             [](FabricHelper& it) { it.Install(CreateObject<Node>(), CreateObject<Node>()); }},
            {"FabricHelper::Finish", "another FabricHelper", [](FabricHelper& it) { it.Finish(); }},
            {"FabricHelper::CreateFatTree", "", [](FabricHelper& it) { it.CreateFatTree(2); }},
            {"FabricHelper::CreateLeafSpine",
             "",
             [](FabricHelper& it) { it.CreateLeafSpine(1, 1, 2); }},
            {"FailureHelper::Down",
             "",
             [=](FabricHelper& it) { FailureHelper(it).Down(channel(it), Time(1)); }},
            {"FailureHelper::Lose",
             "",
             [=](FabricHelper& it) { FailureHelper(it).Lose(channel(it), 1, 2, Time(1)); }},
            {"CollectiveHelper::Install",
             "",
             [](FabricHelper& it) { CollectiveHelper("all-to-all").Install(it); }},
        };
    }

    void DoRun() override
    {
        FabricHelper helper(FabricHelper::UNCHANGED);
        helper.CreateLeafSpine(2, 2, 2);
        for (const Refused& late : Late())
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
    /// @return calls that are wrong at any time
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
             "'bytes' is \"7B\" already",
             [](FabricHelper&) {
                 CollectiveHelper collective("all-to-all");
                 collective.SetBytes(7);
                 collective.SetBytes(8);
             }},
            {"CollectiveHelper::Install",
             "has a workload already",
             [](FabricHelper& it) {
                 CollectiveHelper("all-to-all").Install(it);
                 CollectiveHelper("all-to-all").Install(it);
             }},
            {"FabricHelper::CreateFromScenario",
             "put them into the scenario",
             [](FabricHelper& it) {
                 it.AddSettings("[[failure]]");
                 it.CreateFromScenario(SCENARIO);
             }},
            {"an attribute of RdmaNic (host 1) was changed",
             "before FabricHelper::Finish",
             [=](FabricHelper& it) {
                 made(it)->GetNic(1)->SetAttribute("Payload", UintegerValue(1000));
                 Simulator::Run();
             }},
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
            {"the settings of the fabric (FabricHelper::DescribeSettings):",
             "unknown policy 'nonsense'",
             [=](FabricHelper& it) {
                 it.SetPolicy("nonsense");
                 made(it);
             }},
        };
    }

    void DoRun() override
    {
        for (const Refused& wrong : Wrong())
        {
            FabricHelper helper(FabricHelper::UNCHANGED);
            const std::string said = AbortMessageOf([&] { wrong.call(helper); });
            NS_TEST_EXPECT_MSG_EQ(CountOf(wrong.what, said), 1, wrong.what << ": " << said);
            NS_TEST_EXPECT_MSG_NE(said.find(wrong.reason), std::string::npos, said);
            NS_TEST_EXPECT_MSG_EQ(said.find("what():"), std::string::npos, "printed once");
        }
        const std::string said = AbortMessageOf(
            [] { FabricHelper(FabricHelper::UNCHANGED).CreateFromScenario("/nowhere/some.toml"); });
        NS_TEST_EXPECT_MSG_NE(said.find("/nowhere/some.toml"), std::string::npos, said);
    }

    /// A scenario that exists.
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
