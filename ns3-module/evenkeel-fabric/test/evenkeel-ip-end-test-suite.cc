// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../../evenkeel-lb/test/evenkeel-aborts.h"
#include "evenkeel-ip-site.h"

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/ethernet-header.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// Tests that ports that start each packet in a separate event have the same results.
class PunctualTestCase : public TestCase
{
  public:
    PunctualTestCase()
        : TestCase("trace sinks change no result of IP beside RDMA")
    {
    }

  private:
    /**
     * @param punctual true if each start is an event
     * @param pfc true for priority flow control
     * @param planes ports of each host
     * @return times, counters and bytes of links
     */
    static std::vector<uint64_t> Run(bool punctual, bool pfc, uint32_t planes)
    {
        const std::string value = punctual ? "true" : "false";
        const Defaults defaults(
            std::map<std::string, std::string>{{"ns3::FabricPort::Punctual", value}});
        IpSite site;
        site.m_helper.SetNicAttribute("CongestionControl", StringValue("dcqcn"));
        site.m_helper.SetSwitchAttribute("Pfc", BooleanValue(pfc));
        site.m_helper.SetSwitchAttribute("BufferBytes", UintegerValue(150000));
        site.m_helper.SetPolicy("drill");
        CollectiveHelper collective("all-to-all");
        collective.SetBytes(400000);
        collective.Install(site.m_helper);
        site.m_fabric = site.m_helper.CreateTopology("multi-plane",
                                                     "planes",
                                                     UintegerValue(planes),
                                                     "leaves",
                                                     UintegerValue(2),
                                                     "spines",
                                                     UintegerValue(2),
                                                     "hosts_per_leaf",
                                                     UintegerValue(2),
                                                     "host_rate",
                                                     StringValue("100Gbps"),
                                                     "fabric_rate",
                                                     StringValue("100Gbps"));
        site.InstallIp(site.m_helper.GetNics());
        for (uint32_t host = 0; host < 4; ++host)
        {
            site.Receive(host);
            for (const int64_t at : {0, 700, 1900, 20000})
            {
                site.SendUdp(host, (host + 2) % 4, 70, 1000 + 100 * host, NanoSeconds(at));
                site.SendUdp(host, 0, host == 0 ? 0 : 20, 3000, NanoSeconds(at + 450));
            }
        }
        Simulator::Run();
        std::vector<uint64_t> numbers{site.IsConserved() ? 1U : 0U};
        for (const FabricFlow& flow : site.m_fabric->GetCore().GetFlows())
        {
            numbers.push_back(flow.completedPs);
        }
        for (const auto& [host, arrivals] : site.m_arrivals)
        {
            numbers.push_back(arrivals.packets);
            numbers.push_back(static_cast<uint64_t>(arrivals.lastNs));
        }
        for (uint32_t port = 0; port < site.m_fabric->GetNPorts(); ++port)
        {
            numbers.push_back(site.m_fabric->GetPort(port).GetCarriedBytes());
        }
        numbers.push_back(site.m_fabric->GetIpCounters().dropped);
        numbers.push_back(site.m_fabric->GetCounters().dataDropped);
        numbers.push_back(site.m_fabric->GetCounters().pauses);
        return numbers;
    }

    void DoRun() override
    {
        for (const uint32_t planes : {1, 2})
        {
            for (const bool pfc : {false, true})
            {
                const auto expected = Run(false, pfc, planes);
                NS_TEST_EXPECT_MSG_EQ(expected[0], 1, "conservation");
                NS_TEST_EXPECT_MSG_GT(expected[1], 0, "flows complete");
                NS_TEST_EXPECT_MSG_EQ((Run(true, pfc, planes) == expected),
                                      true,
                                      planes << " planes, PFC " << pfc);
            }
        }
    }
};

/// Tests the bytes that trace sinks and stacks see.
class TracesTestCase : public TestCase
{
  public:
    TracesTestCase()
        : TestCase("sinks see frames of Ethernet at both ends, and packets of IP in the stack")
    {
    }

