// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../model/fabric-ip.h"
#include "evenkeel-ip-site.h"

#include "ns3/boolean.h"
#include "ns3/failure-helper.h"
#include "ns3/rdma-nic-helper.h"
#include "ns3/rdma-qp.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// Time of calls that scripts make during a run.
const Time AT = MicroSeconds(1);

/// Tests that IP traffic does not hide events of queue pairs.
class VerbsTestCase : public TestCase
{
  public:
    VerbsTestCase()
        : TestCase("a packet of IP at the end of a queue pair changes nothing about the end")
    {
    }

  private:
    /// Ends a queue pair with open work, and sends a packet.
    typedef std::function<void(IpSite&, Ptr<RdmaQp>)> End;

    /**
     * @brief Sends a packet of 100 B from host 0 to host 1.
     * @param site the fabric
     */
    static void Send(IpSite& site)
    {
        const Ptr<RdmaNic> nic = site.m_fabric->GetNic(0);
        nic->Send(MakePacket("10.0.0.1", "10.0.0.2", 100), nic->GetBroadcast(), 0x0800);
    }

    /**
     * @param what name of the case
     * @param flushed completions with an error
     * @param end ends a queue pair that has a WRITE
     */
    void Check(const std::string& what, uint32_t flushed, const End& end)
    {
        IpSite site;
        site.m_helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
        site.m_helper.SetNicAttribute("IpQueueBytes", UintegerValue(1000));
        site.Make(1, 1, 2);
        const Ptr<Fabric> fabric = site.m_fabric;
        const auto ends = RdmaNicHelper::ConnectQps(fabric->GetNic(0), fabric->GetNic(1));
        uint32_t failed = 0;
        ends.first->SetCompletionCallback(
            Callback<void, const FabricCompletion&>([&failed](const FabricCompletion& completion) {
                failed += completion.status == FabricCompletionStatus::WR_FLUSH_ERR ? 1 : 0;
            }));
        ends.first->PostWrite(1000000, 1);
        Simulator::Schedule(AT, [&] { end(site, ends.first); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, what);
        NS_TEST_EXPECT_MSG_EQ(fabric->GetFinishTime(), AT, what << ": no work is open");
        NS_TEST_EXPECT_MSG_EQ(Simulator::Now(), AT, what << ": the run ends");
        NS_TEST_EXPECT_MSG_EQ(failed, flushed, what << ": work is flushed");
    }

    void DoRun() override
    {
        Check("a reset after a packet", 0, [](IpSite& site, Ptr<RdmaQp> qp) {
            Send(site);
            qp->SetState(FabricQpState::RESET);
        });
        Check("a reset before a packet", 0, [](IpSite& site, Ptr<RdmaQp> qp) {
            qp->SetState(FabricQpState::RESET);
            Send(site);
        });
        Check("destroyed after a packet", 1, [](IpSite& site, Ptr<RdmaQp> qp) {
            Send(site);
            qp->Destroy();
        });
        // The sinks are called in the wake-up that releases destroyed queue pairs.
        for (const std::string source : {"MacTxDrop", "Enqueue"})
        {
            Check("destroyed by a sink of " + source, 1, [&](IpSite& site, Ptr<RdmaQp> qp) {
                const Ptr<RdmaNic> nic = site.m_fabric->GetNic(0);
                // A raw pointer, because a reference in a sink of its own NIC would keep both
                // alive.
                RdmaQp* own = PeekPointer(qp);
                if (source == "Enqueue")
                {
                    nic->TraceConnectWithoutContext(
                        source,
                        Callback<void, const FabricPacket&, Time>(
                            [own](const FabricPacket&, Time) { own->Destroy(); }));
                    Send(site);
                    return;
                }
                nic->TraceConnectWithoutContext(source,
                                                Callback<void, Ptr<const Packet>>(
                                                    [own](Ptr<const Packet>) { own->Destroy(); }));
                nic->Send(MakePacket("10.0.0.1", "10.0.0.2", 2000), nic->GetBroadcast(), 0x0800);
            });
        }
    }
};

/// Tests ports without a fabric.
class BareTestCase : public TestCase
{
  public:
    BareTestCase()
        : TestCase("a port without a NIC or a fabric drops packets")
    {
    }

  private:
    void DoRun() override
    {
        const Ptr<FabricPort> port = CreateObject<FabricPort>();
        const Ptr<RdmaNic> nic = CreateObject<RdmaNic>();
        for (const Ptr<FabricPort>& each : {port, Ptr<FabricPort>(nic)})
        {
            for (const uint64_t dropped : {1, 2})
            {
                const bool sent = each->Send(MakePacket("10.0.0.1", "10.0.0.2", 100),
                                             each->GetBroadcast(),
                                             0x0800);
                NS_TEST_EXPECT_MSG_EQ(sent, false, "not sent");
                NS_TEST_EXPECT_MSG_EQ(each->GetForeignDropped(), dropped, "counted");
                each->Dispose();
            }
        }
    }
};

/// Tests the counts of packets that are not yet enqueued, and of queues.
class QueueTestCase : public TestCase
{
  public:
    QueueTestCase()
        : TestCase("packets that are about to be queued count, and the longest queue drops others")
    {
    }

