// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../model/roce-bytes.h"
#include "evenkeel-class-site.h"

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/fabric-classes.h"
#include "ns3/rdma-nic-helper.h"
#include "ns3/rdma-qp.h"
#include "ns3/test.h"

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// Tests that a strict class waits for at most one packet of another class with a long queue.
class StrictTestCase : public TestCase
{
  public:
    StrictTestCase()
        : TestCase("a packet of a strict class waits for at most one of another class")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool isStrict : {true, false})
        {
            ClassSite site;
            site.m_helper.AddClass("bulk");
            site.m_helper.AddClass("urgent",
                                   isStrict ? FabricHelper::STRICT : FabricHelper::WEIGHTED);
            site.Make(1, 1, 4);
            // In the second round its packet belongs to bulk, and waits behind all others.
            site.Post("bulk", 1, 0, 200);
            site.Post("bulk", 2, 0, 200);
            site.Post(isStrict ? "urgent" : "bulk", 3, 0, 1, MicroSeconds(40));
            Simulator::Run();
            const uint64_t idle = 2 * (DATA * BYTE + LINK);
            const uint64_t time = site.TimeOf(2);
            NS_TEST_EXPECT_MSG_EQ((time >= idle), true, time);
            NS_TEST_EXPECT_MSG_EQ((time <= idle + BUSY), isStrict, time);
            NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetVerdict(), Fabric::COMPLETED, "verdict");
            NS_TEST_EXPECT_MSG_EQ(site.m_fabric->CountDataInFlight(), 0, "in flight");
        }
    }
};

/// Tests the shares of weighted classes at a switch and at a NIC.
class WeightTestCase : public TestCase
{
  public:
    WeightTestCase()
        : TestCase("weights of 3 to 1 are bytes of 3 to 1, within a packet")
    {
    }

  private:
    void DoRun() override
    {
        // First from two hosts, so that the classes meet at the switch; then from one.
        for (const uint32_t other : {2, 1})
        {
            ClassSite site;
            site.m_helper.AddClass("three", FabricHelper::WEIGHTED, 3);
            site.m_helper.AddClass("one");
            site.Make(1, 1, 3);
            const bool meetAtNic = other == 1;
            site.Record(meetAtNic ? Ptr<FabricPort>(site.m_fabric->GetNic(1)) : site.PortToFirst());
            site.Post("three", 1, 0, 100);
            site.Post("one", other, 0, 100);
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(site.m_sent.size(), 200, site.m_sent);
            NS_TEST_EXPECT_MSG_EQ(CountIn(site.m_sent, 8, 80, '0'), 60, site.m_sent);
            NS_TEST_EXPECT_MSG_EQ(CountIn(site.m_sent, 8, 80, '1'), 20, site.m_sent);
            NS_TEST_EXPECT_MSG_NE(site.m_sent.find("000100010001"), std::string::npos, "turns");
            NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetPort(0).GetWaitingBytesOf(1), 0, "queue");
        }
    }
};

/// Tests that PFC pauses one class only, and protects only classes that enable it.
class ClassPauseTestCase : public TestCase
{
  public:
    ClassPauseTestCase()
        : TestCase("priority flow control pauses one class of a link")
    {
    }

  private:
    /// Counts a change of a class.
    void Paused(uint32_t trafficClass, bool paused)
    {
        NS_TEST_EXPECT_MSG_EQ(trafficClass, 0, "the class that is paused");
        ++(paused ? m_pauses : m_resumes);
    }

    /// Runs an incast of a protected class next to a message of another class, whose queue is
    /// empty.
    void RunBeside()
    {
        ClassSite site;
        site.m_helper.SetSwitchAttribute("Pfc", BooleanValue(true));
        site.m_helper.SetSwitchAttribute("BufferBytes", UintegerValue(400000));
        site.m_helper.AddClass("paused");
        site.m_helper.AddClass("open", FabricHelper::STRICT);
        site.Make(1, 1, 5);
        for (uint32_t src = 1; src < 4; ++src)
        {
            site.m_fabric->GetNic(src)->TraceConnectWithoutContext(
                "ClassPause",
                MakeCallback(&ClassPauseTestCase::Paused, this));
            site.Post("paused", src, 0, 100);
        }
        // It begins while the other class of its NIC is paused.
        site.Post("open", 1, 4, 50, MicroSeconds(20));
        bool wasPaused = false;
        Simulator::Schedule(MicroSeconds(20), [&] {
            const Ptr<RdmaNic> nic = site.m_fabric->GetNic(1);
            wasPaused = nic->IsClassPaused(0) && !nic->IsClassPaused(1) && nic->IsPaused();
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(wasPaused, true, "class 0 alone is paused");
        const uint64_t idle = 49 * BUSY + 2 * (DATA * BYTE + LINK);
        NS_TEST_EXPECT_MSG_EQ(site.TimeOf(3), idle, "no packet of the other class waits");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetCounters().dataDropped, 0, "drops");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->HasHeadroomFor(DATA), true, "headroom");
        for (const Fabric::Pause& pause : site.m_fabric->GetPauses())
        {
            NS_TEST_EXPECT_MSG_EQ(pause.trafficClass, 0, "the class that is paused");
        }
    }

