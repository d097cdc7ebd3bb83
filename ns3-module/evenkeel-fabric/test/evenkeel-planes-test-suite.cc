// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../../evenkeel-lb/test/evenkeel-aborts.h"

#include "ns3/boolean.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric.h"
#include "ns3/failure-helper.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

constexpr uint32_t PAYLOAD = 4096;   //!< payload of a full packet
constexpr uint64_t DATA = 4096 + 62; //!< length of a full packet on the wire
constexpr uint64_t ACK = 64;         //!< length of an acknowledgement
constexpr uint64_t GAP = 20;         //!< gap on the wire after each packet
constexpr uint64_t PS_PER_BYTE = 80; //!< picoseconds per byte at 100 Gbps

/**
 * @ingroup evenkeel-tests
 * @brief Two hosts, each with a port to a switch of each plane.
 */
struct TwoHosts
{
    /**
     * @param planes number of planes
     * @param punctual true if each start is an event
     * @param shared true to connect all links to the first switch, which is invalid
     */
    TwoHosts(uint32_t planes, bool punctual, bool shared = false)
    {
        helper.SetPolicy("plane-jsq");
        helper.SetPortsPerNic(planes);
        helper.SetNicAttribute("Punctual", BooleanValue(punctual));
        helper.SetChannelAttribute("DataRate", StringValue("100Gbps"));
        helper.SetChannelAttribute("Delay", StringValue("500ns"));
        nodes.Create(2);
        switches.Create(planes);
        helper.SetPolicy("plane-jsq");
        helper.InstallSwitches(switches);
        for (uint32_t plane = 0; plane < planes; ++plane)
        {
            helper.Install(nodes, switches.Get(shared ? 0 : plane));
        }
    }

    FabricHelper helper;    //!< makes the fabric
    NodeContainer nodes;    //!< hosts
    NodeContainer switches; //!< a switch for each plane
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests the devices of a multi-port NIC, and the time of a single message.
 */
class LoneMessageTestCase : public TestCase
{
  public:
    LoneMessageTestCase()
        : TestCase("a lone message leaves by all ports of its NIC at once")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint32_t planes : {1, 2, 4})
        {
            for (const bool punctual : {false, true})
            {
                Send(planes, punctual);
            }
        }
    }

    /**
     * @param planes number of planes
     * @param punctual true if each start is an event
     */
    void Send(uint32_t planes, bool punctual)
    {
        constexpr uint64_t PACKETS = 9;
        TwoHosts two(planes, punctual);
        Ptr<Fabric> fabric = two.helper.Finish();
        Ptr<RdmaNic> nic = fabric->GetNic(0);
        NS_TEST_EXPECT_MSG_EQ(fabric->GetNNics(), 2, "one NIC for each host");
        NS_TEST_EXPECT_MSG_EQ(nic->GetNPorts(), planes, "a port in each plane");
        NS_TEST_EXPECT_MSG_EQ(two.nodes.Get(0)->GetNDevices(), planes, "a device for each");
        nic->PostMessage(fabric->GetNic(1), PACKETS * PAYLOAD);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, "it completes");
        const uint64_t each = (PACKETS + planes - 1) / planes;
        const uint64_t expected =
            PS_PER_BYTE * (each * (DATA + GAP) - GAP + DATA + 2 * ACK) + 4 * 500000;
        NS_TEST_EXPECT_MSG_EQ(fabric->GetFinishPs(), expected, planes << " planes");
        uint64_t sent = 0;
        for (uint32_t plane = 0; plane < planes; ++plane)
        {
            Ptr<FabricPort> port = nic->GetPort(plane);
            const uint64_t packets = port->GetCarriedBytes() / DATA;
            sent += packets;
            NS_TEST_EXPECT_MSG_EQ(two.nodes.Get(0)->GetDevice(plane), port, "in order of planes");
            NS_TEST_EXPECT_MSG_EQ(RdmaNic::Of(port), nic, "the NIC of a port");
            NS_TEST_EXPECT_MSG_EQ(port->GetCarriedBytes(), packets * DATA, "plane " << plane);
            const bool even = packets == PACKETS / planes || packets == each;
            NS_TEST_EXPECT_MSG_EQ(even, true, packets << " packets in plane " << plane);
        }
        NS_TEST_EXPECT_MSG_EQ(sent, PACKETS, "each packet once");
        Simulator::Destroy();
    }
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests that the NIC of a failing port stops using it and notifies its peers.
 */