  private:
    void DoRun() override
    {
        TestStop();
        TestLongest();
        TestHeadroom();
    }

    /// Tests a run that stops in the event in which a packet is sent.
    void TestStop()
    {
        IpSite site;
        site.Make(1, 1, 2);
        site.Receive(1);
        site.m_fabric->GetNic(0)->TraceConnectWithoutContext(
            "MacTx",
            Callback<void, Ptr<const Packet>>([](Ptr<const Packet>) { Simulator::Stop(); }));
        site.SendUdp(0, 1, 3, 100, AT);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().sent, 3, "sent");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->CountIpInFlight(), 3, "about to be queued");
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[1].packets, 3, "the run may continue");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->CountIpInFlight(), 0, "none is left");
    }

    /// Tests a limit of 2^32 - 1 B, which holds 65,537 frames of maximum length.
    void TestLongest()
    {
        IpSite site;
        site.m_helper.SetNicAttribute("IpQueueBytes", UintegerValue(0xffffffffU));
        site.m_helper.SetNicAttribute("Mtu", UintegerValue(FabricIp::LONGEST));
        site.Make(1, 1, 2);
        const Ptr<RdmaNic> nic = site.m_fabric->GetNic(0);
        const Ptr<Packet> packet = MakePacket("10.0.0.1", "10.0.0.2", FabricIp::LONGEST);
        for (uint32_t sent = 0; sent < 65540; ++sent)
        {
            nic->Send(packet->Copy(), nic->GetBroadcast(), 0x0800);
        }
        Simulator::Stop(NanoSeconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().dropped, 3, "of 65,540");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->CountIpInFlight(), 65537, "the others wait");
        NS_TEST_EXPECT_MSG_EQ(nic->GetWaitingBytes(), 65536U * 65535, "but for the first");
    }

    /// Tests the longest frame that PFC never drops with the default headroom.
    void TestHeadroom()
    {
        for (const bool pfc : {false, true})
        {
            IpSite site;
            site.m_helper.SetSwitchAttribute("Pfc", BooleanValue(pfc));
            site.Make(2, 1, 2);
            const Ptr<Fabric> fabric = site.m_fabric;
            NS_TEST_EXPECT_MSG_EQ(fabric->HasHeadroomFor(4140 + 18), true, "a packet of RDMA");
            NS_TEST_EXPECT_MSG_EQ(fabric->HasHeadroomFor(4141 + 18), !pfc, "longer");
            NS_TEST_EXPECT_MSG_EQ(fabric->HasHeadroomFor(9000 + 18), !pfc, "the default of Mtu");
        }
        NS_TEST_EXPECT_MSG_EQ(CountDropped(4140), 0, "as long as packets of RDMA");
        NS_TEST_EXPECT_MSG_GT(CountDropped(9000), 0, "longer");
    }

    /**
     * @brief Sends UDP from three hosts to a fourth, with PFC and little memory.
     * @param mtu of each host
     * @return dropped IP packets
     */
    static uint64_t CountDropped(uint32_t mtu)
    {
        IpSite site;
        site.m_helper.SetSwitchAttribute("Pfc", BooleanValue(true));
        site.m_helper.SetSwitchAttribute("BufferBytes", UintegerValue(160000));
        site.m_helper.SetNicAttribute("Mtu", UintegerValue(mtu));
        site.Make(1, 1, 4);
        for (const uint32_t host : {0, 1, 2})
        {
            site.SendUdp(host, 3, 100, mtu - 28);
        }
        Simulator::Run();
        return site.m_fabric->GetIpCounters().dropped;
    }
};

/// Tests which addresses a fabric knows, and from when.
class AddressesTestCase : public TestCase
{
  public:
    AddressesTestCase()
        : TestCase("addresses are read once at a time, and a plane has its own")
    {
    }

  private:
    void DoRun() override
    {
        TestSameTime();
        TestPlanes();
    }