    /// Runs an incast of a class without PFC.
    void RunUnprotected()
    {
        ClassSite site;
        site.m_helper.SetSwitchAttribute("Pfc", BooleanValue(true));
        site.m_helper.SetSwitchAttribute("BufferBytes", UintegerValue(400000));
        site.m_helper.AddClass("paused");
        site.m_helper.AddClass("dropped", FabricHelper::WEIGHTED, 1, FabricHelper::UNPROTECTED);
        site.Make(1, 1, 4);
        for (uint32_t src = 1; src < 4; ++src)
        {
            site.Post("dropped", src, 0, 100);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetPauses().size(), 0, "pauses");
        NS_TEST_EXPECT_MSG_GT(site.m_fabric->GetDataDroppedOf(1), 0, "drops");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetDataDroppedOf(1),
                              site.m_fabric->GetCounters().dataDropped,
                              "all of that class");
    }

    void DoRun() override
    {
        RunBeside();
        NS_TEST_EXPECT_MSG_GT(m_pauses, 0, "NICs are paused");
        NS_TEST_EXPECT_MSG_EQ(m_pauses, m_resumes, "NICs are resumed as often");
        RunUnprotected();
    }

    uint64_t m_pauses{0};  //!< pauses seen by the trace sink
    uint64_t m_resumes{0}; //!< resumes seen by the trace sink
};

/// Tests code points and frames in the bytes of captures.
class CodePointTestCase : public TestCase
{
  public:
    CodePointTestCase()
        : TestCase("captures have the code point of the class, and frames its priority")
    {
    }

  private:
    /**
     * @param packet the bytes of a packet
     * @param at index of a byte
     * @return the 16-bit integer at that index
     */
    static uint32_t Short(Ptr<const Packet> packet, uint32_t at)
    {
        std::vector<uint8_t> bytes(packet->GetSize());
        packet->CopyData(bytes.data(), packet->GetSize());
        return static_cast<uint32_t>(bytes[at]) << 8 | bytes[at + 1];
    }

    /**
     * @param hasClasses true if the fabric has classes
     * @return the code points of the packets that pass a NIC, data first
     */
    static std::set<uint32_t> CodePoints(bool hasClasses)
    {
        ClassSite site;
        if (hasClasses)
        {
            site.m_helper.AddClass("zero");
            site.m_helper.AddClass("one");
            site.m_helper.AddClass("two");
        }
        site.Make(1, 1, 2);
        std::set<uint32_t> points;
        site.m_fabric->GetNic(0)->TraceConnectWithoutContext(
            "PromiscSniffer",
            Callback<void, Ptr<const Packet>>([&points](Ptr<const Packet> packet) {
                points.insert((Short(packet, 14) & 0xff) >> 2);
            }));
        site.m_fabric->GetNic(1)->PostMessage(site.m_fabric->GetNic(0),
                                              10 * PAYLOAD,
                                              Time(0),
                                              hasClasses ? site.m_fabric->GetStreamIn("two") : 0);
        Simulator::Run();
        return points;
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ((CodePoints(false) == std::set<uint32_t>{26}), true, "no classes");
        NS_TEST_EXPECT_MSG_EQ((CodePoints(true) == std::set<uint32_t>{16, 56}), true, "class 2");
        for (uint32_t trafficClass = 0; trafficClass < FABRIC_MOST_CLASSES; ++trafficClass)
        {
            RoceBytes bytes;
            bytes.SetHasClasses(true);
            FabricPacket frame;
            frame.kind = FabricPacketKind::PAUSE;
            frame.SetTrafficClass(trafficClass);
            Ptr<Packet> pause = bytes.MakePacket(frame);
            frame.kind = FabricPacketKind::RESUME;
            Ptr<Packet> resume = bytes.MakePacket(frame);
            NS_TEST_EXPECT_MSG_EQ(pause->GetSize(), 60, "the smallest frame");
            NS_TEST_EXPECT_MSG_EQ(Short(pause, 16), 1U << trafficClass, "enabled priorities");
            NS_TEST_EXPECT_MSG_EQ(Short(resume, 16), 1U << trafficClass, "enabled priorities");
            for (uint32_t priority = 0; priority < 8; ++priority)
            {
                const uint32_t time = priority == trafficClass ? 0xffff : 0;
                NS_TEST_EXPECT_MSG_EQ(Short(pause, 18 + 2 * priority), time, "time of a pause");
                NS_TEST_EXPECT_MSG_EQ(Short(resume, 18 + 2 * priority), 0, "time of a resume");
            }
        }
    }
};

/// Tests the class of IP packets, and how they alternate with RDMA at a NIC.
class IpClassTestCase : public TestCase
{
  public:
    IpClassTestCase()
        : TestCase("IP packets have the class of their code point, and take turns with RDMA")
    {
    }

