// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-ip-site.h"

#include "ns3/boolean.h"
#include "ns3/failure-helper.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// TCP settings that suit the rates and delays of a fabric. A receiver must not delay
/// acknowledgements for longer than its sender's timeout.
const std::map<std::string, std::string> TCP{{"ns3::TcpSocket::SegmentSize", "1448"},
                                             {"ns3::TcpSocket::SndBufSize", "4000000"},
                                             {"ns3::TcpSocket::RcvBufSize", "4000000"},
                                             {"ns3::TcpSocket::DelAckTimeout", "100us"},
                                             {"ns3::TcpSocketBase::MinRto", "2ms"}};

/// Returns these settings with a congestion control.
std::map<std::string, std::string>
TcpWith(const std::string& congestionControl)
{
    auto values = TCP;
    values["ns3::TcpL4Protocol::SocketType"] = congestionControl;
    return values;
}

/// Tests a transfer on an idle path.
class BulkTestCase : public TestCase
{
  public:
    BulkTestCase()
        : TestCase("a TCP transfer on an idle path takes the time of its bytes and slow start")
    {
    }

  private:
    void DoRun() override
    {
        const Defaults defaults(TCP);
        TestWhole(4000000);
        TestMiddle(4000000);
    }

    /**
     * @brief Runs a transfer to its end.
     * @param bytes of the transfer
     */
    void TestWhole(uint64_t bytes)
    {
        IpSite site;
        site.Make(2, 2, 2);
        site.StartTcp(0, 3, bytes);
        Simulator::Stop(MilliSeconds(50));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_received[0], bytes, "all bytes");
        // Frames have 1448 B of data, 20 B of IP, 32 B of TCP with time stamps and 18 B of
        // Ethernet, followed by the gap. The handshake takes a round-trip time. Slow start doubles
        // 10 segments in each further one, up to about 50, which fill a round-trip time.
        const double segments = double(bytes) / 1448;
        const double full = segments * (1448 + 20 + 32 + 18 + 20) * 0.08;
        const double roundTrip = 2 * 4 * (500 + 0.08 * 800);
        NS_TEST_EXPECT_MSG_GT(double(site.m_finishedNs[0]), full + 1.5 * roundTrip, "the bytes");
        NS_TEST_EXPECT_MSG_LT(double(site.m_finishedNs[0]), full + 7 * roundTrip, "slow start");
        const FabricIpCounters& counters = site.m_fabric->GetIpCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.dropped, 0, "no drops");
        NS_TEST_EXPECT_MSG_EQ(counters.marked, 0, "no marks: TCP is not ECN-capable");
        NS_TEST_EXPECT_MSG_EQ(site.IsConserved(), true, "conservation");
    }

    /**
     * @brief Stops in the middle of transfers.
     * @param bytes of each
     */
    void TestMiddle(uint64_t bytes)
    {
        IpSite site;
        site.Make(2, 2, 2);
        for (const uint16_t host : {0, 1})
        {
            site.StartTcp(host, 3, bytes, PORT + host);
        }
        Simulator::Stop(NanoSeconds(150001));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(site.m_fabric->CountIpInFlight(), 50, "in queues and on wires");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->CountIpInFlight(),
                              site.m_fabric->GetPool().GetInFlight(),
                              "and nothing else is there");
        NS_TEST_EXPECT_MSG_EQ(site.IsConserved(), true, "conservation");
    }
};

/// Tests that switches mark DCTCP packets, which keeps queues short.
class EcnTestCase : public TestCase
{
  public:
    EcnTestCase()
        : TestCase("DCTCP sees the marks of switches, and queues stay short")
    {
    }

  private:
    /// The results of a run.
    struct Result
    {
        uint64_t finished{0}; //!< completed transfers
        uint64_t marked{0};   //!< packets that arrived with a mark, by the fabric's count
        uint64_t seen{0};     //!< marked packets in the headers that IP stacks received
        uint64_t queue{0};    //!< longest queue of a switch, in bytes
    };

