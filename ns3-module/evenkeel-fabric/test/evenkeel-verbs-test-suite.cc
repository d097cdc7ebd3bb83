// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-two-hosts.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/failure-helper.h"
#include "ns3/packet.h"
#include "ns3/rdma-qp.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <iostream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// Tests that a WRITE takes as long as a message of the same length.
class VerbsWriteTestCase : public TestCase
{
  public:
    VerbsWriteTestCase()
        : TestCase("a WRITE takes the same time as a message of its length, to the picosecond")
    {
    }

  private:
    /**
     * @param policy of the fabric
     * @param packets number of packets of the message
     * @param at when it is posted, in picoseconds; 0 for before the start
     * @param asMessage true for a message, false for a WRITE
     * @return when it completes, in picoseconds
     */
    uint64_t Run(std::string policy, uint64_t packets, uint64_t at, bool asMessage)
    {
        FabricHelper helper;
        helper.SetPolicy(policy);
        helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
        Ptr<Fabric> fabric = helper.CreateLeafSpine(2, 4, 1);
        Ptr<RdmaNic> from = fabric->GetNic(0);
        Ptr<RdmaNic> to = fabric->GetNic(1);
        Ptr<RdmaQp> qp = RdmaNicHelper::ConnectQps(from, to).first;
        const uint64_t bytes = packets * 4096;
        const auto post = [=] {
            if (asMessage)
            {
                from->PostMessage(to, bytes);
            }
            else
            {
                qp->PostWrite(bytes, 7);
            }
        };
        if (at == 0)
        {
            post();
        }
        else
        {
            Simulator::Schedule(PicoSeconds(at), post);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, "verdict");
        NS_TEST_EXPECT_MSG_EQ(fabric->GetCore().GetCounters().dataSent,
                              packets,
                              "data packets of all NICs");
        NS_TEST_EXPECT_MSG_EQ(from->GetDataSent(), packets, "data packets of the NIC");
        FabricCompletion completion;
        if (!asMessage)
        {
            NS_TEST_EXPECT_MSG_EQ(qp->PollCompletion(completion), true, "the work completes");
            NS_TEST_EXPECT_MSG_EQ(completion.atPs, fabric->GetFinishPs(), "completion time");
            NS_TEST_EXPECT_MSG_EQ(completion.workId, 7, "id of the work");
            NS_TEST_EXPECT_MSG_EQ(completion.bytes, bytes, "bytes");
        }
        const uint64_t end = fabric->GetFinishPs();
        Simulator::Destroy();
        return end;
    }

    void DoRun() override
    {
        const uint64_t later = 3000000;
        for (const std::string policy : {"ecmp", "spray", "host-dr", "reps", "drill"})
        {
            for (const uint64_t packets : {1, 2, 300})
            {
                const uint64_t expected = Run(policy, packets, 0, true);
                NS_TEST_EXPECT_MSG_EQ(Run(policy, packets, 0, false),
                                      expected,
                                      policy << ", " << packets << " packets");
                NS_TEST_EXPECT_MSG_EQ(Run(policy, packets, later, false),
                                      expected + later,
                                      policy << ", " << packets << " packets, later");
            }
        }
        NS_TEST_EXPECT_MSG_EQ(Run("ecmp", 1, 0, false),
                              4 * ((DATA + ACK) * BYTE + 2 * LINK),
                              "the closed form");
    }
};

/// Compares the completion times of a SEND, a READ and a WRITE with immediate data to closed forms.
class VerbsDialogueTestCase : public TestCase
{
  public:
    VerbsDialogueTestCase()
        : TestCase("SEND, READ and WRITE with immediate data complete at the expected times")
    {
    }

