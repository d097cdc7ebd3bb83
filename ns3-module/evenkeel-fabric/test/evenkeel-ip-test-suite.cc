// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-ip-site.h"

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-interface-container.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// Picoseconds per byte at 100 Gbps.
constexpr uint64_t BYTE = 80;
/// Propagation delay of a link, in picoseconds.
constexpr uint64_t LINK = 500000;

/// Gap after each packet, in bytes.
constexpr uint64_t GAP = 20;
/// Frame of an RDMA data packet, in bytes.
constexpr uint64_t DATA = 4158;

/**
 * @brief Compares the time of datagrams on an idle path with the closed form:
 * n (D + gap) / R - gap / R + (H - 1) D / R + H p.
 */
class IdlePathTestCase : public TestCase
{
  public:
    IdlePathTestCase()
        : TestCase("datagrams on an idle path take the time of the closed form")
    {
    }

  private:
    /**
     * @param leaves 1 for two links, 2 for four
     * @param packets number of datagrams
     * @param payload of each
     */
    void Check(uint32_t leaves, uint32_t packets, uint32_t payload)
    {
        IpSite site;
        site.Make(leaves, 1, 2);
        const uint32_t last = 2 * leaves - 1;
        site.Receive(last);
        site.SendUdp(0, last, packets, payload);
        Simulator::Run();
        const uint64_t hops = leaves == 1 ? 2 : 4;
        const uint64_t frame = std::max<uint64_t>(payload + UDP_HEADERS, 64);
        const uint64_t expected =
            (packets * (frame + GAP) - GAP + (hops - 1) * frame) * BYTE + hops * LINK;
        const Arrivals& got = site.m_arrivals[last];
        NS_TEST_EXPECT_MSG_EQ(got.packets, packets, "all arrive");
        NS_TEST_EXPECT_MSG_EQ(got.bytes, uint64_t(packets) * payload, "with all their bytes");
        NS_TEST_EXPECT_MSG_EQ(got.lastNs, int64_t(expected / 1000), packets << " of " << payload);
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetPort(0).GetCarriedBytes(),
                              packets * frame,
                              "bytes of the link");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetCounters().hops, packets * hops, "hops");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().delivered, packets, "delivered");
        NS_TEST_EXPECT_MSG_EQ(site.IsConserved(), true, "conservation");
    }

    void DoRun() override
    {
        Check(1, 1, 954);
        Check(1, 50, 954);
        Check(2, 50, 1472);
        Check(2, 7, 1);
        TestFragments();
        TestIpv6();
    }

    /// Tests that a datagram longer than the MTU arrives in fragments and is reassembled.
    void TestFragments()
    {
        IpSite site;
        site.m_helper.SetNicAttribute("Mtu", UintegerValue(1500));
        site.Make(1, 1, 2);
        site.Receive(1);
        site.SendUdp(0, 1, 1, 20000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[1].packets, 1, "one datagram");
        NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[1].bytes, 20000, "whole");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().sent, 14, "in 20008 / 1480 packets");
    }

    /// Tests IPv6, with a global address and with a link-local one.
    void TestIpv6()
    {
        for (const uint32_t index : {0, 1})
        {
            IpSite site;
            site.Make(2, 2, 1);
            const Ipv6InterfaceContainer addresses =
                Ipv6AddressHelper("2001:db8::", 64).Assign(site.m_helper.GetNics());
            uint64_t bytes = 0;
            Ptr<Socket> to = Socket::CreateSocket(site.m_helper.GetHosts().Get(1),
                                                  UdpSocketFactory::GetTypeId());
            to->Bind(Inet6SocketAddress(Ipv6Address::GetAny(), PORT));
            to->SetRecvCallback(Callback<void, Ptr<Socket>>(
                [&bytes](Ptr<Socket> socket) { bytes += socket->Recv()->GetSize(); }));
            Ptr<Socket> from = Socket::CreateSocket(site.m_helper.GetHosts().Get(0),
                                                    UdpSocketFactory::GetTypeId());
            from->Bind6();
            from->BindToNetDevice(site.m_helper.GetNics().Get(0));
            from->Connect(Inet6SocketAddress(addresses.GetAddress(1, index), PORT));
            // IPv6 addresses can be used one second after the start, so send after two.
            Simulator::Schedule(Seconds(2), [from] { from->Send(Create<Packet>(3000)); });
            Simulator::Stop(Seconds(3));
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(bytes, 3000, "over IPv6");
            NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().sent, 1, "and nothing else");
        }
    }
};

