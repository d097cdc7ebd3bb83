// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../model/fabric-pool.h"
#include "evenkeel-small-fabric.h"

#include "ns3/config.h"
#include "ns3/test.h"

#include <cmath>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/**
 * @brief Compares the time of a message on an idle path with the closed form:
 * n (D + gap) / R - gap / R + (H - 1) D / R + H p + H A / R + H p.
 */
class IdlePathTestCase : public TestCase
{
  public:
    IdlePathTestCase()
        : TestCase("a message on an idle path takes the time of the closed form")
    {
    }

  private:
    /**
     * @param leaves 1 for two links, 2 for four
     * @param packets number of packets of the message
     * @param perByte picoseconds per byte
     */
    void Check(uint32_t leaves, uint64_t packets, uint64_t perByte)
    {
        Plan plan;
        plan.leaves = leaves;
        plan.rate = std::to_string(8000 / perByte) + "Gbps";
        SmallFabric small(plan);
        small.Post(0, small.fabric->GetNNics() - 1, packets * 4096);
        const uint64_t hops = leaves == 1 ? 2 : 4;
        const uint64_t delay = 500000;
        const uint64_t expected = packets * (DATA + 20) * perByte - 20 * perByte +
                                  (hops - 1) * DATA * perByte + 2 * hops * delay +
                                  hops * ACK * perByte;
        NS_TEST_EXPECT_MSG_EQ(small.Run()[0], expected, packets << " packets, " << hops << " hops");
    }

    void DoRun() override
    {
        for (const uint64_t packets : {1, 2, 7, 1000})
        {
            Check(1, packets, 20);
            Check(2, packets, 20);
            Check(2, packets, 80);
        }
    }
};

/// Tests that trace sinks, which make each start a separate event, do not change the results.
class PunctualTestCase : public TestCase
{
  public:
    PunctualTestCase()
        : TestCase("trace sinks are called at the time of each start and change no result")
    {
    }

  private:
    /// Counts a packet that is sent.
    void Sent(const FabricPacket& packet, Time when)
    {
        ++m_sent;
        // The sink is called in the tick of the start, at any time resolution.
        NS_TEST_EXPECT_MSG_EQ(when.GetTimeStep(), Simulator::Now().GetTimeStep(), "the time");
    }

    void DoRun() override
    {
        for (const bool pfc : {false, true})
        {
            Plan plan;
            plan.leaves = 4;
            plan.spines = 2;
            plan.hostsPerLeaf = 2;
            plan.sections = pfc ? "[switch]\nbuffer = \"300KB\"\npfc = true\n" : "";
            std::vector<uint64_t> expected;
            uint64_t crossed = 0;
            {
                SmallFabric late(plan);
                late.PostAllToAll(50000);
                expected = late.Run();
                crossed = late.fabric->GetCounters().hops;
            }
            SmallFabric punctual(plan);
            punctual.PostAllToAll(50000);
            for (uint32_t port = 0; port < punctual.fabric->GetNPorts(); ++port)
            {
                punctual.fabric->GetPort(port).TraceConnectWithoutContext(
                    "PacketSent",
                    MakeCallback(&PunctualTestCase::Sent, this));
            }
            m_sent = 0;
            const std::vector<uint64_t> got = punctual.Run();
            NS_TEST_EXPECT_MSG_EQ((got == expected), true, "completion times, PFC " << pfc);
            NS_TEST_EXPECT_MSG_EQ(m_sent, crossed, "every start is reported once");
            NS_TEST_EXPECT_MSG_EQ(punctual.fabric->GetCounters().hops, crossed, "hops");
        }
    }

    uint64_t m_sent{0}; //!< starts seen by the trace sink
};

/// Tests that trimming drops no packet while headers have room.
class TrimTestCase : public TestCase
{
  public:
    TrimTestCase()
        : TestCase("a full buffer trims packets to their headers")
    {
    }

