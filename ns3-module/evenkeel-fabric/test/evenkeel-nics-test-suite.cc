// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../../evenkeel-lb/test/evenkeel-aborts.h"
#include "evenkeel-nic-site.h"

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric.h"
#include "ns3/failure-helper.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-qp.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// Values that differ from the defaults.
const Attributes OTHER{{"Payload", "2048"},
                       {"Header", "80"},
                       {"AckBytes", "84"},
                       {"AckEvery", "4"},
                       {"AckPriority", "false"},
                       {"CongestionControl", "dctcp-rate"},
                       {"Recovery", "sack"},
                       {"RetransmitTimeout", "70us"},
                       {"SendQueue", "7"},
                       {"Retries", "3"}};

/// Messages of a test.
const std::vector<Way> WAYS{{0, 3}, {1, 3}, {2, 3}, {3, 0}, {3, 1}, {1, 2}};

/**
 * @ingroup evenkeel-tests
 * @brief Tests NICs that are set one by one to the same values, and an idle NIC that differs.
 */
class EqualTestCase : public TestCase
{
  public:
    EqualTestCase()
        : TestCase("equal settings for each NIC are one setting for all")
    {
    }

  private:
    /**
     * @param set sets attributes
     * @return completion times
     */
    static std::map<Way, uint64_t> Run(const std::function<void(NicSite&)>& set)
    {
        NicSite site(5);
        set(site);
        return site.Run(WAYS, 500000);
    }

    void DoRun() override
    {
        const auto none = [](NicSite&) {};
        const auto all = [](NicSite& site) { site.SetAll(OTHER); };
        const auto expected = Run(all);
        const auto others = Run(none);
        NS_TEST_EXPECT_MSG_EQ((expected != others), true, "they have an effect");
        const auto each = [](NicSite& site) {
            for (uint32_t host = 0; host < 5; ++host)
            {
                site.SetOf(host, OTHER);
            }
        };
        NS_TEST_EXPECT_MSG_EQ((Run(each) == expected), true, "set for each");
        // The core sees NICs that differ, so each message uses the settings of its own NICs.
        const auto beside = [](NicSite& site) {
            site.SetAll(OTHER);
            site.SetOf(4, {{"Payload", "1024"}, {"CongestionControl", "dcqcn"}, {"Retries", "9"}});
        };
        NS_TEST_EXPECT_MSG_EQ((Run(beside) == expected), true, "beside an idle one");
        const auto last = [](NicSite& site) { site.SetOf(4, OTHER); };
        NS_TEST_EXPECT_MSG_EQ((Run(last) == others), true, "and the other way");
        TestOneByOne(expected);
    }

    /**
     * @brief Tests attributes of NICs that a script connects one by one.
     * @param expected completion times
     */
    void TestOneByOne(const std::map<Way, uint64_t>& expected)
    {
        FabricHelper helper;
        helper.SetChannelAttribute("DataRate", StringValue("100Gbps"));
        NodeContainer leaf(1);
        NodeContainer hosts(5);
        helper.SetSwitchAttribute("EcnKmin", UintegerValue(20000));
        helper.SetSwitchAttribute("EcnKmax", UintegerValue(80000));
        helper.InstallSwitches(leaf);
        helper.Install(hosts.Get(0), leaf.Get(0));
        for (const auto& [name, value] : OTHER)
        {
            helper.SetNicAttribute(name, StringValue(value));
        }
        for (uint32_t host = 1; host < 5; ++host)
        {
            helper.Install(hosts.Get(host), leaf.Get(0));
        }
        for (const auto& [name, value] : OTHER)
        {
            hosts.Get(0)->GetDevice(0)->SetAttribute(name, StringValue(value));
        }
        Ptr<Fabric> fabric = helper.Finish();
        for (const Way& way : WAYS)
        {
            fabric->GetNic(way.first)->PostMessage(fabric->GetNic(way.second), 500000);
        }
        Simulator::Run();
        std::map<Way, uint64_t> times;
        for (const FabricFlow& flow : fabric->GetCore().GetFlows())
        {
            times[Way(flow.src, flow.dst)] = flow.completedPs;
        }
        NS_TEST_EXPECT_MSG_EQ((times == expected), true, "set for NICs of a script");
        Simulator::Destroy();
    }
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests that two kinds of NICs in one fabric behave as in fabrics with one kind.
 */
class TwoKindsTestCase : public TestCase
{
  public:
    TwoKindsTestCase()
        : TestCase("different settings take effect, each as where all NICs have it")
    {
    }

  private:
    /**
     * @brief Runs with losses towards hosts 1 and 3.
     * @param ways hosts of messages
     * @param set sets attributes
     * @return completion times
     */
    static std::map<Way, uint64_t> Run(const std::vector<Way>& ways,
                                       const std::function<void(NicSite&)>& set)
    {
        NicSite site(4);
        set(site);
        site.Make();
        FailureHelper failures(site.m_helper);
        for (const uint32_t host : {1, 3})
        {
            failures.Lose(site.m_helper.GetChannels()[host], 1, 60, Time(0));
        }
        return site.Run(ways, 700000);
    }