/// Tests that IP and RDMA wait in the same queues and use the same wires.
class SharedTestCase : public TestCase
{
  public:
    SharedTestCase()
        : TestCase("a message takes longer by the time of the datagrams that go before its end")
    {
    }

  private:
    /**
     * @param from the host that sends datagrams to host 2
     * @param datagrams their number; the message from host 1 to host 2 has 100 packets
     * @return when the message completed, in picoseconds
     */
    static uint64_t Run(uint32_t from, uint32_t datagrams)
    {
        IpSite site;
        site.Make(1, 1, 3);
        site.Receive(2);
        if (datagrams > 0)
        {
            site.SendUdp(from, 2, datagrams, DATA - UDP_HEADERS);
        }
        site.m_fabric->GetNic(1)->PostMessage(site.m_fabric->GetNic(2), 100 * 4096);
        Simulator::Run();
        return site.m_arrivals[2].packets == datagrams && site.IsConserved()
                   ? site.m_fabric->GetCore().GetFlows()[0].completedPs
                   : 0;
    }

    void DoRun() override
    {
        const uint64_t alone = Run(0, 0);
        NS_TEST_EXPECT_MSG_GT(alone, 100 * DATA * BYTE, "it completes");
        for (const uint32_t datagrams : {1, 30, 90})
        {
            const uint64_t expected = alone + datagrams * (DATA + GAP) * BYTE;
            NS_TEST_EXPECT_MSG_EQ(Run(0, datagrams), expected, datagrams << " at the switch");
            NS_TEST_EXPECT_MSG_EQ(Run(1, datagrams), expected, datagrams << " at the NIC");
        }
        TestTurns();
    }

    /// Tests that IP and RDMA alternate at a NIC: each has half the rate while both have packets.
    void TestTurns()
    {
        IpSite site;
        site.Make(1, 1, 2);
        site.Receive(1);
        site.SendUdp(0, 1, 1000, DATA - UDP_HEADERS);
        site.m_fabric->GetNic(0)->PostMessage(site.m_fabric->GetNic(1), 100 * 4096);
        Simulator::Run();
        const uint64_t completed = site.m_fabric->GetCore().GetFlows()[0].completedPs;
        const uint64_t least = 199 * (DATA + GAP) * BYTE;
        NS_TEST_EXPECT_MSG_GT(completed, least, "a datagram before each packet but the first");
        NS_TEST_EXPECT_MSG_LT(completed, least + 3 * LINK + 6 * DATA * BYTE, "and no more");
    }
};

/// Tests that an idle IP stack does not change the results of RDMA.
class SilentTestCase : public TestCase
{
  public:
    SilentTestCase()
        : TestCase("with IP installed and silent, results of RDMA are the same numbers")
    {
    }

  private:
    /**
     * @param policy of switches and NICs
     * @param pfc true for priority flow control
     * @param ip true if hosts have an IP stack
     * @return times of flows, bytes of links, counters
     */
    static std::vector<uint64_t> Run(const std::string& policy, bool pfc, bool ip)
    {
        IpSite site;
        site.m_helper.SetNicAttribute("CongestionControl", StringValue("dcqcn"));
        site.m_helper.SetSwitchAttribute("Pfc", BooleanValue(pfc));
        site.m_helper.SetSwitchAttribute("BufferBytes", UintegerValue(300000));
        site.m_helper.SetPolicy(policy);
        CollectiveHelper collective("all-to-all");
        collective.SetBytes(800000);
        collective.Install(site.m_helper);
        site.m_fabric = site.m_helper.CreateLeafSpine(2, 2, 4);
        if (ip)
        {
            site.InstallIp(site.m_helper.GetNics());
        }
        Simulator::Run();
        std::vector<uint64_t> numbers{site.m_fabric->GetEventCount(),
                                      site.m_fabric->GetCounters().hops,
                                      site.m_fabric->GetCounters().dataDropped,
                                      site.m_fabric->GetCounters().pauses};
        for (const FabricFlow& flow : site.m_fabric->GetCore().GetFlows())
        {
            numbers.push_back(flow.completedPs);
        }
        for (uint32_t port = 0; port < site.m_fabric->GetNPorts(); ++port)
        {
            numbers.push_back(site.m_fabric->GetPort(port).GetCarriedBytes());
        }
        return numbers;
    }