    /**
     * @param congestionControl of TCP
     * @param ecn true if switches mark
     * @return the results of four transfers to one host
     */
    static Result Run(const std::string& congestionControl, bool ecn)
    {
        const Defaults defaults(TcpWith(congestionControl));
        IpSite site("10Gbps");
        site.m_helper.SetSwitchAttribute("Ecn", BooleanValue(ecn));
        site.m_helper.SetSwitchAttribute("EcnKmin", UintegerValue(60000));
        site.m_helper.SetSwitchAttribute("EcnKmax", UintegerValue(60000));
        site.Make(1, 1, 5);
        Result result;
        site.m_helper.GetHosts().Get(4)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "LocalDeliver",
            Callback<void, const Ipv4Header&, Ptr<const Packet>, uint32_t>(
                [&result](const Ipv4Header& header, Ptr<const Packet>, uint32_t) {
                    result.seen += header.GetEcn() == Ipv4Header::ECN_CE ? 1 : 0;
                }));
        for (uint16_t host = 0; host < 4; ++host)
        {
            site.StartTcp(host, 4, 2000000, PORT + host);
        }
        Simulator::Stop(MilliSeconds(50));
        Simulator::Run();
        result.finished = std::count(site.m_received.begin(), site.m_received.end(), 2000000);
        result.marked = site.m_fabric->GetIpCounters().marked;
        result.queue = site.m_fabric->GetQueueBytesMax();
        return result;
    }

    void DoRun() override
    {
        const Result dctcp = Run("ns3::TcpDctcp", true);
        NS_TEST_EXPECT_MSG_EQ(dctcp.finished, 4, "transfers of DCTCP");
        NS_TEST_EXPECT_MSG_GT(dctcp.marked, 100, "marks");
        NS_TEST_EXPECT_MSG_EQ(dctcp.seen, dctcp.marked, "reach the stack");
        const Result unmarked = Run("ns3::TcpDctcp", false);
        NS_TEST_EXPECT_MSG_EQ(unmarked.finished, 4, "transfers without marks");
        NS_TEST_EXPECT_MSG_EQ(unmarked.marked + unmarked.seen, 0, "no marks");
        NS_TEST_EXPECT_MSG_GT(unmarked.queue, 4 * dctcp.queue, "and long queues");
        const Result reno = Run("ns3::TcpNewReno", true);
        NS_TEST_EXPECT_MSG_EQ(reno.finished, 4, "transfers of NewReno");
        NS_TEST_EXPECT_MSG_EQ(reno.marked + reno.seen, 0, "it is not ECN-capable");
    }
};

/// Tests that TCP recovers from drops in a small buffer, alongside RDMA.
class DropsTestCase : public TestCase
{
  public:
    DropsTestCase()
        : TestCase("TCP recovers drops of a small buffer, beside RDMA in the same queue")
    {
    }

  private:
    void DoRun() override
    {
        const Defaults defaults(TCP);
        IpSite site("10Gbps");
        site.m_helper.SetSwitchAttribute("BufferBytes", UintegerValue(60000));
        site.m_helper.SetNicAttribute("RetransmitTimeout", StringValue("100us"));
        site.Make(1, 1, 4);
        uint64_t dropped = 0;
        for (uint32_t port = 0; port < site.m_fabric->GetNPorts(); ++port)
        {
            site.m_fabric->GetPort(port).TraceConnectWithoutContext(
                "IpDrop",
                Callback<void, Ptr<const Packet>>([&dropped](Ptr<const Packet>) { ++dropped; }));
        }
        site.StartTcp(0, 3, 1000000, PORT);
        site.StartTcp(1, 3, 1000000, PORT + 1);
        site.m_fabric->GetNic(2)->PostMessage(site.m_fabric->GetNic(3), 1000000);
        Simulator::Stop(MilliSeconds(500));
        Simulator::Run();
        for (const uint64_t received : site.m_received)
        {
            NS_TEST_EXPECT_MSG_EQ(received, 1000000, "all bytes");
        }
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetVerdict(), Fabric::COMPLETED, "the message");
        const FabricIpCounters& counters = site.m_fabric->GetIpCounters();
        NS_TEST_EXPECT_MSG_GT(counters.dropped, 0, "drops of IP");
        NS_TEST_EXPECT_MSG_EQ(counters.dropped, dropped, "are traced");
        NS_TEST_EXPECT_MSG_GT(site.m_fabric->GetCounters().dataDropped, 0, "drops of RDMA");
        NS_TEST_EXPECT_MSG_EQ(counters.sent, counters.delivered + dropped, "conservation");
    }
};

/// Tests that a failing link loses packets, and that TCP continues over another.
class FailureTestCase : public TestCase
{
  public:
    FailureTestCase()
        : TestCase("a link that fails loses packets of TCP, which goes on over another")
    {
    }