  private:
    void DoRun() override
    {
        Plan plan;
        plan.hostsPerLeaf = 4;
        plan.gap = "0B";
        plan.sections = "[switch]\nport_buffer = \"41580B\"\ntrim = { limit = \"6400B\" }\n";
        SmallFabric small(plan);
        for (const uint32_t src : {1, 2, 3})
        {
            small.Post(src, 0, 20 * 4096);
        }
        small.Run();
        const auto& counters = small.fabric->GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.dataDropped,
                              0,
                              "the limit of trimmed packets is not reached");
        // While 60 packets arrive, 20 leave and 10 are stored.
        NS_TEST_EXPECT_MSG_GT(counters.trimmed, 28, "the others are trimmed");
        const FabricNicCounters nics = small.fabric->GetCore().GetCounters();
        NS_TEST_EXPECT_MSG_EQ(nics.trimmed, counters.trimmed, "every header arrives");
        NS_TEST_EXPECT_MSG_EQ(nics.dataReceived, nics.dataSent, "all arrive, trimmed or whole");
    }
};

/// Tests the number of packets that a step threshold marks, at enqueue and at dequeue.
class EcnTestCase : public TestCase
{
  public:
    EcnTestCase()
        : TestCase("packets that find a queue longer than the step are ECN marked")
    {
    }

  private:
    /**
     * @param atDequeue true to mark at dequeue, false at enqueue
     * @return number of marked data packets that were received
     */
    uint64_t CountMarked(bool atDequeue)
    {
        Plan plan;
        plan.hostsPerLeaf = 3;
        plan.gap = "0B";
        plan.sections = std::string("[switch]\necn = { step = \"20790B\", at = \"") +
                        (atDequeue ? "dequeue" : "enqueue") + "\" }\n";
        SmallFabric small(plan);
        small.Post(1, 0, 20 * 4096);
        small.Post(2, 0, 20 * 4096);
        small.Run();
        return small.fabric->GetCore().GetCounters().marked;
    }

    void DoRun() override
    {
        // Pairs of packets arrive at the same time, and one packet leaves just before the next
        // pair. From the second pair on, the first packet of pair n finds n - 2 queued packets, and
        // the second one more. Above 5 are the first packets of pairs 8 to 20 and the second
        // packets of pairs 7 to 20.
        NS_TEST_EXPECT_MSG_EQ(CountMarked(false), 13 + 14, "at enqueue");
        // At dequeue, the packets behind a packet count: n - 2 before pair n arrives, and after the
        // last pair, with 20 queued packets, 19 down to 0. Above 5 are pairs 8 to 20, then 19 to 6.
        NS_TEST_EXPECT_MSG_EQ(CountMarked(true), 13 + 14, "at dequeue");
    }
};

/// Tests that PFC with headroom drops nothing, and that trace sources report pauses.
class PfcTestCase : public TestCase
{
  public:
    PfcTestCase()
        : TestCase("PFC drops no packet in an incast, and pauses end with resumes")
    {
    }

  private:
    /// Counts a change of a port.
    void Paused(bool paused)
    {
        ++(paused ? m_pauses : m_resumes);
    }

    void DoRun() override
    {
        Plan plan;
        plan.leaves = 2;
        plan.hostsPerLeaf = 8;
        plan.sections = "[switch]\nbuffer = \"800KB\"\npfc = true\n";
        SmallFabric small(plan);
        for (uint32_t src = 8; src < 16; ++src)
        {
            small.Post(src, 0, 500000);
        }
        for (uint32_t host = 0; host < 16; ++host)
        {
            small.fabric->GetNic(host)->TraceConnectWithoutContext(
                "Pause",
                MakeCallback(&PfcTestCase::Paused, this));
        }
        const std::vector<uint64_t> times = small.Run();
        NS_TEST_EXPECT_MSG_EQ(small.fabric->GetVerdict(), Fabric::COMPLETED, "verdict");
        NS_TEST_EXPECT_MSG_EQ(small.fabric->GetCounters().dataDropped, 0, "drops");
        NS_TEST_EXPECT_MSG_GT(m_pauses, 0, "NICs are paused");
        NS_TEST_EXPECT_MSG_EQ(m_pauses, m_resumes, "NICs are resumed as often");
        NS_TEST_EXPECT_MSG_GT(small.fabric->GetPauses().size(), m_pauses, "switches are paused");
        NS_TEST_EXPECT_MSG_EQ(small.fabric->GetPool().GetInFlight(), 0, "packets in the pool");
        NS_TEST_EXPECT_MSG_LT(times[0], FABRIC_NEVER, "the first message completes");
    }

