// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-small-fabric.h"

#include "ns3/boolean.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// Time of a full data packet on the wire at 400 Gbit/s, in picoseconds.
constexpr uint64_t ON_WIRE_PS = DATA * 20;
/// Time from the start of one packet to that of the next; the gap is 20 bytes.
constexpr uint64_t PERIOD_PS = (DATA + 20) * 20;
/// Packets of each message.
constexpr uint64_t PACKETS = 400;

/**
 * @param firstPs start of the first of many consecutive packets
 * @param nowPs the time
 * @return bytes of the packets that start before that time
 */
uint64_t
CarriedBy(uint64_t firstPs, uint64_t nowPs)
{
    if (nowPs <= firstPs)
    {
        return 0;
    }
    return std::min((nowPs - firstPs + PERIOD_PS - 1) / PERIOD_PS, PACKETS) * DATA;
}

/**
 * @ingroup evenkeel-tests
 * @brief Tests the carried bytes of links while two hosts send to a third behind one switch.
 */
class CarriedTestCase : public TestCase
{
  public:
    CarriedTestCase()
        : TestCase("links have carried what started, whenever a script asks")
    {
    }

  private:
    /**
     * @brief Runs until a time.
     * @param stop the time; 0 for the end of the messages
     * @param interval how often the script queries the links during the run; 0 for never
     * @return completion times in picoseconds
     */
    std::vector<uint64_t> Run(Time stop, Time interval)
    {
        FabricHelper helper;
        helper.SetNicAttribute("CongestionControl", StringValue("line-rate"));
        helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
        m_fabric = helper.CreateLeafSpine(1, 1, 3);
        m_fabric->GetNic(0)->PostMessage(m_fabric->GetNic(2), PACKETS * 4096);
        m_fabric->GetNic(1)->PostMessage(m_fabric->GetNic(2), PACKETS * 4096);
        if (interval.IsStrictlyPositive())
        {
            Simulator::Schedule(interval, &CarriedTestCase::Ask, this, interval);
        }
        if (stop.IsStrictlyPositive())
        {
            Simulator::Stop(stop);
        }
        Simulator::Run();
        if (stop.IsStrictlyPositive())
        {
            Check();
        }
        std::vector<uint64_t> times;
        for (const FabricFlow& flow : m_fabric->GetCore().GetFlows())
        {
            times.push_back(flow.completedPs);
        }
        Simulator::Destroy();
        m_fabric = nullptr;
        return times;
    }

    /**
     * @brief Checks the links during a run, and again after an interval.
     * @param interval the interval
     */
    void Ask(Time interval)
    {
        Check();
        Simulator::Schedule(interval, &CarriedTestCase::Ask, this, interval);
    }

    /// Compares the links with the closed form.
    void Check()
    {
        const uint64_t now = m_fabric->GetNowPs();
        // The switch's queue grows from the first arrivals on. Link 2 belongs to the receiver; its
        // second end is the switch.
        const uint64_t first = ON_WIRE_PS + 500000;
        const uint64_t down = m_fabric->GetPort(5).GetCarriedBytes();
        if (now < PACKETS * PERIOD_PS)
        {
            NS_TEST_EXPECT_MSG_EQ(m_fabric->GetPort(0).GetCarriedBytes(),
                                  CarriedBy(0, now),
                                  "the NIC, at " << now << " ps");
            NS_TEST_EXPECT_MSG_EQ(down, CarriedBy(first, now), "the switch, at " << now << " ps");
        }
        m_asked++;
    }

    void DoRun() override
    {
        for (const int64_t stop : {500, 583, 584, 700, 2000, 5123, 20001, 30000})
        {
            Run(NanoSeconds(stop), Time(0));
        }
        NS_TEST_EXPECT_MSG_EQ(m_asked, 8, "each run was checked");
        const std::vector<uint64_t> unasked = Run(Time(0), Time(0));
        const std::vector<uint64_t> asked = Run(Time(0), NanoSeconds(77));
        NS_TEST_EXPECT_MSG_GT(m_asked, 500, "the script asks often");
        NS_TEST_EXPECT_MSG_EQ((asked == unasked), true, "asking changes nothing");
    }

    Ptr<Fabric> m_fabric; //!< the fabric
    uint32_t m_asked{0};  //!< number of checks of the links
};

/// The suite.
class EvenkeelLinksTestSuite : public TestSuite
{
  public:
    EvenkeelLinksTestSuite()
        : TestSuite("evenkeel-links")
    {
        AddTestCase(new CarriedTestCase);
    }
};

EvenkeelLinksTestSuite g_evenkeelLinksTestSuite; //!< registers itself

} // namespace