    /// Tests an address that is assigned after a packet to another address, at the same time.
    void TestSameTime()
    {
        IpSite site;
        site.Make(1, 1, 2);
        const Ptr<RdmaNic> nic = site.m_fabric->GetNic(0);
        const Ptr<Ipv4> ip = site.m_helper.GetHosts().Get(1)->GetObject<Ipv4>();
        const auto sends = [nic] {
            return nic->Send(MakePacket("10.0.0.1", "10.0.7.7", 100), nic->GetBroadcast(), 0x0800);
        };
        const auto assign = [ip] {
            ip->AddAddress(1, Ipv4InterfaceAddress("10.0.7.7", "255.255.0.0"));
        };
        NS_TEST_EXPECT_MSG_EQ(sends(), false, "no host has it");
        assign();
        NS_TEST_EXPECT_MSG_EQ(sends(), true, "before the run they are read anew each time");
        ip->RemoveAddress(1, Ipv4Address("10.0.7.7"));
        Simulator::Schedule(AT, [&] {
            nic->Send(MakePacket("10.0.0.1", "10.0.0.9", 100), nic->GetBroadcast(), 0x0800);
            NS_TEST_EXPECT_MSG_EQ(sends(), false, "not known any more");
            assign();
            NS_TEST_EXPECT_MSG_EQ(sends(), false, "not yet");
        });
        Simulator::Schedule(2 * AT,
                            [&] { NS_TEST_EXPECT_MSG_EQ(sends(), true, "from the next time on"); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().delivered, 2, "both arrive");
    }

    /// Tests the ports of a host in two planes, each with its own subnet.
    void TestPlanes()
    {
        IpSite site;
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
        InternetStackHelper().Install(site.m_helper.GetHosts());
        for (const uint32_t plane : {0, 1})
        {
            NetDeviceContainer devices;
            for (const uint32_t host : {0, 1})
            {
                devices.Add(site.m_fabric->GetNic(host)->GetPort(plane));
            }
            const std::string subnet = "10." + std::to_string(plane) + ".0.0";
            Ipv4AddressHelper(subnet.c_str(), "255.255.0.0").Assign(devices);
        }
        for (const uint32_t plane : {0, 1})
        {
            const Ptr<FabricPort> port = site.m_fabric->GetNic(0)->GetPort(plane);
            for (const uint32_t to : {0, 1})
            {
                const std::string address = "10." + std::to_string(to) + ".0.2";
                const bool sent = port->Send(MakePacket("10.0.0.1", address.c_str(), 100),
                                             port->GetBroadcast(),
                                             0x0800);
                NS_TEST_EXPECT_MSG_EQ(sent, (plane == to), "only in its plane");
            }
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().delivered, 2, "one in each");
    }
};

/// Tests runs that last longer than the messages' time limit of ten seconds.
class LimitTestCase : public TestCase
{
  public:
    LimitTestCase()
        : TestCase("the time limit ends no run with IP alone, and others as before")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool hasIp : {false, true})
        {
            IpSite site;
            FailureHelper failures(site.m_helper);
            site.m_fabric = site.m_helper.CreateLeafSpine(2, 2, 1);
            failures.Down("leaf0-spine1", Seconds(11));
            if (hasIp)
            {
                site.InstallIp(site.m_helper.GetNics());
                site.Receive(1);
                site.SendUdp(0, 1, 1, 100, Seconds(12));
            }
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetVerdict(),
                                  (hasIp ? Fabric::RUNNING : Fabric::TIME_LIMIT),
                                  "with IP " << hasIp);
            NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[1].packets, (hasIp ? 1U : 0U), "it arrives");
        }
        TestLateSink();
    }

    /// Tests a trace sink that sends a packet when another starts, which a wake-up decides late.
    void TestLateSink()
    {
        IpSite site;
        site.m_helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
        site.Make(1, 1, 2);
        const Ptr<RdmaNic> nic = site.m_fabric->GetNic(0);
        const auto send = [nic] {
            nic->Send(MakePacket("10.0.0.1", "10.0.0.2", 1000), nic->GetBroadcast(), 0x0800);
        };
        bool sent = false;
        Simulator::Schedule(NanoSeconds(1), [&] {
            nic->TraceConnectWithoutContext(
                "Dequeue",
                Callback<void, const FabricPacket&, Time>([&](const FabricPacket&, Time) {
                    if (!sent)
                    {
                        sent = true;
                        send();
                    }
                }));
        });
        send();
        send();
        // The first arrives after 581 ns, and the second starts after 83 ns.
        Simulator::Schedule(NanoSeconds(300), send);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetVerdict(), Fabric::RUNNING, "there is no message");
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetIpCounters().delivered, 4, "that of the sink too");
    }
};

/// The suite.
class EvenkeelIpEdgesTestSuite : public TestSuite
{
  public:
    EvenkeelIpEdgesTestSuite()
        : TestSuite("evenkeel-ip-edges")
    {
        AddTestCase(new VerbsTestCase);
        AddTestCase(new BareTestCase);
        AddTestCase(new QueueTestCase);
        AddTestCase(new AddressesTestCase);
        AddTestCase(new LimitTestCase);
    }
};

EvenkeelIpEdgesTestSuite g_evenkeelIpEdgesTestSuite; //!< registers itself

} // namespace
