// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-plain-fabric.h"

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
        plan.settings.gapBytes = 0;
        plan.configure = [](PlainFabricCore& core) {
            FabricFault fault;
            fault.link = 0;
            fault.fromPs = 9 * DATA * 20 + 500000;
            fault.untilPs = fault.fromPs + 1;
            core.SetFaults({fault});
        };
        FabricFlowMonitorHelper helper;
        PlainFabric plain(plan);
        Ptr<FlowMonitor> monitor = helper.Install(plain.fabric);
        plain.Post(0, 1, 20 * 4096);
        // The monitor never stops scheduling checks for losses.
        Simulator::Stop(MilliSeconds(1));
        plain.Run();
        const auto& stats = monitor->GetFlowStats();
        NS_TEST_ASSERT_MSG_EQ(stats.size(), 1, "one flow");
        const FlowMonitor::FlowStats& flow = stats.begin()->second;
        NS_TEST_EXPECT_MSG_EQ(flow.txPackets, 20, "sent");
        // Packets on the wire when the fault begins start before it and end after it.
        const uint32_t lost = static_cast<uint32_t>(plain.fabric->GetCounters().dataDropped);
        NS_TEST_EXPECT_MSG_EQ(lost, 7, "lost");
        NS_TEST_EXPECT_MSG_EQ(flow.packetsDropped.at(0), lost, "losses that the monitor reports");
        NS_TEST_EXPECT_MSG_EQ(flow.rxPackets, 20 - lost, "received");
        NS_TEST_EXPECT_MSG_EQ(flow.rxBytes, (20 - lost) * DATA, "bytes");
        NS_TEST_EXPECT_MSG_EQ(flow.timesForwarded, 20 - lost, "one switch");
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
