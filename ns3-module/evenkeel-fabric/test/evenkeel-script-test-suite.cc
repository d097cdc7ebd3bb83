// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-small-fabric.h"

#include "ns3/config.h"
#include "ns3/failure-helper.h"
#include "ns3/object-factory.h"
#include "ns3/rdma-connection.h"
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
                                       "FabricSwitch",
                                       "FabricSwitchPort",
                                       "RdmaConnection",
                                       "RdmaNic",
                                       "RdmaNicPort",
                                       "RdmaQp"})
        {
            ObjectFactory factory("ns3::" + name);
            NS_TEST_EXPECT_MSG_NE(factory.Create<Object>(), nullptr, name);
            NS_TEST_EXPECT_MSG_EQ(TypeId::LookupByName("ns3::" + name).GetGroupName(),
                                  "Evenkeel",
                                  name);
        }
        NS_TEST_EXPECT_MSG_EQ(TypeId::LookupByName("ns3::FabricPort").GetGroupName(),
                              "Evenkeel",
                              "the base class");
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

/// Tests the callbacks of a connection and its count of outstanding messages.
class ConnectionTestCase : public TestCase
{
  public:
    ConnectionTestCase()
        : TestCase("a connection reports the delivery and completion of its messages")
    {
    }

  private:
    /**
     * @brief Records the number of outstanding messages at a delivery.
     * @param event the message and the time
     */
    void Delivered(const FabricMessageEvent& event)
    {
        m_outstanding.push_back(m_connection->GetOutstanding());
    }

    /**
     * @brief Records the number of outstanding messages at a completion.
     * @param event the message and the time
     */
    void Completed(const FabricMessageEvent& event)
    {
        m_outstanding.push_back(m_connection->GetOutstanding());
    }

    void DoRun() override
    {
        SmallFabric small{Plan()};
        m_connection = CreateObject<RdmaConnection>();
        m_connection->Connect(small.fabric->GetNic(0), small.fabric->GetNic(1));
        m_connection->SetDeliveryCallback(MakeCallback(&ConnectionTestCase::Delivered, this));
        m_connection->SetCompletionCallback(MakeCallback(&ConnectionTestCase::Completed, this));
        m_connection->Send(4096);
        m_connection->Send(4096);
        small.Run();
        // Both messages are delivered before the first acknowledgement arrives.
        const std::vector<uint32_t> expected{2, 2, 1, 0};
        NS_TEST_EXPECT_MSG_EQ((m_outstanding == expected),
                              true,
                              "outstanding messages at each event");
        m_connection = nullptr;
    }

    Ptr<RdmaConnection> m_connection;    //!< the connection under test
    std::vector<uint32_t> m_outstanding; //!< number of outstanding messages at each event
};

/// Tests a connection that the script no longer references.
class DroppedConnectionTestCase : public TestCase
{
  public:
    DroppedConnectionTestCase()
        : TestCase("a connection that the script drops reports its messages")
    {
    }

  private:
    /**
     * @brief Records the kind of an event.
     * @param event the message and the time
     */
    void Report(const FabricMessageEvent& event)
    {
        m_reported.push_back(event.kind);
    }

    void DoRun() override
    {
        SmallFabric small{Plan()};
        {
            Ptr<RdmaConnection> connection = CreateObject<RdmaConnection>();
            connection->Connect(small.fabric->GetNic(0), small.fabric->GetNic(1));
            const auto report = MakeCallback(&DroppedConnectionTestCase::Report, this);
            connection->SetDeliveryCallback(report);
            connection->SetCompletionCallback(report);
            connection->Send(4096);
        }
        small.Run();
        const std::vector<FabricMessageEventKind> expected{FabricMessageEventKind::DELIVERED,
                                                           FabricMessageEventKind::COMPLETED};
        NS_TEST_EXPECT_MSG_EQ((m_reported == expected), true, "what is reported");
    }

    std::vector<FabricMessageEventKind> m_reported; //!< kinds of events, in order
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
        SwitchHelper().Install(switches);
        FabricHelper helper;
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
        NS_TEST_EXPECT_MSG_EQ(graph.switches[0].tier, 0, "a switch with hosts");
        NS_TEST_EXPECT_MSG_EQ(graph.switches[2].tier, 1, "a switch without hosts");
        NS_TEST_EXPECT_MSG_EQ(graph.links[4].rateBps,
                              100000000000ULL,
                              "the rate that was set before");
        NS_TEST_EXPECT_MSG_EQ(graph.links[3].a.number, 3, "the host that was connected last");
        NS_TEST_EXPECT_MSG_EQ(fabric->NameOf("the test", helper.GetChannels()[6]),
                              "switch1-switch2#1",
                              "the name of a parallel link");
        const std::vector<FabricFault>& faults = fabric->GetCore().GetDescription().faults;
        NS_TEST_EXPECT_MSG_EQ(faults.size(), 1, "the failure");
        NS_TEST_EXPECT_MSG_EQ(faults[0].link, 6, "its link");
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
        AddTestCase(new ConnectionTestCase);
        AddTestCase(new DroppedConnectionTestCase);
        AddTestCase(new DescriptionTestCase);
    }
};

EvenkeelScriptTestSuite g_evenkeelScriptTestSuite; //!< registers itself

} // namespace