  private:
    void DoRun() override
    {
        IpSite site;
        site.Make(1, 1, 2);
        site.Receive(1);
        const Ptr<RdmaNic> from = site.m_fabric->GetNic(0);
        const Ptr<RdmaNic> to = site.m_fabric->GetNic(1);
        for (const Ptr<RdmaNic>& nic : {from, to})
        {
            for (const std::string name : {"PromiscSniffer", "MacTx", "MacRx"})
            {
                const std::string key = name + std::to_string(nic->GetHostNumber());
                nic->TraceConnectWithoutContext(
                    name,
                    Callback<void, Ptr<const Packet>>([this, key](Ptr<const Packet> packet) {
                        m_seen[key].push_back(packet->Copy());
                    }));
            }
        }
        site.SendUdp(0, 1, 3, 100);
        Simulator::Run();
        for (const std::string key : {"PromiscSniffer0", "PromiscSniffer1"})
        {
            NS_TEST_ASSERT_MSG_EQ(m_seen[key].size(), 3, key);
            Ptr<Packet> frame = m_seen[key][0];
            EthernetHeader ethernet(false);
            frame->RemoveHeader(ethernet);
            NS_TEST_EXPECT_MSG_EQ(ethernet.GetLengthType(), 0x0800, "EtherType");
            NS_TEST_EXPECT_MSG_EQ(ethernet.GetSource(), from->GetAddress(), "source");
            NS_TEST_EXPECT_MSG_EQ(ethernet.GetDestination(), to->GetAddress(), "destination");
            Ipv4Header ip;
            frame->RemoveHeader(ip);
            NS_TEST_EXPECT_MSG_EQ(ip.GetDestination(), site.m_addresses.GetAddress(1), "address");
            NS_TEST_EXPECT_MSG_EQ(frame->GetSize(), 108, "UDP");
        }
        for (const std::string key : {"MacTx0", "MacRx1"})
        {
            NS_TEST_ASSERT_MSG_EQ(m_seen[key].size(), 3, key);
            NS_TEST_EXPECT_MSG_EQ(m_seen[key][0]->GetSize(), 128, key);
        }
        NS_TEST_EXPECT_MSG_EQ(m_seen["MacRx0"].size() + m_seen["MacTx1"].size(), 0, "one way");
    }

    std::map<std::string, std::vector<Ptr<Packet>>> m_seen; //!< packets, by trace source and host
};

/// Tests packets that a NIC does not accept, and the duration of a run.
class EndsTestCase : public TestCase
{
  public:
    EndsTestCase()
        : TestCase("packets that no host takes are dropped, and IP does not end a run")
    {
    }