    uint64_t m_pauses{0};  //!< pauses seen by the trace sink
    uint64_t m_resumes{0}; //!< resumes seen by the trace sink
};

/// Tests an outage, a degraded link and a lossy link.
class FaultTestCase : public TestCase
{
  public:
    FaultTestCase()
        : TestCase("failed links lose packets, and degraded links delay them")
    {
    }

  private:
    /// Records the sequence number of a dropped packet.
    void Dropped(const FabricPacket& packet, Time when)
    {
        m_dropped.push_back(packet.psn);
    }

    void DoRun() override
    {
        // Packet n is on the wire from n x 83.56 ns, for 83.16 + 500 ns.
        Plan plan;
        const std::string failure = "[[failure]]\nlink = \"host0-leaf0\"\n";
        plan.sections = failure + "at = \"1us\"\nuntil = \"1000001ps\"\n";
        {
            SmallFabric down(plan);
            down.Post(0, 1, 20 * 4096);
            Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::FabricPort/Drop",
                                          MakeCallback(&FaultTestCase::Dropped, this));
            down.Run();
        }
        // The fifth ends at 5 x 83.56 + 583.16 = 1,000.96 ns. The eleventh starts at 919.16 ns, the
        // twelfth at 1,002.72 ns.
        NS_TEST_EXPECT_MSG_EQ((m_dropped == std::vector<uint32_t>{5, 6, 7, 8, 9, 10, 11}),
                              true,
                              "seven packets are on the wire");

        plan.sections = failure + "kind = \"degrade\"\nfactor = \"1/10\"\nat = \"200ns\"\n";
        std::vector<uint64_t> times;
        {
            SmallFabric degraded(plan);
            degraded.Post(0, 1, 10 * 4096);
            times = degraded.Run();
        }
        // Three packets start before 200 ns (at 0, 83.56 and 167.12 ns). The wire is busy with the
        // third for its gap at the old rate; the other seven take ten times as long.
        const uint64_t third = 3 * 4178 * 20;
        const uint64_t last = third + 6 * 4178 * 200 + 4158 * 200;
        const uint64_t there = last + 500000 + 4158 * 20 + 500000;
        const uint64_t back = 64 * 20 + 500000 + 64 * 200 + 500000;
        NS_TEST_EXPECT_MSG_EQ(times[0], there + back, "later packets are slow");

        plan.sections = failure + "kind = \"loss\"\nrate = \"1/10\"\nat = \"0us\"\n";
        SmallFabric lossy(plan);
        lossy.Post(0, 1, 1000 * 4096);
        lossy.Run();
        const auto sent = static_cast<double>(lossy.fabric->GetNic(0)->GetDataSent());
        const auto lost = static_cast<double>(lossy.fabric->GetCounters().dataDropped);
        NS_TEST_EXPECT_MSG_GT(sent, 1000, "lost packets are sent again");
        NS_TEST_EXPECT_MSG_EQ_TOL(lost,
                                  sent / 10,
                                  3.5 * std::sqrt(sent * 0.09),
                                  "a tenth, within 3.5 standard deviations");
    }

    std::vector<uint32_t> m_dropped; //!< PSNs of dropped packets
};

/// The suite.
class EvenkeelFabricTestSuite : public TestSuite
{
  public:
    EvenkeelFabricTestSuite()
        : TestSuite("evenkeel-fabric")
    {
        AddTestCase(new IdlePathTestCase);
        AddTestCase(new PunctualTestCase);
        AddTestCase(new TrimTestCase);
        AddTestCase(new EcnTestCase);
        AddTestCase(new PfcTestCase);
        AddTestCase(new FaultTestCase);
    }
};

EvenkeelFabricTestSuite g_evenkeelFabricTestSuite; //!< registers itself

} // namespace