    void DoRun() override
    {
        for (const std::string policy : {"ecmp", "reps", "ethereal"})
        {
            for (const bool pfc : {false, true})
            {
                const auto expected = Run(policy, pfc, false);
                NS_TEST_EXPECT_MSG_GT(expected[1], 0, policy << ": packets");
                NS_TEST_EXPECT_MSG_EQ((Run(policy, pfc, true) == expected), true, policy);
            }
        }
    }
};

/// Tests pauses, buffers of switches, and the queue of a NIC.
class QueuesTestCase : public TestCase
{
  public:
    QueuesTestCase()
        : TestCase("datagrams are paused by PFC, and dropped at full switches and NICs")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool pfc : {true, false})
        {
            IpSite site;
            site.m_helper.SetSwitchAttribute("Pfc", BooleanValue(pfc));
            site.m_helper.SetSwitchAttribute("BufferBytes", UintegerValue(200000));
            site.Make(1, 1, 4);
            site.Receive(3);
            uint64_t dropped = 0;
            for (uint32_t port = 0; port < site.m_fabric->GetNPorts(); ++port)
            {
                site.m_fabric->GetPort(port).TraceConnectWithoutContext(
                    "IpDrop",
                    Callback<void, Ptr<const Packet>>(
                        [&dropped](Ptr<const Packet>) { ++dropped; }));
            }
            for (const uint32_t host : {0, 1, 2})
            {
                site.SendUdp(host, 3, 300, 1000);
            }
            Simulator::Run();
            const FabricIpCounters& counters = site.m_fabric->GetIpCounters();
            NS_TEST_EXPECT_MSG_EQ(counters.sent, 900, "sent");
            NS_TEST_EXPECT_MSG_EQ(counters.delivered + counters.dropped, 900, "none is left");
            NS_TEST_EXPECT_MSG_EQ(counters.dropped, dropped, "drops are traced");
            NS_TEST_EXPECT_MSG_EQ((counters.dropped > 0), !pfc, "PFC prevents drops");
            NS_TEST_EXPECT_MSG_EQ((site.m_fabric->GetCounters().pauses > 0), pfc, "by pauses");
            NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[3].packets, counters.delivered, "delivered");
            NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetCounters().dataDropped, 0, "no data of RDMA");
        }
        TestDrops();
        TestNic();
    }

    /// Tests the exact number of drops. Three senders send 20 packets each to one receiver. In the
    /// time of 20 packets, 60 arrive and 20 leave. 10 are stored; the first passes the buffer.
    void TestDrops()
    {
        for (const bool shared : {false, true})
        {
            IpSite site;
            site.m_helper.SetFabricAttribute("Gap", UintegerValue(0));
            site.m_helper.SetSwitchAttribute("SharedBuffer", BooleanValue(shared));
            site.m_helper.SetSwitchAttribute("BufferBytes", UintegerValue(10 * DATA));
            site.Make(1, 1, 4);
            site.Receive(0);
            for (const uint32_t host : {1, 2, 3})
            {
                site.SendUdp(host, 0, 20, DATA - UDP_HEADERS);
            }
            Simulator::Run();
            const FabricIpCounters& counters = site.m_fabric->GetIpCounters();
            NS_TEST_EXPECT_MSG_EQ(counters.dropped, 60 - 20 - 10, "shared " << shared);
            NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetQueueBytesMax(), 10 * DATA, "it is full");
        }
    }

    /// Tests the IP queue of a NIC.
    void TestNic()
    {
        IpSite site;
        site.m_helper.SetNicAttribute("IpQueueBytes", UintegerValue(10460));
        site.Make(1, 1, 2);
        site.Receive(1);
        uint64_t dropped = 0;
        site.m_fabric->GetNic(0)->TraceConnectWithoutContext(
            "MacTxDrop",
            Callback<void, Ptr<const Packet>>(
                [&dropped](Ptr<const Packet> packet) { dropped += packet->GetSize(); }));
        site.SendUdp(0, 1, 25, 1000);
        // Once four have started, there is room for four others. The fifth starts after 4 (1046 +
        // 20) B.
        site.SendUdp(0, 1, 25, 1000, NanoSeconds(3 * 1066 * 80 / 1000 + 1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[1].packets, 10 + 4, "ten fit, and then four");
        NS_TEST_EXPECT_MSG_EQ(dropped, 36 * 1028, "the others are dropped before the wire");
        NS_TEST_EXPECT_MSG_EQ(site.IsConserved(), true, "conservation");
    }
};

