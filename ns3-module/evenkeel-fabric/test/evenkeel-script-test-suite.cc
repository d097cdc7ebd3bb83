// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-small-fabric.h"

#include "ns3/config.h"
#include "ns3/failure-helper.h"
#include "ns3/object-factory.h"
#include "ns3/test.h"

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// Tests that scripts can create every class by its TypeId.
class ByNameTestCase : public TestCase
{
  public:
    ByNameTestCase()
        : TestCase("every class can be created by its TypeId")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string name : {"Fabric",
                                       "FabricChannel",
                                       "FabricPort",
                                       "FabricSwitch",
                                       "FabricSwitchPort",
                                       "RdmaNic",
                                       "RdmaQp"})
        {
            ObjectFactory factory("ns3::" + name);
            NS_TEST_EXPECT_MSG_NE(factory.Create<Object>(), nullptr, name);
            NS_TEST_EXPECT_MSG_EQ(TypeId::LookupByName("ns3::" + name).GetGroupName(),
                                  "Evenkeel",
                                  name);
        }
    }
};

/// Tests a script that posts the next message when one completes.
class ScriptTestCase : public TestCase
{
  public:
    ScriptTestCase()
        : TestCase("completion callbacks can post messages")
    {
    }

  private:
    /**
     * @brief Counts a delivered message.
     * @param event the message and the time
     */
    void Delivered(const FabricMessageEvent& event)
    {
        ++m_delivered;
    }

    /**
     * @brief Records the time of a completion and posts the next message.
     * @param event the message and the time
     */
    void Next(const FabricMessageEvent& event)
    {
        m_completed.push_back(event.atPs);
        if (m_completed.size() < 3)
        {
            Send();
        }
    }

    /// Posts a message whose completion calls Next.
    void Send()
    {
        const uint32_t message = m_from->PostMessage(m_to, 4096);
        m_from->NotifyCompletion(message, MakeCallback(&ScriptTestCase::Next, this));
    }

    void DoRun() override
    {
        Plan plan;
        SmallFabric small(plan);
        m_from = small.fabric->GetNic(0);
        m_to = small.fabric->GetNic(1);
        Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::RdmaNic/MessageDelivered",
                                      MakeCallback(&ScriptTestCase::Delivered, this));
        Simulator::Schedule(MicroSeconds(5), &ScriptTestCase::Send, this);
        small.Run();
        // Two hops of data and of the acknowledgement, and four propagation delays.
        const uint64_t each = 2 * DATA * 20 + 2 * ACK * 20 + 4 * 500000;
        const uint64_t start = 5000000;
        const std::vector<uint64_t> expected{start + each, start + 2 * each, start + 3 * each};
        NS_TEST_EXPECT_MSG_EQ(m_delivered, 3, "delivered messages");
        NS_TEST_EXPECT_MSG_EQ((m_completed == expected), true, "completion times");
        m_from = nullptr;
        m_to = nullptr;
    }

    Ptr<RdmaNic> m_from;               //!< sender
    Ptr<RdmaNic> m_to;                 //!< receiver
    uint32_t m_delivered{0};           //!< messages delivered to the receiver
    std::vector<uint64_t> m_completed; //!< completion times
};

/// Tests the graph and the settings that a helper passes to evenkeel.
class DescriptionTestCase : public TestCase
{
  public:
    DescriptionTestCase()
        : TestCase("the description of a fabric matches its links, nodes and settings")
    {
    }

  private:
    void DoRun() override
    {
        NodeContainer hosts(4);
        NodeContainer switches(3);
        FabricHelper helper;
        helper.InstallSwitches(switches);
        helper.Install(NodeContainer(hosts.Get(2), hosts.Get(3)), switches.Get(0));
        helper.Install(NodeContainer(hosts.Get(0), hosts.Get(1)), switches.Get(1));
        helper.SetChannelAttribute("DataRate", StringValue("100Gbps"));
        helper.Install(switches.Get(0), switches.Get(2));
        helper.Install(switches.Get(2), switches.Get(1));
        helper.Install(switches.Get(2), switches.Get(1));
        FailureHelper(helper).Down(helper.GetChannels()[6], MicroSeconds(3));
        Ptr<Fabric> fabric = helper.Finish();
        const FabricGraph& graph = fabric->GetCore().GetGraph();
        NS_TEST_EXPECT_MSG_EQ(graph.hosts.size(), 4, "hosts");
        NS_TEST_EXPECT_MSG_EQ(graph.links.size(), 7, "links");
        NS_TEST_EXPECT_MSG_EQ(graph.NameOf(6), "switch1-switch2#1", "the lower end first");
        NS_TEST_EXPECT_MSG_EQ(graph.links[4].rateBps,
                              100000000000ULL,
                              "the rate that was set before");
        NS_TEST_EXPECT_MSG_EQ(graph.links[3].a.number, 3, "the host that was connected last");
        NS_TEST_EXPECT_MSG_EQ(fabric->NameOf("the test", helper.GetChannels()[6]),
                              "switch1-switch2#1",
                              "the name of a parallel link");
        Simulator::Destroy();
    }
};

/// The suite.
class EvenkeelScriptTestSuite : public TestSuite
{
  public:
    EvenkeelScriptTestSuite()
        : TestSuite("evenkeel-script")
    {
        AddTestCase(new ByNameTestCase);
        AddTestCase(new ScriptTestCase);
        AddTestCase(new DescriptionTestCase);
    }
};

EvenkeelScriptTestSuite g_evenkeelScriptTestSuite; //!< registers itself

} // namespace