  private:
    /**
     * @brief Sends datagrams from host 1, alongside a message of the first class.
     * @param dscp of the datagrams
     * @param packets of the message
     * @return the packets that started at host 1
     */
    static std::string SentWith(uint8_t dscp, uint64_t packets)
    {
        ClassSite site;
        site.m_helper.AddClass("three", FabricHelper::WEIGHTED, 3);
        site.m_helper.AddClass("one");
        site.m_helper.AddClass("urgent", FabricHelper::STRICT);
        site.Make(1, 1, 2);
        site.Receive(0);
        site.Record(site.m_fabric->GetNic(1));
        site.SendUdpWith(dscp, 12);
        if (packets > 0)
        {
            site.Post("three", 1, 0, packets);
        }
        Simulator::Run();
        return site.m_arrivals[0].packets == 12 ? site.m_sent : "lost: " + site.m_sent;
    }

    void DoRun() override
    {
        const std::string twelve(12, 'a');
        for (const uint8_t unknown : {0, 26, 46, 56})
        {
            NS_TEST_EXPECT_MSG_EQ(SentWith(unknown, 0), twelve, "DSCP " << +unknown);
        }
        NS_TEST_EXPECT_MSG_EQ(SentWith(8, 0), std::string(12, 'b'), "DSCP 8");
        NS_TEST_EXPECT_MSG_EQ(SentWith(16, 0), std::string(12, 'c'), "DSCP 16");
        // In the same class, IP and RDMA alternate, as they do without classes.
        const std::string same = SentWith(0, 100);
        NS_TEST_EXPECT_MSG_NE(same.find("00a0a0a0a0a0a0a0a0a0a0a0a00"), std::string::npos, same);
        // In a different class, IP has the weight of that class.
        const std::string other = SentWith(8, 100);
        NS_TEST_EXPECT_MSG_NE(other.find("b000b000b000b000b000b"), std::string::npos, other);
        NS_TEST_EXPECT_MSG_EQ(CountIn(other, 0, other.size(), 'b'), 12, other);
        // In a strict class, IP goes first.
        const std::string first = SentWith(16, 100);
        NS_TEST_EXPECT_MSG_NE(first.find("0" + std::string(12, 'c') + "0"),
                              std::string::npos,
                              first);
    }
};

/// Tests how queue pairs, connections and workloads choose a class.
class ChoiceTestCase : public TestCase
{
  public:
    ChoiceTestCase()
        : TestCase("queue pairs, connections and workloads have the class of their name")
    {
    }

  private:
    void DoRun() override
    {
        ClassSite site;
        site.m_helper.AddClass("zero");
        site.m_helper.AddClass("one");
        site.m_helper.AddClass("two");
        CollectiveHelper collective("incast");
        collective.SetBytes(PAYLOAD);
        collective.Set("fan_in", UintegerValue(1));
        collective.SetClass("one");
        collective.Install(site.m_helper);
        site.Make(1, 1, 2);
        const Ptr<RdmaNic> a = site.m_fabric->GetNic(0);
        const Ptr<RdmaNic> b = site.m_fabric->GetNic(1);
        site.Record(a);
        site.Record(b);
        Simulator::Schedule(MicroSeconds(10), [=] {
            RdmaNicHelper::ConnectQps(b, a, "two").first->PostWrite(PAYLOAD);
        });
        Simulator::Schedule(MicroSeconds(20), [=] {
            // Queue pairs that choose no class belong to the first one, regardless of the
            // workload's.
            RdmaNicHelper::ConnectQps(a, b).first->PostWrite(PAYLOAD);
        });
        Simulator::Schedule(MicroSeconds(30), [=] {
            // A request of one packet, and its response.
            RdmaNicHelper::ConnectQps(a, b, "two").first->PostRead(PAYLOAD);
        });
        Simulator::Schedule(MicroSeconds(40), [=] {
            // Streams of the workload have its class, and the default stream is one of them.
            a->PostMessage(b, PAYLOAD);
        });
        std::string refused;
        try
        {
            a->CreateQp(b, "three");
        }
        catch (const std::invalid_argument& error)
        {
            refused = error.what();
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_sent, "120221", "classes of what started");
        NS_TEST_EXPECT_MSG_EQ(refused,
                              "there is no traffic class 'three': the fabric has 'zero', 'one', "
                              "'two'",
                              "an unknown name");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetClasses().size(), 3, "classes");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetClasses()[2].name, "two", "names");
    }
};

/// The suite.
class EvenkeelClassesTestSuite : public TestSuite
{
  public:
    EvenkeelClassesTestSuite()
        : TestSuite("evenkeel-classes")
    {
        AddTestCase(new StrictTestCase);
        AddTestCase(new WeightTestCase);
        AddTestCase(new ClassPauseTestCase);
        AddTestCase(new CodePointTestCase);
        AddTestCase(new IpClassTestCase);
        AddTestCase(new ChoiceTestCase);
    }
};

EvenkeelClassesTestSuite g_evenkeelClassesTestSuite; //!< registers itself

} // namespace