/// Tests hosts with a port in each of two planes.
class PlanesTestCase : public TestCase
{
  public:
    PlanesTestCase()
        : TestCase("each port of a host carries IP, beside messages over all ports")
    {
    }

  private:
    /**
     * @param plane that carries datagrams
     * @param datagrams their number
     * @param packets of the message from host 0 to host 1; 0 for none
     * @return when the last datagram arrived, in nanoseconds; -1 if something is missing
     */
    static int64_t Run(uint32_t plane, uint32_t datagrams, uint32_t packets)
    {
        IpSite site;
        site.m_helper.SetPolicy("plane-jsq");
        site.m_fabric = site.m_helper.CreateTopology("multi-plane",
                                                     "planes",
                                                     UintegerValue(2),
                                                     "leaves",
                                                     UintegerValue(1),
                                                     "spines",
                                                     UintegerValue(1),
                                                     "hosts_per_leaf",
                                                     UintegerValue(2),
                                                     "host_rate",
                                                     StringValue("100Gbps"),
                                                     "fabric_rate",
                                                     StringValue("100Gbps"));
        NetDeviceContainer devices;
        for (uint32_t host = 0; host < 2; ++host)
        {
            devices.Add(site.m_fabric->GetNic(host)->GetPort(plane));
        }
        site.InstallIp(devices);
        site.Receive(1);
        site.SendUdp(0, 1, datagrams, DATA - UDP_HEADERS);
        if (packets > 0)
        {
            site.m_fabric->GetNic(0)->PostMessage(site.m_fabric->GetNic(1), packets * 4096);
        }
        Simulator::Run();
        const bool whole =
            site.m_arrivals[1].packets == datagrams && site.IsConserved() &&
            site.m_fabric->GetVerdict() == (packets > 0 ? Fabric::COMPLETED : Fabric::RUNNING);
        return whole ? site.m_arrivals[1].lastNs : -1;
    }

    void DoRun() override
    {
        for (const uint32_t plane : {0, 1})
        {
            const uint64_t alone = (40 * (DATA + GAP) - GAP + DATA) * BYTE + 2 * LINK;
            NS_TEST_EXPECT_MSG_EQ(Run(plane, 40, 0), int64_t(alone / 1000), "plane " << plane);
            const int64_t beside = Run(plane, 40, 200);
            NS_TEST_EXPECT_MSG_GT(beside, int64_t(alone / 1000), "the message takes turns");
            // An RDMA packet before each datagram, and acknowledgements.
            NS_TEST_EXPECT_MSG_LT(beside, int64_t(2.1 * alone / 1000), "no more than its turns");
        }
    }
};

/// The suite.
class EvenkeelIpTestSuite : public TestSuite
{
  public:
    EvenkeelIpTestSuite()
        : TestSuite("evenkeel-ip")
    {
        AddTestCase(new IdlePathTestCase);
        AddTestCase(new SharedTestCase);
        AddTestCase(new SilentTestCase);
        AddTestCase(new QueuesTestCase);
        AddTestCase(new PlanesTestCase);
    }
};

EvenkeelIpTestSuite g_evenkeelIpTestSuite; //!< registers itself

} // namespace