  private:
    void DoRun() override
    {
        {
            IpSite site;
            site.Make(1, 1, 2);
            const Ptr<RdmaNic> nic = site.m_fabric->GetNic(0);
            const auto sends = [&nic](Ptr<Packet> packet, uint16_t protocol = 0x0800) {
                return nic->Send(packet, nic->GetBroadcast(), protocol);
            };
            const char* self = "10.0.0.1";
            NS_TEST_EXPECT_MSG_EQ(sends(MakePacket(self, "10.0.0.2", 9000)), true, "the other");
            NS_TEST_EXPECT_MSG_EQ(sends(MakePacket(self, "10.0.0.2", 9001)), false, "above MTU");
            NS_TEST_EXPECT_MSG_EQ(sends(MakePacket(self, "10.0.0.3", 100)), false, "nobody's");
            NS_TEST_EXPECT_MSG_EQ(sends(MakePacket(self, self, 100)), false, "its own");
            NS_TEST_EXPECT_MSG_EQ(sends(MakePacket(self, "224.0.0.5", 100)), false, "multicast");
            NS_TEST_EXPECT_MSG_EQ(sends(MakePacket(self, "255.255.255.255", 100)), false, "all");
            NS_TEST_EXPECT_MSG_EQ(sends(MakePacket(self, "10.0.255.255", 100)), false, "subnet");
            NS_TEST_EXPECT_MSG_EQ(sends(MakePacket(self, "10.0.0.2", 100), 0x86DD), false, "IPv6");
            NS_TEST_EXPECT_MSG_EQ(sends(MakePacket(self, "10.0.0.2", 100), 0x0806), false, "ARP");
            NS_TEST_EXPECT_MSG_EQ(sends(Create<Packet>(0)), false, "nothing");
            NS_TEST_EXPECT_MSG_EQ(sends(Create<Packet>(19)), false, "too short");
            NS_TEST_EXPECT_MSG_EQ(nic->GetForeignDropped(), 10, "dropped before the wire");
            NS_TEST_EXPECT_MSG_EQ(nic->SetMtu(65518), false, "longer than 16 bits count");
            NS_TEST_EXPECT_MSG_EQ(nic->GetMtu(), 9000, "the MTU as it was");
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().delivered, 1, "one arrives");
        }
        TestSink();
        TestAddresses();
        TestGateway();
        TestEnds();
    }

    /// Tests a trace sink that sends another packet.
    void TestSink()
    {
        IpSite site;
        site.Make(1, 1, 2);
        const Ptr<RdmaNic> nic = site.m_fabric->GetNic(0);
        uint32_t left = 5;
        const auto sends = [&] {
            const Ptr<Packet> packet = MakePacket("10.0.0.1", "10.0.0.2", 100 + left);
            NS_TEST_EXPECT_MSG_EQ(nic->Send(packet, nic->GetBroadcast(), 0x0800), true, "sent");
        };
        nic->TraceConnectWithoutContext(
            "Enqueue",
            Callback<void, const FabricPacket&, Time>([&](const FabricPacket&, Time) {
                if (left > 0)
                {
                    --left;
                    sends();
                    sends();
                }
            }));
        sends();
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().delivered, 11, "all of them");
    }

    /// Tests an address that is assigned during the run.
    void TestAddresses()
    {
        IpSite site;
        site.Make(1, 1, 2);
        site.Receive(1);
        site.SendUdp(0, 1, 1, 10);
        const Ptr<Ipv4> ip = site.m_helper.GetHosts().Get(1)->GetObject<Ipv4>();
        Simulator::Schedule(MicroSeconds(10), [ip] {
            ip->AddAddress(1, Ipv4InterfaceAddress("10.0.7.7", "255.255.0.0"));
        });
        const Ptr<RdmaNic> nic = site.m_fabric->GetNic(0);
        Simulator::Schedule(MicroSeconds(20), [nic] {
            nic->Send(MakePacket("10.0.0.1", "10.0.7.7", 100), nic->GetBroadcast(), 0x0800);
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().delivered, 2, "both addresses");
    }

    /// Tests a host that is, by static routes, the gateway to a network beyond the fabric.
    void TestGateway()
    {
        IpSite site;
        site.Make(1, 1, 3);
        const Ptr<Node> gateway = site.m_helper.GetHosts().Get(1);
        NodeContainer outside(1);
        InternetStackHelper().Install(outside);
        const NetDeviceContainer link = PointToPointHelper().Install(gateway, outside.Get(0));
        const Ipv4InterfaceContainer ends =
            Ipv4AddressHelper("10.9.0.0", "255.255.255.0").Assign(link);
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        Ipv4StaticRoutingHelper routes;
        const auto of = [&routes](Ptr<Node> node) {
            return routes.GetStaticRouting(node->GetObject<Ipv4>());
        };
        of(site.m_helper.GetHosts().Get(0))->SetDefaultRoute(site.m_addresses.GetAddress(1), 1);
        of(outside.Get(0))->SetDefaultRoute(ends.GetAddress(0), 1);
        site.Receive(0);
        uint64_t outsideGot = 0;
        Ptr<Socket> socket = Socket::CreateSocket(outside.Get(0), UdpSocketFactory::GetTypeId());
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> from) {
            outsideGot += from->Recv()->GetSize();
            from->SendTo(Create<Packet>(70),
                         0,
                         InetSocketAddress(site.m_addresses.GetAddress(0), PORT));
        }));
        site.m_addresses.Add(ends.Get(1));
        site.SendUdp(0, 3, 1, 50);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(outsideGot, 50, "by the gateway");
        NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[0].bytes, 70, "and back");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().delivered, 2, "over the fabric");
    }

    /// Tests that the time limit and StopWhenDone apply to messages.
    void TestEnds()
    {
        {
            IpSite site;
            site.m_helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
            site.Make(1, 1, 2);
            site.Receive(1);
            site.SendUdp(0, 1, 1, 10);
            site.SendUdp(0, 1, 1, 10, Seconds(11));
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[1].packets, 2, "also after ten seconds");
            NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetVerdict(), Fabric::RUNNING, "no message");
        }
        IpSite site;
        site.m_helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
        site.Make(1, 1, 2);
        site.Receive(1);
        site.m_fabric->GetNic(0)->PostMessage(site.m_fabric->GetNic(1), 4096);
        site.SendUdp(0, 1, 1, 10);
        site.SendUdp(0, 1, 1, 10, MilliSeconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[1].packets, 1, "the run ended before the second");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetVerdict(), Fabric::COMPLETED, "with the message");
        // Packets sent after the end are dropped.
        const uint64_t before = site.m_fabric->GetNic(0)->GetForeignDropped();
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetNic(0)->GetForeignDropped(),
                              before + 1,
                              "dropped after the end");
    }
};