  private:
    /**
     * @param spine the failing spine; if it does not exist, nothing fails
     * @return bytes that each spine forwarded, then lost packets, and 1 if the transfer completed
     */
    static std::vector<uint64_t> Run(uint32_t spine)
    {
        const Defaults defaults(TCP);
        IpSite site("10Gbps");
        site.Make(2, 2, 1);
        FailureHelper failures(site.m_helper);
        failures.SetDetection(MicroSeconds(20));
        failures.SetConvergence(MicroSeconds(100));
        if (spine < 2)
        {
            failures.Down("leaf0-spine" + std::to_string(spine), MicroSeconds(300));
        }
        site.StartTcp(0, 1, 2000000);
        Simulator::Stop(MilliSeconds(100));
        Simulator::Run();
        std::vector<uint64_t> result;
        for (const uint32_t each : {0, 1})
        {
            // Links 2 and 3 go from leaf 0 to the spines.
            result.push_back(site.m_fabric->GetPort(2 * (2 + each)).GetCarriedBytes());
        }
        result.push_back(site.m_fabric->GetIpCounters().dropped);
        result.push_back(site.m_received[0] == 2000000 && site.IsConserved() ? 1 : 0);
        return result;
    }

    void DoRun() override
    {
        const auto intact = Run(2);
        NS_TEST_EXPECT_MSG_EQ(intact[3], 1, "it completes");
        NS_TEST_EXPECT_MSG_EQ(intact[2], 0, "nothing is lost");
        const uint32_t used = intact[0] > 0 ? 0 : 1;
        NS_TEST_EXPECT_MSG_EQ(intact[1 - used], 0, "one flow, one path");
        const auto failed = Run(used);
        NS_TEST_EXPECT_MSG_EQ(failed[3], 1, "it completes in spite of the failure");
        NS_TEST_EXPECT_MSG_GT(failed[2], 10, "packets are lost");
        NS_TEST_EXPECT_MSG_GT(failed[1 - used], 1000000, "the rest takes the other path");
        NS_TEST_EXPECT_MSG_LT(failed[used], intact[used], "not that which failed");
    }
};

/// Tests switch policies.
class PoliciesTestCase : public TestCase
{
  public:
    PoliciesTestCase()
        : TestCase("switches forward IP by their policy: flows, or packets, over all spines")
    {
    }

  private:
    /**
     * @param policy of switches
     * @param flows number of transfers
     * @return number of spines that carried traffic; 0 if a transfer is incomplete
     */
    static uint32_t Run(const std::string& policy, uint16_t flows)
    {
        const Defaults defaults(TCP);
        IpSite site;
        site.m_helper.SetPolicy(policy);
        site.Make(2, 4, 1);
        for (uint16_t flow = 0; flow < flows; ++flow)
        {
            site.StartTcp(0, 1, 100000, PORT + flow);
        }
        Simulator::Stop(MilliSeconds(200));
        Simulator::Run();
        uint32_t spines = 0;
        for (uint32_t spine = 0; spine < 4; ++spine)
        {
            spines += site.m_fabric->GetPort(2 * (2 + spine)).GetCarriedBytes() > 50000 ? 1 : 0;
        }
        const bool whole =
            std::count(site.m_received.begin(), site.m_received.end(), 100000) == flows;
        return whole && site.IsConserved() ? spines : 0;
    }

    void DoRun() override
    {
        for (const std::string policy : {"ecmp", "reps", "flowlet", "ethereal", "conga"})
        {
            NS_TEST_EXPECT_MSG_EQ(Run(policy, 32), 4, policy << ": flows");
        }
        for (const std::string policy : {"ecmp", "reps", "ethereal"})
        {
            NS_TEST_EXPECT_MSG_EQ(Run(policy, 1), 1, policy << ": a path for a flow");
        }
        for (const std::string policy : {"switch-rr", "switch-random", "drill", "ofan", "jsq"})
        {
            NS_TEST_EXPECT_MSG_EQ(Run(policy, 4), 4, policy << ": packets");
        }
    }
};

/// The suite.
class EvenkeelIpTcpTestSuite : public TestSuite
{
  public:
    EvenkeelIpTcpTestSuite()
        : TestSuite("evenkeel-ip-tcp")
    {
        AddTestCase(new BulkTestCase);
        AddTestCase(new EcnTestCase);
        AddTestCase(new DropsTestCase);
        AddTestCase(new FailureTestCase);
        AddTestCase(new PoliciesTestCase);
    }
};

EvenkeelIpTcpTestSuite g_evenkeelIpTcpTestSuite; //!< registers itself

} // namespace
