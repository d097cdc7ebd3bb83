// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../../evenkeel-lb/test/evenkeel-aborts.h"

#include "ns3/fabric-helper.h"
#include "ns3/fabric.h"
#include "ns3/plain-fabric-hosts.h"
#include "ns3/plain-fabric-switching.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/switch-helper.h"
#include "ns3/test.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/**
 * @param helper makes a fabric
 * @return a fabric of four hosts
 */
Ptr<Fabric>
Made(FabricHelper& helper)
{
    return helper.CreateLeafSpine(1, 1, 4);
}

/// Hosts that put arbitrary values into the upper 8 bits of the acknowledgement number.
class StampingHosts : public PlainFabricHosts
{
  public:
    /**
     * @param graph of the fabric
     * @param ackPriority true if acknowledgements are sent before data
     * @param ofData those bits in data
     * @param ofAcks those bits in acknowledgements
     */
    StampingHosts(const FabricGraph& graph, bool ackPriority, uint32_t ofData, uint32_t ofAcks)
        : PlainFabricHosts(static_cast<uint32_t>(graph.hosts.size()), ackPriority, Transport()),
          m_ofData(ofData),
          m_ofAcks(ofAcks)
    {
    }

    bool PollTransmit(uint32_t host,
                      uint64_t nowPs,
                      uint64_t& freePs,
                      FabricPacket& packet) override
    {
        if (!PlainFabricHosts::PollTransmit(host, nowPs, freePs, packet))
        {
            return false;
        }
        packet.SetTrafficClass(packet.IsData() ? m_ofData : m_ofAcks);
        return true;
    }

  private:
    uint32_t m_ofData; //!< those bits in data
    uint32_t m_ofAcks; //!< those bits in acknowledgements
};

/// A script-defined core.
struct OwnCore
{
    uint32_t classes{0}; //!< number of traffic classes that it describes
    uint32_t ofData{0};  //!< the class of data
    uint32_t ofAcks{0};  //!< the upper 8 bits in acknowledgements
    /// Changes the description.
    std::function<void(FabricDescription&)> change{[](FabricDescription&) {}};

    /**
     * @param graph of the fabric
     * @return the core
     */
    std::unique_ptr<FabricCore> Make(const FabricGraph& graph) const
    {
        FabricDescription description;
        description.graph = graph;
        description.classes.resize(classes);
        description.ecn.resize(2 * graph.links.size());
        description.ingress.resize(2 * graph.links.size());
        description.poolSizes.resize(graph.switches.size());
        change(description);
        const bool ackPriority = description.settings.ackPriority;
        return std::make_unique<FabricCore>(
            description,
            std::make_shared<StampingHosts>(graph, ackPriority, ofData, ofAcks),
            std::make_shared<PlainFabricSwitching>(graph));
    }

    /**
     * @param helper makes fabrics with this core from now on
     */
    void SetIn(FabricHelper& helper) const
    {
        const OwnCore core = *this;
        helper.SetCoreFactory(
            [core](const FabricGraph& graph, const std::string&) { return core.Make(graph); });
    }
};

/// Tests script-defined cores that are rejected.
class RefusedCoreTestCase : public TestCase
{
  public:
    RefusedCoreTestCase()
        : TestCase("an own core whose traffic classes cannot be ends the program with the reason")
    {
    }

  private:
    /**
     * @param core a core
     * @return a call that makes a fabric with it and sends a message
     */
    static std::function<void(FabricHelper&)> Sends(const OwnCore& core)
    {
        return [core](FabricHelper& it) {
            core.SetIn(it);
            Ptr<Fabric> fabric = Made(it);
            fabric->GetNic(0)->PostMessage(fabric->GetNic(1), 1);
            Simulator::Run();
        };
    }

    /// @return script-defined cores with invalid packets or descriptions
    static std::vector<Refused> WrongCores()
    {
        const auto described = [](uint32_t classes,
                                  const std::function<void(FabricSettings&)>& change) {
            OwnCore core;
            core.classes = classes;
            core.change = [change](FabricDescription& it) { change(it.settings); };
            return core;
        };
        const auto nothing = [](FabricSettings&) {};
        const auto pfc = [](FabricSettings& it) { it.pfc = true; };
        OwnCore poolless = described(0, pfc);
        poolless.change = [](FabricDescription& it) {
            it.settings.pfc = true;
            it.poolSizes.clear();
        };
        return {
            {"FabricHosts::PollTransmit", "has traffic class 3, but there are 0", Sends({0, 3})},
            {"FabricHosts::PollTransmit", "has traffic class 2, but there are 2", Sends({2, 2})},
            {"Fabric::Assemble",
             "8 traffic classes; the maximum is 7",
             Sends(described(8, nothing))},
            {"Fabric::Assemble",
             "traffic classes and trimming",
             Sends(described(2, [](FabricSettings& it) { it.trim = true; }))},
            {"Fabric::Assemble", "ingress has 10 entries instead of 20", Sends(described(2, pfc))},
            {"Fabric::Assemble", "poolSizes has 0 entries instead of 2", Sends(poolless)},
            {"Fabric::Assemble",
             "a host has 2 ports",
             [=](FabricHelper& it) {
                 described(2, nothing).SetIn(it);
                 it.SetPortsPerNic(2);
                 NodeContainer nodes(4);
                 SwitchHelper().Install(NodeContainer(nodes.Get(2), nodes.Get(3)));
                 for (uint32_t link = 0; link < 4; ++link)
                 {
                     it.Install(nodes.Get(link % 2), nodes.Get(2 + link / 2));
                 }
                 it.Finish();
             }},
            {"FabricHelper::CreateLeafSpine",
             "describes no traffic classes",
             [=](FabricHelper& it) {
                 it.AddClass("a");
                 described(0, nothing).SetIn(it);
                 Made(it);
             }},
        };
    }

