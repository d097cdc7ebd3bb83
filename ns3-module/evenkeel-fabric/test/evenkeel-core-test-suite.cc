// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-small-fabric.h"

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/config.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric.h"
#include "ns3/failure-helper.h"
#include "ns3/rdma-nic.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/**
 * @brief Configures a helper for an all-to-all, and stops the simulation when it is done.
 * @param helper the helper
 * @param policy name of the load-balancing policy
 * @param bytes per rank
 */
void
SetUpAllToAll(FabricHelper& helper, const std::string& policy, uint64_t bytes)
{
    helper.SetPolicy(policy);
    helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
    CollectiveHelper collective("all-to-all");
    collective.SetBytes(bytes);
    collective.Install(helper);
}

/// Completion times in picoseconds, by flow.
std::vector<uint64_t>
CompletionsOf(const Fabric& fabric)
{
    std::vector<uint64_t> times;
    for (const FabricFlow& flow : fabric.GetCore().GetFlows())
    {
        times.push_back(flow.completedPs);
    }
    return times;
}

/// Compares the time of a message on an idle path, built link by link, with the closed form.
class CoreIdlePathTestCase : public TestCase
{
  public:
    CoreIdlePathTestCase()
        : TestCase("a message of evenkeel's NIC on an idle path takes the time of the closed form")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint64_t packets : {1, 3, 500})
        {
            NodeContainer hosts(2);
            NodeContainer switches(3);
            FabricHelper helper;
            helper.InstallSwitches(switches);
            helper.SetNicAttribute("CongestionControl", StringValue("line-rate"));
            helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
            helper.Install(hosts.Get(0), switches.Get(0));
            helper.Install(switches.Get(0), switches.Get(1));
            helper.Install(switches.Get(1), switches.Get(2));
            helper.Install(switches.Get(2), hosts.Get(1));
            Ptr<Fabric> fabric = helper.Finish();
            fabric->GetNic(0)->PostMessage(fabric->GetNic(1), packets * 4096);
            Simulator::Run();
            const uint64_t expected =
                packets * (DATA + 20) * 20 - 20 * 20 + 3 * DATA * 20 + 8 * 500000 + 4 * ACK * 20;
            const std::vector<uint64_t> times = CompletionsOf(*fabric);
            NS_TEST_ASSERT_MSG_EQ(times.size(), 1, "one flow");
            NS_TEST_EXPECT_MSG_EQ(times[0], expected, packets << " packets");
            NS_TEST_EXPECT_MSG_EQ(fabric->GetFinishPs(), expected, "the end");
            Simulator::Destroy();
        }
    }
};

/// Tests that every packet is received or dropped, under every policy.
class CorePoliciesTestCase : public TestCase
{
  public:
    CorePoliciesTestCase()
        : TestCase("an all-to-all completes under every policy")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string policy : {"ecmp",
                                         "ecmp-murmur",
                                         "subflow-4",
                                         "flowlet",
                                         "plb",
                                         "spray",
                                         "spray-rr",
                                         "reps",
                                         "bitmap",
                                         "prime",
                                         "switch-rr",
                                         "switch-rr-shuffled",
                                         "switch-random",
                                         "jsq",
                                         "adaptive",
                                         "drill",
                                         "conga",
                                         "host-dr",
                                         "ofan",
                                         "ethereal",
                                         "line-cut",
                                         "switch-rr-by-destination",
                                         "drill-by-destination"})
        {
            FabricHelper helper;
            SetUpAllToAll(helper, policy, 200000);
            Ptr<Fabric> fabric = helper.CreateLeafSpine(3, 2, 2);
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, policy);
            const FabricNicCounters counters = fabric->GetCore().GetCounters();
            uint64_t inFlight = 0;
            for (uint32_t port = 0; port < fabric->GetNPorts(); ++port)
            {
                inFlight += fabric->GetPort(port).GetWaitingBytes() > 0 ? 1 : 0;
            }
            NS_TEST_EXPECT_MSG_EQ(inFlight, 0, policy << ": no packet is queued");
            NS_TEST_EXPECT_MSG_EQ(counters.dataSent,
                                  counters.dataReceived + fabric->GetCounters().dataDropped,
                                  policy << ": conservation");
            Simulator::Destroy();
        }
    }
};

/// Tests the exceptions for an invalid scenario and an invalid graph.
class CoreErrorsTestCase : public TestCase
{
  public:
    CoreErrorsTestCase()
        : TestCase("an invalid scenario or graph throws an exception with the reason")
    {
    }