/// Tests calls that abort.
class RefusedTestCase : public TestCase
{
  public:
    RefusedTestCase()
        : TestCase("a packet that cannot have an effect ends the program with the reason")
    {
    }

  private:
    /**
     * @param reason part of the message
     * @param call a call that aborts
     */
    void Check(const std::string& reason, const std::function<void()>& call)
    {
        const std::string said = AbortMessageOf(call);
        NS_TEST_EXPECT_MSG_NE(said.find("evenkeel: RdmaNic::Send: "), std::string::npos, said);
        NS_TEST_EXPECT_MSG_NE(said.find(reason), std::string::npos, said);
    }

    void DoRun() override
    {
        Check("host 0 and host 2 both have the address 10.0.0.1: give each device", [] {
            IpSite site;
            site.m_fabric = site.m_helper.CreateLeafSpine(1, 1, 3);
            InternetStackHelper().Install(site.m_helper.GetHosts());
            const NetDeviceContainer nics = site.m_helper.GetNics();
            for (const uint32_t host : {0, 1, 2})
            {
                // Assign addresses directly: Ipv4AddressHelper would reject the duplicate.
                const Ptr<Ipv4> ip = nics.Get(host)->GetNode()->GetObject<Ipv4>();
                const uint32_t interface = ip->AddInterface(nics.Get(host));
                const char* address = host == 1 ? "10.0.0.2" : "10.0.0.1";
                ip->AddAddress(interface, Ipv4InterfaceAddress(address, "255.255.0.0"));
                ip->SetUp(interface);
                site.m_addresses.Add(ip, interface);
            }
            site.SendUdp(0, 1, 1, 10);
            Simulator::Run();
        });
    }
};

/// The suite.
class EvenkeelIpEndTestSuite : public TestSuite
{
  public:
    EvenkeelIpEndTestSuite()
        : TestSuite("evenkeel-ip-end")
    {
        AddTestCase(new PunctualTestCase);
        AddTestCase(new TracesTestCase);
        AddTestCase(new EndsTestCase);
        AddTestCase(new RefusedTestCase);
    }
};

EvenkeelIpEndTestSuite g_evenkeelIpEndTestSuite; //!< registers itself

} // namespace
