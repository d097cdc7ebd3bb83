// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../../evenkeel-lb/test/evenkeel-aborts.h"
#include "evenkeel-ip-site.h"

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/failure-helper.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <memory>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/**
 * @brief Connects two nodes to a switch.
 * @param helper makes the fabric
 */
void
ConnectTwo(FabricHelper& helper)
{
    NodeContainer nodes(3);
    helper.InstallSwitches(NodeContainer(nodes.Get(2)));
    helper.Install(NodeContainer(nodes.Get(0), nodes.Get(1)), nodes.Get(2));
}

/// Tests a script that does not call Finish.
class WithoutFinishTestCase : public TestCase
{
  public:
    WithoutFinishTestCase()
        : TestCase("the start of the simulation makes a fabric that the script did not finish")
    {
    }

  private:
    void DoRun() override
    {
        {
            IpSite site;
            ConnectTwo(site.m_helper);
            site.InstallIp(site.m_helper.GetNics());
            site.Receive(1);
            site.SendUdp(0, 1, 3, 1000);
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(site.m_arrivals[1].packets, 3, "without Finish");
        }
        auto helper = std::make_unique<FabricHelper>();
        ConnectTwo(*helper);
        CollectiveHelper collective("all-to-all");
        collective.SetBytes(100000);
        collective.Install(*helper);
        const Ptr<RdmaNic> nic = DynamicCast<RdmaNic>(helper->GetNics().Get(1));
        FailureHelper(*helper).Down(helper->GetChannels()[0], Seconds(1));
        helper.reset();
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(nic->GetDataSent(), 10, "the helper was destroyed before the run");
        Simulator::Destroy();
    }
};

/// Tests scripts whose fabric carries nothing.
class SilenceTestCase : public TestCase
{
  public:
    SilenceTestCase()
        : TestCase("a script that carries nothing gets the reason")
    {
    }

  private:
    /**
     * @param call builds a fabric that carries nothing
     * @param reason part of the message
     */
    void Check(const std::function<void()>& call, const std::string& reason)
    {
        const std::string said = AbortMessageOf([&call] {
            call();
            Simulator::Run();
            Simulator::Destroy();
        });
        NS_TEST_EXPECT_MSG_EQ(CountOf(reason, said), 1, reason << ": " << said);
    }

    void DoRun() override
    {
        Check([] { CollectiveHelper("all-to-all").Install(*new FabricHelper); },
              "FabricHelper::Install with one, or a Create call");
        Check([] { FailureHelper(*new FabricHelper).SwitchDown("leaf0", Time(0)); },
              "FabricHelper::Install with one, or a Create call");
        Check([] { ConnectTwo(*new FabricHelper); }, "no workload was installed");
        Check([] { (new FabricHelper)->CreateLeafSpine(2, 2, 2); }, "no workload was installed");
        Check(
            [] {
                auto* site = new IpSite;
                site->Make(1, 1, 2);
                const Ptr<Node> node = site->m_helper.GetHosts().Get(0);
                Ptr<Socket> socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
                socket->Connect(InetSocketAddress("10.0.9.9", 9));
                Simulator::ScheduleNow([socket] { socket->Send(Create<Packet>(10)); });
            },
            "its NICs dropped 1 packets of protocol stacks");
        Check(
            [] {
                NodeContainer nodes(2);
                InternetStackHelper().Install(nodes);
                Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(RdmaNicHelper().Install(nodes));
                Ptr<Socket> socket =
                    Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
                socket->Connect(InetSocketAddress("10.0.0.2", 9));
                Simulator::ScheduleNow([socket] {
                    socket->Send(Create<Packet>(10));
                    socket->Send(Create<Packet>(10));
                });
            },
            "has no link");
    }
};