  private:
    void DoRun() override
    {
        std::string reason;
        try
        {
            MakeFabricCore("[policy]\nname = \"spry\"\n", ".");
        }
        catch (const std::invalid_argument& error)
        {
            reason = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(reason.find("spray"), std::string::npos, reason);
        reason.clear();
        try
        {
            MakeFabricGraph("kind = \"fat-tree\"\nk = 3\n", ".");
        }
        catch (const std::invalid_argument& error)
        {
            reason = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(reason.find("k"), std::string::npos, reason);
    }
};

/// Tests that a failed link delays messages but loses none.
class CoreFailureTestCase : public TestCase
{
  public:
    CoreFailureTestCase()
        : TestCase("packets that a failed link lost are retransmitted over other links")
    {
    }

  private:
    /**
     * @param fails true to take the link down
     * @return when the last message completed, in picoseconds
     */
    uint64_t Run(bool fails)
    {
        FabricHelper helper;
        SetUpAllToAll(helper, "spray", 1000000);
        if (fails)
        {
            FailureHelper failures(helper);
            failures.SetConvergence(MicroSeconds(100));
            failures.SetDetection(MicroSeconds(3));
            failures.Down("leaf0-spine0", MicroSeconds(5));
        }
        Ptr<Fabric> fabric = helper.CreateLeafSpine(2, 2, 2);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, "fails " << fails);
        const uint64_t dropped = fabric->GetCounters().dataDropped;
        NS_TEST_EXPECT_MSG_EQ((dropped > 0), fails, "losses");
        // Link 4 is the first after those of hosts. After the detection no packet is sent up it.
        if (fails)
        {
            NS_TEST_EXPECT_MSG_LT(fabric->GetPort(8).GetCarriedBytes(),
                                  fabric->GetPort(10).GetCarriedBytes(),
                                  "the other spine carries more");
        }
        const uint64_t end = fabric->GetFinishPs();
        Simulator::Destroy();
        return end;
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_LT(Run(false), Run(true), "the failure delays the completion");
    }
};

/// Tests that ranks are the hosts of a container in order, and that other hosts send nothing.
class CoreRanksTestCase : public TestCase
{
  public:
    CoreRanksTestCase()
        : TestCase("the ranks of a collective are the hosts of a container in their order")
    {
    }

  private:
    void DoRun() override
    {
        NodeContainer hosts(5);
        NodeContainer leaf(1);
        FabricHelper helper;
        helper.InstallSwitches(leaf);
        helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
        helper.Install(hosts, leaf.Get(0));
        NodeContainer ranks(hosts.Get(4), hosts.Get(1), hosts.Get(2));
        CollectiveHelper collective("all-to-all");
        collective.SetBytes(30000);
        collective.Install(helper, ranks);
        Ptr<Fabric> fabric = helper.Finish();
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, "done");
        NS_TEST_EXPECT_MSG_EQ(fabric->GetCore().GetFlows().size(),
                              6,
                              "each of three ranks to two others");
        for (uint32_t number = 0; number < hosts.GetN(); ++number)
        {
            Ptr<RdmaNic> nic = DynamicCast<RdmaNic>(hosts.Get(number)->GetDevice(0));
            const bool isRank = number == 4 || number == 1 || number == 2;
            NS_TEST_EXPECT_MSG_EQ((nic->GetDataSent() > 0), isRank, "node " << number);
        }
        Simulator::Destroy();
    }
};

/// Tests a fat-tree built from evenkeel's description of its graph.
class CoreTopologiesTestCase : public TestCase
{
  public:
    CoreTopologiesTestCase()
        : TestCase("a fat-tree is built from evenkeel's graph")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper helper;
        helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
        Ptr<Fabric> fabric = helper.CreateTopology("fat-tree",
                                                   "k",
                                                   UintegerValue(4),
                                                   "host_rate",
                                                   StringValue("400Gbps"),
                                                   "fabric_rate",
                                                   StringValue("400Gbps"),
                                                   "delay",
                                                   StringValue("500ns"));
        NS_TEST_EXPECT_MSG_EQ(helper.GetHosts().GetN(), 16, "k^3 / 4 hosts");
        NS_TEST_EXPECT_MSG_EQ(helper.GetSwitches().GetN(), 20, "5 k^2 / 4 switches");
        fabric->GetNic(0)->PostMessage(fabric->GetNic(15), 4096);
        Simulator::Run();
        // Six links in each direction.
        NS_TEST_EXPECT_MSG_EQ(fabric->GetFinishPs(),
                              6 * (DATA + ACK) * 20 + 12 * 500000,
                              "from pod to pod");
        Simulator::Destroy();
    }
};