    void DoRun() override
    {
        // Pairs of hosts share only a switch but no port, so the other pair must not matter.
        const std::vector<Attributes> kinds{{{"Payload", "1024"}},
                                            {{"Header", "90"}},
                                            {{"AckBytes", "1000"}, {"AckEvery", "16"}},
                                            {{"AckPriority", "false"}},
                                            {{"CongestionControl", "swift"}},
                                            {{"CongestionControl", "dctcp-window"}},
                                            {{"CongestionControl", "nscc"}, {"Recovery", "sack"}},
                                            {{"Recovery", "sack"}},
                                            {{"Recovery", "per-packet"}},
                                            {{"RetransmitTimeout", "25us"}},
                                            {{"Parameters", "nack_interval = \"3us\""}},
                                            {{"Parameters", "ack_timeout = { code = 8 }"}},
                                            {{"Parameters", "preset = \"connectx-5\""}},
                                            OTHER};
        const uint64_t plain = Run({{2, 3}}, [](NicSite&) {}).at(Way(2, 3));
        for (const Attributes& kind : kinds)
        {
            const std::string what = kind.begin()->first + " = " + kind.begin()->second;
            const auto alone = Run({{0, 1}}, [&](NicSite& site) { site.SetAll(kind); });
            const auto both = Run({{0, 1}, {2, 3}}, [&](NicSite& site) {
                site.SetOf(0, kind);
                site.SetOf(1, kind);
            });
            NS_TEST_EXPECT_MSG_NE(alone.at(Way(0, 1)), 0, what);
            NS_TEST_EXPECT_MSG_EQ(both.at(Way(0, 1)), alone.at(Way(0, 1)), what << ", the first");
            NS_TEST_EXPECT_MSG_EQ(both.at(Way(2, 3)), plain, what << ", the other pair");
        }
        TestRates();
        TestNotifications();
        TestWindow();
    }

    /// Tests a sender with half the rate next to one with the full rate.
    void TestRates()
    {
        NicSite site(4);
        site.SetAll({{"CongestionControl", "line-rate"}});
        site.SetOf(0, {{"Parameters", "parameters = { share = \"1/2\" }"}});
        const auto times = site.Run({{0, 1}, {2, 3}}, 4096 * 1000);
        const double ratio =
            static_cast<double>(times.at(Way(0, 1))) / static_cast<double>(times.at(Way(2, 3)));
        NS_TEST_EXPECT_MSG_EQ_TOL(ratio, 2.0, 0.02, "half the rate, twice the time");
    }

    /// Tests that receivers notify senders that need it, regardless of their own congestion
    /// control.
    void TestNotifications()
    {
        {
            NicSite site(4);
            site.SetAll({{"CongestionControl", "line-rate"}});
            site.SetOf(0, {{"CongestionControl", "dcqcn"}});
            site.SetOf(3, {{"CongestionControl", "swift"}});
            site.Run({{0, 2}, {1, 2}, {3, 2}}, 2000000);
            NS_TEST_EXPECT_MSG_GT(site.m_cnps[0], 3, "a sender with DCQCN is notified");
            NS_TEST_EXPECT_MSG_EQ(site.m_cnps[1], 0, "one at line rate is not");
            NS_TEST_EXPECT_MSG_EQ(site.m_cnps[3], 0, "nor one with Swift");
        }
        NicSite other(3);
        other.SetAll({{"CongestionControl", "line-rate"}});
        other.SetOf(2, {{"CongestionControl", "dcqcn"}});
        other.Run({{0, 2}, {1, 2}}, 2000000);
        NS_TEST_EXPECT_MSG_EQ(other.m_cnps[0] + other.m_cnps[1], 0, "a receiver with DCQCN");
    }

    /// Tests a sender with a small window and a receiver that acknowledges every 16 packets.
    void TestWindow()
    {
        NicSite site(2);
        site.SetAll({{"CongestionControl", "dctcp-window"}, {"RetransmitTimeout", "9ms"}});
        site.SetOf(1, {{"AckEvery", "16"}});
        const auto times = site.Run({{0, 1}}, 1000000);
        NS_TEST_EXPECT_MSG_LT(times.at(Way(0, 1)), 1000000000, "it does not wait for its timer");
    }
};

/// A call that must abort.
struct Refused
{
    std::string what;                   //!< name of the call
    std::string reason;                 //!< part of the message
    std::function<void(NicSite&)> call; //!< the call
};

/**
 * @ingroup evenkeel-tests
 * @brief Tests invalid settings.
 */
class RefusedTestCase : public TestCase
{
  public:
    RefusedTestCase()
        : TestCase("NICs that cannot be connected are refused with the reason")
    {
    }