    void DoRun() override
    {
        for (const Refused& wrong : WrongCores())
        {
            FabricHelper helper(FabricHelper::UNCHANGED);
            const std::string said = AbortMessageOf([&] { wrong.call(helper); });
            NS_TEST_EXPECT_MSG_EQ(CountOf(wrong.what, said), 1, wrong.what << ": " << said);
            NS_TEST_EXPECT_MSG_NE(said.find(wrong.reason), std::string::npos, said);
        }
        Simulator::Destroy();
    }
};

/// Tests script-defined cores: the class of data, and acknowledgements, which have no class.
class OwnCoreTestCase : public TestCase
{
  public:
    OwnCoreTestCase()
        : TestCase("packets of an own core have their class, and acknowledgements none")
    {
    }

  private:
    /**
     * @brief Runs an incast.
     * @param core the core
     * @return dropped data packets of the first and of the second class
     */
    std::pair<uint64_t, uint64_t> DroppedWith(const OwnCore& core)
    {
        FabricHelper helper(FabricHelper::UNCHANGED);
        core.SetIn(helper);
        Ptr<Fabric> fabric = Made(helper);
        for (uint32_t src = 1; src < 4; ++src)
        {
            fabric->GetNic(src)->PostMessage(fabric->GetNic(0), 400000);
        }
        Simulator::Run();
        const uint64_t dropped = fabric->GetCounters().dataDropped;
        const bool completed = fabric->GetVerdict() == Fabric::COMPLETED;
        NS_TEST_EXPECT_MSG_EQ(completed, (dropped == 0), "verdict");
        NS_TEST_EXPECT_MSG_EQ(fabric->GetCounters().controlDropped, 0, "acknowledgements");
        NS_TEST_EXPECT_MSG_EQ(fabric->CountDataInFlight(), 0, "in flight");
        Simulator::Destroy();
        return {fabric->GetDataDroppedOf(0), fabric->GetDataDroppedOf(1)};
    }

    void DoRun() override
    {
        FabricPacket ack;
        ack.kind = FabricPacketKind::ACK;
        ack.ack = 1U << 24;
        NS_TEST_EXPECT_MSG_EQ(ack.GetTrafficClass(), 0, "the PSN of an acknowledgement");
        ack.kind = FabricPacketKind::RESUME;
        NS_TEST_EXPECT_MSG_EQ(ack.GetTrafficClass(), 1, "a frame");
        const auto small = [](FabricDescription& it) { it.settings.bufferBytes = 100000; };
        const auto first = DroppedWith({2, 0, 255, small});
        NS_TEST_EXPECT_MSG_EQ((first.first > 0 && first.second == 0),
                              true,
                              "class 0 loses packets");
        const auto second = DroppedWith({2, 1, 255, small});
        NS_TEST_EXPECT_MSG_EQ((second.second > 0 && second.first == 0), true, "class 1 does");
        // Acknowledgements count at their ingress link and share the queue of data.
        const auto none = DroppedWith({0, 0, 255, [](FabricDescription& it) {
                                           it.settings.pfc = true;
                                           it.settings.ackPriority = false;
                                           FabricIngress memory;
                                           memory.headroom = 100000;
                                           it.ingress.assign(it.ingress.size(), memory);
                                           it.poolSizes.assign(it.poolSizes.size(), 200000);
                                           FabricEcn ecn;
                                           ecn.kmin = ecn.kmax = 10000;
                                           it.ecn.assign(it.ecn.size(), ecn);
                                       }});
        NS_TEST_EXPECT_MSG_EQ(none.first, 0, "flow control");
    }
};

/// The suite.
class EvenkeelClassCoreTestSuite : public TestSuite
{
  public:
    EvenkeelClassCoreTestSuite()
        : TestSuite("evenkeel-class-core")
    {
        AddTestCase(new RefusedCoreTestCase);
        AddTestCase(new OwnCoreTestCase);
    }
};

EvenkeelClassCoreTestSuite g_evenkeelClassCoreTestSuite; //!< registers itself

} // namespace