  private:
    void DoRun() override
    {
        {
            // The SEND is retransmitted 640 us after its RNR NAK arrives.
            TwoHosts two;
            two.Make();
            two.a->PostSend(4096, 1);
            Simulator::Schedule(MicroSeconds(5), [&two] { two.b->PostReceive(2); });
            Simulator::Run();
            const uint64_t there = Across(DATA) + Across(ACK) + 640000000 + Across(DATA);
            NS_TEST_EXPECT_MSG_EQ(Completions(two.b),
                                  "host 1 qp 0 receive 2 4096B IBV_WC_SUCCESS at " +
                                      std::to_string(there / 1000) + " ns\n",
                                  "at the receiver");
            NS_TEST_EXPECT_MSG_EQ(two.fabric->GetFinishPs(), there + Across(ACK), "at the sender");
            NS_TEST_EXPECT_MSG_EQ(two.fabric->GetCore().GetCounters().retransmitted,
                                  1,
                                  "retransmissions");
        }
        {
            TwoHosts two;
            two.Make();
            two.a->PostRead(4096, 3);
            Simulator::Run();
            // The request has only headers, and the response follows its acknowledgement.
            const uint64_t here = Across(62) + (ACK + 20) * BYTE + Across(DATA);
            NS_TEST_EXPECT_MSG_EQ(Completions(two.a),
                                  "host 0 qp 0 READ 3 4096B IBV_WC_SUCCESS at " +
                                      std::to_string(here / 1000) + " ns\n",
                                  "the reader");
            NS_TEST_EXPECT_MSG_EQ(Completions(two.b), "", "the peer has no completion");
        }
        TwoHosts two;
        two.Make();
        two.b->PostReceive(5);
        two.a->PostWriteWithImmediate(8192, 42, 4, RdmaQp::UNSIGNALED);
        Simulator::Run();
        const uint64_t there = Across(DATA) + (DATA + 20) * BYTE;
        NS_TEST_EXPECT_MSG_EQ(Completions(two.b),
                              "host 1 qp 0 receive with immediate data 5 8192B IBV_WC_SUCCESS at " +
                                  std::to_string(there / 1000) + " ns immediate 42\n",
                              "the receive with immediate data");
        NS_TEST_EXPECT_MSG_EQ(Completions(two.a), "", "unsignaled work has no completion");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetFinishPs(), there + Across(ACK), "the run completes");
    }
};

/// Tests callbacks that post work, and the trace sources of completions.
class VerbsCallbackTestCase : public TestCase
{
  public:
    VerbsCallbackTestCase()
        : TestCase("each message of a ping-pong by callbacks takes the one-way time")
    {
    }

  private:
    /**
     * @brief Replies from one host, up to six times.
     * @param completion the completion
     */
    void Ping(const FabricCompletion& completion)
    {
        m_times.push_back(completion.atPs);
        if (m_times.size() < 6)
        {
            m_a->PostReceive();
            m_a->PostSend(4096, 0, RdmaQp::UNSIGNALED);
        }
    }

    /**
     * @brief Replies from the other host.
     * @param completion the completion
     */
    void Pong(const FabricCompletion& completion)
    {
        m_times.push_back(completion.atPs);
        m_b->PostReceive();
        m_b->PostSend(4096, 0, RdmaQp::UNSIGNALED);
    }

    /**
     * @brief Counts a traced completion, which must be a receive.
     * @param completion the completion
     */
    void Traced(const FabricCompletion& completion)
    {
        NS_TEST_EXPECT_MSG_EQ(completion.opcode, FabricOpcode::RECEIVE, completion);
        ++m_traced;
    }

    void DoRun() override
    {
        TwoHosts two;
        two.Make();
        m_a = two.a;
        m_b = two.b;
        m_a->SetCompletionCallback(MakeCallback(&VerbsCallbackTestCase::Ping, this));
        m_b->SetCompletionCallback(MakeCallback(&VerbsCallbackTestCase::Pong, this));
        Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::RdmaNic/Completion",
                                      MakeCallback(&VerbsCallbackTestCase::Traced, this));
        m_a->TraceConnectWithoutContext("Completion",
                                        MakeCallback(&VerbsCallbackTestCase::Traced, this));
        m_a->PostReceive();
        m_b->PostReceive();
        m_a->PostSend(4096, 0, RdmaQp::UNSIGNALED);
        Simulator::Run();
        // Each end replies immediately, after the acknowledgement of the message that it received.
        const uint64_t way = Across(DATA);
        std::vector<uint64_t> expected{way};
        while (expected.size() < 6)
        {
            expected.push_back(expected.back() + (ACK + 20) * BYTE + way);
        }
        NS_TEST_EXPECT_MSG_EQ((m_times == expected), true, "completion times");
        NS_TEST_EXPECT_MSG_EQ(m_traced, 6 + 3, "six at NICs, three at the queue pair");
        NS_TEST_EXPECT_MSG_EQ(Completions(m_a) + Completions(m_b),
                              "",
                              "the callbacks received all completions");
        m_a = nullptr;
        m_b = nullptr;
    }

    Ptr<RdmaQp> m_a;               //!< sends the first message
    Ptr<RdmaQp> m_b;               //!< replies to it
    std::vector<uint64_t> m_times; //!< when receives completed
    uint32_t m_traced{0};          //!< completions seen by trace sinks
};