/// Tests that random draws are reproducible and depend on ns-3's seed and run number.
class CoreSeedTestCase : public TestCase
{
  public:
    CoreSeedTestCase()
        : TestCase("the run number of ns-3 determines random draws")
    {
    }

  private:
    /**
     * @param run the run number of ns-3
     * @return completion times
     */
    std::vector<uint64_t> Run(uint64_t run)
    {
        const uint64_t before = RngSeedManager::GetRun();
        RngSeedManager::SetRun(run);
        FabricHelper helper;
        SetUpAllToAll(helper, "spray", 300000);
        Ptr<Fabric> fabric = helper.CreateLeafSpine(2, 4, 4);
        Simulator::Run();
        const std::vector<uint64_t> times = CompletionsOf(*fabric);
        Simulator::Destroy();
        RngSeedManager::SetRun(before);
        return times;
    }

    void DoRun() override
    {
        const std::vector<uint64_t> first = Run(1);
        NS_TEST_EXPECT_MSG_EQ((first == Run(1)), true, "the same run number");
        NS_TEST_EXPECT_MSG_EQ((first == Run(2)), false, "another run number");
    }
};

/// Tests that marked packets in an incast cause CNPs, and that trace sources report both.
class CoreCnpTestCase : public TestCase
{
  public:
    CoreCnpTestCase()
        : TestCase("marked packets cause CNPs to their senders")
    {
    }

  private:
    /**
     * @brief Counts a CNP.
     * @param packet the CNP
     * @param when when it arrives
     */
    void HandleCnp(const FabricPacket& packet, Time when)
    {
        ++m_cnps;
        NS_TEST_EXPECT_MSG_EQ((packet.kind == FabricPacketKind::CNP), true, packet);
    }

    /**
     * @brief Counts a marked packet.
     * @param packet the packet
     * @param when when it is marked
     */
    void HandleMark(const FabricPacket& packet, Time when)
    {
        ++m_marks;
    }

    void DoRun() override
    {
        FabricHelper helper;
        helper.SetSwitchAttribute("EcnKmin", UintegerValue(100000));
        helper.SetSwitchAttribute("EcnKmax", UintegerValue(400000));
        helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
        Ptr<Fabric> fabric = helper.CreateLeafSpine(1, 1, 5);
        for (uint32_t src = 1; src < 5; ++src)
        {
            fabric->GetNic(src)->PostMessage(fabric->GetNic(0), 2000000);
        }
        Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::RdmaNic/CnpReceived",
                                      MakeCallback(&CoreCnpTestCase::HandleCnp, this));
        Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::FabricSwitchPort/EcnMark",
                                      MakeCallback(&CoreCnpTestCase::HandleMark, this));
        const std::string file = CreateTempDirFilename("incast.pcap");
        RdmaNicHelper().EnablePcap(file, fabric->GetNic(0), true, true);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, "done");
        NS_TEST_EXPECT_MSG_GT(m_marks, 0, "the queue marks");
        NS_TEST_EXPECT_MSG_EQ(m_marks, fabric->GetCore().GetCounters().marked, "all marks arrive");
        NS_TEST_EXPECT_MSG_GT(m_cnps, 0, "CNPs arrive");
        Simulator::Destroy();
        if (OutputOf("tshark --version 2>/dev/null").empty())
        {
            std::cout << "skipped: tshark is not installed" << std::endl;
            return;
        }
        const std::string sources = OutputOf("tshark -r '" + file +
                                             "' -Y 'infiniband.bth.opcode == 0x81' -T fields "
                                             "-e ip.src 2>/dev/null");
        std::string expected;
        for (uint64_t cnp = 0; cnp < m_cnps; ++cnp)
        {
            expected += "10.0.0.1\n";
        }
        NS_TEST_EXPECT_MSG_EQ(sources, expected, "host 0 sends the CNPs that the others receive");
    }

    uint64_t m_cnps{0};  //!< CNPs that arrived
    uint64_t m_marks{0}; //!< marked packets
};

/// The suite.
class EvenkeelCoreTestSuite : public TestSuite
{
  public:
    EvenkeelCoreTestSuite()
        : TestSuite("evenkeel-core")
    {
        AddTestCase(new CoreIdlePathTestCase);
        AddTestCase(new CorePoliciesTestCase);
        AddTestCase(new CoreErrorsTestCase);
        AddTestCase(new CoreFailureTestCase);
        AddTestCase(new CoreRanksTestCase);
        AddTestCase(new CoreTopologiesTestCase);
        AddTestCase(new CoreSeedTestCase);
        AddTestCase(new CoreCnpTestCase);
    }
};

EvenkeelCoreTestSuite g_evenkeelCoreTestSuite; //!< registers itself

} // namespace