  private:
    /// @return calls that abort
    static std::vector<Refused> Wrong()
    {
        const auto differ = [](NicSite& it, const std::string& name, const std::string& value) {
            it.SetOf(0, {{name, value}});
            it.Run({{0, 1}}, 1000);
        };
        return {
            {"RdmaNic::PostMessage",
             "host 0 and host 1 differ in payload (1024B and 4096B)",
             [=](NicSite& it) { differ(it, "Payload", "1024"); }},
            {"RdmaNic::PostMessage",
             "differ in header (70B and 62B)",
             [=](NicSite& it) { differ(it, "Header", "70"); }},
            {"RdmaNic::PostMessage",
             "differ in recovery (sack and go-back-n)",
             [=](NicSite& it) { differ(it, "Recovery", "sack"); }},
            {"FabricHelper::CreateLeafSpine",
             "give both the same payload, header, recovery",
             [=](NicSite& it) {
                 CollectiveHelper("all-to-all").Install(it.m_helper);
                 differ(it, "Payload", "1024");
             }},
            {"FabricHelper::CreateLeafSpine",
             "the settings of a NIC (its attributes):",
             [](NicSite& it) {
                 it.SetOf(1, {{"CongestionControl", "nonsense"}});
                 it.Make();
             }},
            {"FabricHelper::CreateLeafSpine",
             "asks switches for telemetry",
             [=](NicSite& it) { differ(it, "CongestionControl", "hpcc"); }},
            {"FabricHelper::SetNicAttributeOf",
             "there is no host 9: the fabric has 4 hosts",
             [](NicSite& it) {
                 it.SetOf(9, {{"Payload", "1024"}});
                 it.Make();
             }},
            {"FabricHelper::SetNicAttributeOf",
             "has no attribute Colour",
             [](NicSite& it) {
                 it.SetOf(1, {{"Colour", "red"}});
                 it.Make();
             }},
            {"FabricHelper::SetNicAttributeOf",
             "the fabric has been made",
             [](NicSite& it) {
                 it.Make();
                 it.SetOf(1, {{"Payload", "1024"}});
             }},
            {"FabricHelper::CreateFromScenario",
             "put them into the scenario",
             [](NicSite& it) {
                 it.SetOf(1, {{"Payload", "1024"}});
                 it.m_helper.CreateFromScenario("/dev/null");
             }},
        };
    }

    void DoRun() override
    {
        for (const Refused& wrong : Wrong())
        {
            const std::string said = AbortMessageOf([&] {
                NicSite site(4);
                wrong.call(site);
            });
            NS_TEST_EXPECT_MSG_NE(said.find("evenkeel: " + wrong.what + ": "),
                                  std::string::npos,
                                  wrong.what << ": " << said);
            NS_TEST_EXPECT_MSG_NE(said.find(wrong.reason), std::string::npos, said);
            NS_TEST_EXPECT_MSG_EQ(said.find("what():"), std::string::npos, "printed once");
        }
        NicSite site(4);
        site.SetOf(0, {{"Recovery", "sack"}});
        site.SetOf(1, {{"Recovery", "sack"}, {"SendQueue", "1"}});
        site.Make();
        std::string said;
        try
        {
            site.m_fabric->GetNic(1)->CreateQp(site.m_fabric->GetNic(2));
        }
        catch (const std::invalid_argument& error)
        {
            said = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(said.find("differ in recovery"), std::string::npos, said);
        TestQueues(site);
    }

    /**
     * @brief Tests that the queues of a queue pair have the depths of its own NIC.
     * @param site hosts 0 and 1 can be connected, and the send queue of 1 has one entry
     */
    void TestQueues(NicSite& site)
    {
        auto [a, b] = RdmaNicHelper::ConnectQps(site.m_fabric->GetNic(0), site.m_fabric->GetNic(1));
        a->PostWrite(10000, 1);
        a->PostWrite(10000, 2);
        b->PostWrite(10000, 3);
        bool isFull = false;
        try
        {
            b->PostWrite(10000, 4);
        }
        catch (const std::runtime_error&)
        {
            isFull = true;
        }
        NS_TEST_EXPECT_MSG_EQ(isFull, true, "the send queue of host 1 has one entry");
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(site.m_fabric->GetVerdict(), Fabric::COMPLETED, "both ways");
    }
};

/// The suite.
class EvenkeelNicsTestSuite : public TestSuite
{
  public:
    EvenkeelNicsTestSuite()
        : TestSuite("evenkeel-nics")
    {
        AddTestCase(new EqualTestCase);
        AddTestCase(new TwoKindsTestCase);
        AddTestCase(new RefusedTestCase);
    }
};

EvenkeelNicsTestSuite g_evenkeelNicsTestSuite; //!< registers itself

} // namespace