/// Tests queue pairs and messages that share NICs and a lossy link.
class VerbsMixedTestCase : public TestCase
{
  public:
    VerbsMixedTestCase()
        : TestCase("work and messages that share a lossy link complete in order")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string policy : {"ecmp", "reps", "ethereal", "subflow-4"})
        {
            FabricHelper helper;
            helper.SetPolicy(policy);
            helper.SetNicAttribute("RetransmitTimeout", TimeValue(MicroSeconds(100)));
            helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
            Ptr<Fabric> fabric = helper.CreateLeafSpine(2, 2, 2);
            FailureHelper(helper).Lose(helper.GetChannels()[0], 1, 50, Time(0));
            Ptr<RdmaNic> from = fabric->GetNic(0);
            auto [a, b] = RdmaNicHelper::ConnectQps(from, fabric->GetNic(3));
            from->PostMessage(fabric->GetNic(3), 2000000);
            for (uint64_t work = 0; work < 10; ++work)
            {
                b->PostReceive(work);
                a->PostSend(200000, work);
                a->PostRead(100000, 100 + work);
            }
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, policy);
            const FabricNicCounters counters = fabric->GetCore().GetCounters();
            NS_TEST_EXPECT_MSG_GT(fabric->GetCounters().dataDropped, 0, policy << ": losses");
            NS_TEST_EXPECT_MSG_EQ(counters.dataSent,
                                  counters.dataReceived + fabric->GetCounters().dataDropped +
                                      fabric->CountDataInFlight(),
                                  policy << ": conservation");
            uint64_t sends = 0;
            uint64_t reads = 0;
            FabricCompletion completion;
            while (a->PollCompletion(completion))
            {
                NS_TEST_EXPECT_MSG_EQ(completion.status,
                                      FabricCompletionStatus::SUCCESS,
                                      completion);
                uint64_t& next = completion.opcode == FabricOpcode::SEND ? sends : reads;
                NS_TEST_EXPECT_MSG_EQ(completion.workId % 100, next++, "completions in order");
            }
            NS_TEST_EXPECT_MSG_EQ(sends + reads, 20, policy << ": all work completed");
            for (uint64_t work = 0; work < 10; ++work)
            {
                NS_TEST_EXPECT_MSG_EQ(b->PollCompletion(completion), true, policy);
                NS_TEST_EXPECT_MSG_EQ(completion.workId, work, "receives in order");
            }
            Simulator::Destroy();
        }
    }
};

/// Tests the opcodes of verbs in captures, and the packets of other protocol stacks.
class VerbsCaptureTestCase : public TestCase
{
  public:
    VerbsCaptureTestCase()
        : TestCase("captures have the opcodes of verbs, and packets of other stacks are dropped")
    {
    }

  private:
    /**
     * @brief Adds the length of a dropped packet.
     * @param packet the packet
     */
    void Dropped(Ptr<const Packet> packet)
    {
        m_dropped += packet->GetSize();
    }

    void DoRun() override
    {
        const std::string file = CreateTempDirFilename("verbs.pcap");
        {
            TwoHosts two;
            two.Make();
            RdmaNicHelper().EnablePcap(file, two.fabric->GetNic(0), true, true);
            two.b->PostReceive();
            two.b->PostReceive();
            two.a->PostSend(3 * 4096);
            two.a->PostWriteWithImmediate(2 * 4096, 258);
            two.a->PostRead(2 * 4096);
            two.fabric->GetNic(0)->TraceConnectWithoutContext(
                "MacTxDrop",
                MakeCallback(&VerbsCaptureTestCase::Dropped, this));
            Ptr<RdmaNic> nic = two.fabric->GetNic(0);
            for (const uint32_t bytes : {100, 10})
            {
                const bool sent = nic->Send(Create<Packet>(bytes), nic->GetBroadcast(), 0x0800);
                NS_TEST_EXPECT_MSG_EQ(sent, false, "a packet of another stack");
            }
            NS_TEST_EXPECT_MSG_EQ(nic->GetForeignDropped(), 2, "dropped packets");
            NS_TEST_EXPECT_MSG_EQ(m_dropped, 110, "dropped bytes that the trace source reports");
            Simulator::Run();
        }
        if (OutputOf("tshark --version 2>/dev/null").empty())
        {
            std::cout << "skipped: tshark is not installed" << std::endl;
            return;
        }
        const std::string read = "tshark -r '" + file + "' ";
        const std::string fields = "-T fields -E occurrence=f -e infiniband.bth.opcode "
                                   "-e infiniband.reth.dmalen -e infiniband.immdt 2>/dev/null";
        NS_TEST_EXPECT_MSG_EQ(OutputOf(read + "-Y 'infiniband.bth.opcode != 17' " + fields),
                              "0\t\t\n1\t\t\n2\t\t\n6\t0\t\n9\t\t00000102\n12\t8192\t\n"
                              "13\t\t\n15\t\t\n",
                              "SEND, WRITE with immediate data, READ");
        NS_TEST_EXPECT_MSG_EQ(OutputOf(read + "-Y _ws.malformed 2>/dev/null; true"),
                              "",
                              "malformed packets");
    }

