// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-small-fabric.h"

#include "ns3/fabric-flow-monitor-helper.h"
#include "ns3/test.h"

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// Compares FlowMonitor's statistics of a flow with closed forms.
class FlowMonitorTestCase : public TestCase
{
  public:
    FlowMonitorTestCase()
        : TestCase("FlowMonitor reports the delays and losses of flows")
    {
    }

  private:
    void DoRun() override
    {
        Plan plan;
        plan.gap = "0B";
        const uint64_t from = 9 * DATA * 20 + 500000;
        plan.sections = "[[failure]]\nlink = \"host0-leaf0\"\nat = \"" + std::to_string(from) +
                        "ps\"\nuntil = \"" + std::to_string(from + 1) + "ps\"\n";
        FabricFlowMonitorHelper helper;
        SmallFabric small(plan);
        Ptr<FlowMonitor> monitor = helper.Install(small.fabric);
        small.Post(0, 1, 20 * 4096);
        // The monitor never stops scheduling checks for losses.
        Simulator::Stop(MilliSeconds(1));
        small.Run();
        const auto& stats = monitor->GetFlowStats();
        NS_TEST_ASSERT_MSG_EQ(stats.size(), 1, "one flow");
        const FlowMonitor::FlowStats& flow = stats.begin()->second;
        const auto sent = static_cast<uint32_t>(small.fabric->GetNic(0)->GetDataSent());
        NS_TEST_EXPECT_MSG_EQ(flow.txPackets, sent, "sent");
        // Packets on the wire when the fault begins start before it and end after it.
        const uint32_t lost = static_cast<uint32_t>(small.fabric->GetCounters().dataDropped);
        NS_TEST_EXPECT_MSG_EQ(lost, 7, "lost");
        NS_TEST_EXPECT_MSG_EQ(flow.packetsDropped.at(0), lost, "losses that the monitor reports");
        NS_TEST_EXPECT_MSG_EQ(flow.rxPackets, sent - lost, "received");
        NS_TEST_EXPECT_MSG_EQ(flow.rxBytes, (sent - lost) * DATA, "bytes");
        NS_TEST_EXPECT_MSG_EQ(flow.timesForwarded, sent - lost, "one switch");
        const uint64_t each = 2 * (DATA * 20 + 500000);
        const double mean = static_cast<double>(flow.delaySum.GetNanoSeconds()) / flow.rxPackets;
        NS_TEST_EXPECT_MSG_EQ_TOL(mean, each / 1e3, 1.0, "delay, within a tick");
        NS_TEST_EXPECT_MSG_EQ((helper.GetClassifier()->FindFlow(stats.begin()->first) ==
                               FabricFlowClassifier::Key(0, 1, 0)),
                              true,
                              "from host 0 to host 1");
    }
};

/// The suite.
class EvenkeelFlowMonitorTestSuite : public TestSuite
{
  public:
    EvenkeelFlowMonitorTestSuite()
        : TestSuite("evenkeel-flow-monitor")
    {
        AddTestCase(new FlowMonitorTestCase);
    }
};

EvenkeelFlowMonitorTestSuite g_evenkeelFlowMonitorTestSuite; //!< registers itself

} // namespace