/// Tests several workloads of one fabric.
class JobsTestCase : public TestCase
{
  public:
    JobsTestCase()
        : TestCase("several workloads run side by side on the nodes that they name")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper helper;
        NodeContainer nodes(7);
        helper.InstallSwitches(NodeContainer(nodes.Get(6)));
        for (uint32_t host = 0; host < 6; ++host)
        {
            helper.Install(nodes.Get(host), nodes.Get(6));
        }
        for (const uint64_t bytes : {3000000, 1000000})
        {
            CollectiveHelper collective("broadcast");
            collective.SetBytes(bytes);
            NodeContainer ranks(nodes.Get(bytes == 3000000 ? 4 : 1), nodes.Get(3));
            collective.Install(helper, ranks);
        }
        Ptr<Fabric> fabric = helper.Finish();
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, "both complete");
        uint64_t from4 = 0;
        uint64_t from1 = 0;
        for (const FabricFlow& flow : fabric->GetCore().GetFlows())
        {
            NS_TEST_EXPECT_MSG_EQ(flow.dst, 3, "the second rank");
            (flow.src == 4 ? from4 : from1) += flow.bytes;
        }
        NS_TEST_EXPECT_MSG_EQ(from4, 3000000, "the first workload");
        NS_TEST_EXPECT_MSG_EQ(from1, 1000000, "the second workload");
        Simulator::Destroy();
    }
};

/// Tests attributes of Fabric and the values of RdmaNic's attributes.
class AttributesTestCase : public TestCase
{
  public:
    AttributesTestCase()
        : TestCase("attributes reach the core, and have the values that were set")
    {
    }

  private:
    /**
     * @param gap the gap
     * @param delay the forwarding delay
     * @return when a message of one packet completes
     */
    static uint64_t RunWith(uint32_t gap, Time delay)
    {
        FabricHelper helper;
        helper.SetFabricAttribute("Gap", UintegerValue(gap));
        helper.SetFabricAttribute("ForwardingDelay", TimeValue(delay));
        helper.SetChannelAttribute("DataRate", StringValue("100Gbps"));
        ConnectTwo(helper);
        Ptr<Fabric> fabric = helper.Finish();
        fabric->GetNic(0)->PostMessage(fabric->GetNic(1), 2 * 4096);
        Simulator::Run();
        const uint64_t finish = fabric->GetFinishPs();
        Simulator::Destroy();
        return finish;
    }

    void DoRun() override
    {
        const uint64_t plain = RunWith(20, Time(0));
        // A byte takes 80 ps; the second packet waits for one gap. Two packets pass the switch, the
        // data and its acknowledgement.
        NS_TEST_EXPECT_MSG_EQ(RunWith(30, Time(0)), plain + 800, "Gap");
        NS_TEST_EXPECT_MSG_EQ(RunWith(20, NanoSeconds(70)), plain + 140000, "ForwardingDelay");
        const Ptr<RdmaNic> nic = CreateObject<RdmaNic>();
        nic->SetAttribute("RnrTimer", StringValue("3us"));
        nic->SetAttribute("Payload", UintegerValue(1024));
        TimeValue timer;
        nic->GetAttribute("RnrTimer", timer);
        NS_TEST_EXPECT_MSG_EQ(timer.Get(), MicroSeconds(3), "a time");
        StringValue payload;
        nic->GetAttribute("Payload", payload);
        NS_TEST_EXPECT_MSG_EQ(payload.Get(), "1024", "a number as text");
        BooleanValue priority;
        nic->GetAttribute("AckPriority", priority);
        NS_TEST_EXPECT_MSG_EQ(priority.Get(), true, "a default");
    }
};

/// The suite.
class EvenkeelStartTestSuite : public TestSuite
{
  public:
    EvenkeelStartTestSuite()
        : TestSuite("evenkeel-start")
    {
        AddTestCase(new WithoutFinishTestCase);
        AddTestCase(new SilenceTestCase);
        AddTestCase(new JobsTestCase);
        AddTestCase(new AttributesTestCase);
    }
};

EvenkeelStartTestSuite g_evenkeelStartTestSuite; //!< registers itself

} // namespace