class PortFailureTestCase : public TestCase
{
  public:
    PortFailureTestCase()
        : TestCase("a NIC leaves a port that is dead and tells its peers")
    {
    }

  private:
    /**
     * @brief Counts a packet if it reports the state of ports.
     * @param packet the packet
     * @param when when it arrives
     */
    void Received(const FabricPacket& packet, Time when)
    {
        m_statuses += packet.kind == FabricPacketKind::PORT_STATUS ? 1 : 0;
    }

    void DoRun() override
    {
        FabricHelper helper;
        helper.SetPolicy("plane-jsq");
        FailureHelper failures(helper);
        failures.SetDetection(MicroSeconds(2));
        failures.Down("host3-p1-leaf1", MicroSeconds(5));
        Ptr<Fabric> fabric = helper.CreateTopology("multi-plane",
                                                   "planes",
                                                   UintegerValue(2),
                                                   "leaves",
                                                   UintegerValue(2),
                                                   "spines",
                                                   UintegerValue(2),
                                                   "hosts_per_leaf",
                                                   UintegerValue(2),
                                                   "host_rate",
                                                   StringValue("100Gbps"),
                                                   "fabric_rate",
                                                   StringValue("100Gbps"),
                                                   "delay",
                                                   StringValue("500ns"));
        fabric->GetNic(0)->TraceConnectWithoutContext(
            "PacketReceived",
            MakeCallback(&PortFailureTestCase::Received, this));
        fabric->GetNic(0)->PostMessage(fabric->GetNic(3), 200 * PAYLOAD);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, "it completes");
        NS_TEST_EXPECT_MSG_GT(fabric->GetCounters().dataDropped, 0, "what was sent is lost");
        NS_TEST_EXPECT_MSG_EQ(m_statuses, 1, "by the port that works");
        const uint64_t first = fabric->GetNic(0)->GetPort(0)->GetCarriedBytes();
        const uint64_t second = fabric->GetNic(0)->GetPort(1)->GetCarriedBytes();
        NS_TEST_EXPECT_MSG_LT(second * 4, first, "the sender leaves the plane");
        Simulator::Destroy();
    }

    uint32_t m_statuses{0}; //!< port statuses at the sender's first port
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests two ports of each host to switches of one fabric, and links that form no planes.
 */
class TopologyTestCase : public TestCase
{
  public:
    TopologyTestCase()
        : TestCase("two ToRs of one fabric are made, and links that make no planes are refused")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper helper;
        helper.SetPolicy("ecmp");
        Ptr<Fabric> fabric = helper.CreateTopology("dual-tor",
                                                   "pairs",
                                                   UintegerValue(2),
                                                   "spines",
                                                   UintegerValue(2),
                                                   "hosts_per_pair",
                                                   UintegerValue(2));
        fabric->GetNic(0)->PostMessage(fabric->GetNic(3), 20 * PAYLOAD);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, "it completes");
        NS_TEST_EXPECT_MSG_EQ(fabric->GetNic(0)->GetNPorts(), 2, "a port to each ToR");
        Simulator::Destroy();
        const std::string said = AbortMessageOf([] { TwoHosts(2, false, true).helper.Finish(); });
        NS_TEST_EXPECT_MSG_NE(said.find("host0: its port in plane 1 is not attached to that plane "
                                        "alone (link host0-switch0)"),
                              std::string::npos,
                              said);
        const std::string most = AbortMessageOf([] { FabricHelper().SetPortsPerNic(33); });
        NS_TEST_EXPECT_MSG_NE(most.find("a NIC must have 1 to 32 ports, not 33"),
                              std::string::npos,
                              most);
    }
};

/// The suite.
class EvenkeelPlanesTestSuite : public TestSuite
{
  public:
    EvenkeelPlanesTestSuite()
        : TestSuite("evenkeel-planes")
    {
        AddTestCase(new LoneMessageTestCase);
        AddTestCase(new PortFailureTestCase);
        AddTestCase(new TopologyTestCase);
    }
};

EvenkeelPlanesTestSuite g_evenkeelPlanesTestSuite; //!< registers itself

} // namespace