    uint32_t m_dropped{0}; //!< dropped bytes of other stacks
};

/// Tests a rail-optimised fabric, in which a server is a node with one NIC per GPU.
class VerbsRailsTestCase : public TestCase
{
  public:
    VerbsRailsTestCase()
        : TestCase("a path of a rail-optimised fabric has one switch in a rail, three otherwise")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper helper;
        helper.SetNicsPerNode(4);
        helper.SetNicAttribute("CongestionControl", StringValue("line-rate"));
        Ptr<Fabric> fabric = helper.CreateTopology("rail-optimized",
                                                   "rails",
                                                   UintegerValue(4),
                                                   "servers",
                                                   UintegerValue(3),
                                                   "units",
                                                   UintegerValue(2),
                                                   "spines",
                                                   UintegerValue(5));
        NS_TEST_EXPECT_MSG_EQ(fabric->GetNNics(), 24, "a NIC per GPU");
        NS_TEST_EXPECT_MSG_EQ(helper.GetSwitches().GetN(), 8 + 5, "leaves and spines");
        for (uint32_t host = 0; host < 24; ++host)
        {
            Ptr<RdmaNic> nic = fabric->GetNic(host);
            NS_TEST_EXPECT_MSG_EQ(nic->GetNode(), helper.GetHosts().Get(host / 4 * 4), "server");
            NS_TEST_EXPECT_MSG_EQ(nic->GetNode()->GetNDevices(), 4, "NICs of a server");
            NS_TEST_EXPECT_MSG_EQ(nic->GetNode()->GetDevice(host % 4), nic, "in order of rails");
        }
        // To the same GPU of another server, to another GPU of the same server, to the other unit.
        Ptr<RdmaQp> same = RdmaNicHelper::ConnectQps(fabric->GetNic(1), fabric->GetNic(5)).first;
        Ptr<RdmaQp> other = RdmaNicHelper::ConnectQps(fabric->GetNic(9), fabric->GetNic(10)).first;
        Ptr<RdmaQp> far = RdmaNicHelper::ConnectQps(fabric->GetNic(3), fabric->GetNic(15)).first;
        for (const auto& qp : {same, other, far})
        {
            qp->PostWrite(4096);
        }
        Simulator::Run();
        const uint64_t rail = Across(DATA) + Across(ACK);
        for (const auto& [qp, expected] : {std::make_pair(same, rail),
                                           std::make_pair(other, 2 * rail),
                                           std::make_pair(far, 2 * rail)})
        {
            FabricCompletion completion;
            NS_TEST_EXPECT_MSG_EQ(qp->PollCompletion(completion), true, "the work completes");
            NS_TEST_EXPECT_MSG_EQ(completion.atPs, expected, "the time for that number of links");
        }
        Simulator::Destroy();
    }
};

/// The suite.
class EvenkeelVerbsTestSuite : public TestSuite
{
  public:
    EvenkeelVerbsTestSuite()
        : TestSuite("evenkeel-verbs")
    {
        AddTestCase(new VerbsWriteTestCase);
        AddTestCase(new VerbsDialogueTestCase);
        AddTestCase(new VerbsCallbackTestCase);
        AddTestCase(new VerbsMixedTestCase);
        AddTestCase(new VerbsCaptureTestCase);
        AddTestCase(new VerbsRailsTestCase);
    }
};

EvenkeelVerbsTestSuite g_evenkeelVerbsTestSuite; //!< registers itself

} // namespace
