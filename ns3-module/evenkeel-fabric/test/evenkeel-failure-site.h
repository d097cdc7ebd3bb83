// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EVENKEEL_FAILURE_SITE_H
#define EVENKEEL_FAILURE_SITE_H

#include "ns3/boolean.h"
#include "ns3/fabric-channel.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric.h"
#include "ns3/failure-helper.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

/// A failure in a test; times in nanoseconds.
struct Fault
{
    std::string kind;        //!< down, switch, degrade or loss
    uint32_t part;           //!< number of the link, or of the switch
    int64_t from;            //!< when it begins
    int64_t until;           //!< when it ends; -1 for never
    uint32_t numerator{1};   //!< numerator of the fraction
    uint32_t denominator{1}; //!< denominator of the fraction
};

/// The time at which a script makes the calls for a failure.
enum When
{
    DECLARED,  //!< before the fabric is made
    FINISHED,  //!< after it was made, before the run
    BEGINNING, //!< when each failure begins
    SOONER,    //!< during the run, before each failure begins
    RESTORED   //!< when each failure begins and when it ends
};

/// The variant of a case.
struct Variant
{
    std::string policy; //!< of switches and NICs
    uint32_t planes{1}; //!< ports of each host
    bool pfc{false};    //!< priority flow control
    bool traced{false}; //!< each start is an event
};

/// The results of a run.
struct Outcome
{
    std::vector<uint64_t> numbers; //!< times of flows, bytes of links, counters
    uint64_t dropped{0};           //!< data packets
    uint64_t finishPs{0};          //!< when the last message completed
};

/**
 * @ingroup evenkeel-tests
 * @brief Two leaves with three hosts each and two spines, in each plane.
 */
class FailureSite
{
  public:
    /**
     * @param variant the variant of the case
     */
    explicit FailureSite(const Variant& variant)
        : m_failures(m_helper)
    {
        m_failures.SetDetection(NanoSeconds(700));
        m_failures.SetConvergence(NanoSeconds(2500));
        m_helper.SetPortsPerNic(variant.planes);
        m_helper.SetChannelAttribute("DataRate", StringValue("100Gbps"));
        m_helper.SetNicAttribute("RetransmitTimeout", StringValue("40us"));
        m_helper.SetNicAttribute("Punctual", BooleanValue(variant.traced));
        m_helper.SetPolicy(variant.policy);
        m_helper.SetSwitchAttribute("BufferBytes", UintegerValue(400000));
        m_helper.SetSwitchAttribute("Pfc", BooleanValue(variant.pfc));
        NodeContainer hosts(6);
        for (uint32_t plane = 0; plane < variant.planes; ++plane)
        {
            NodeContainer nodes(4);
            m_helper.InstallSwitches(nodes);
            for (uint32_t host = 0; host < 6; ++host)
            {
                m_helper.Install(hosts.Get(host), nodes.Get(host / 3));
            }
            for (uint32_t leaf = 0; leaf < 2; ++leaf)
            {
                for (uint32_t spine = 2; spine < 4; ++spine)
                {
                    m_helper.Install(nodes.Get(leaf), nodes.Get(spine));
                }
            }
        }
    }

    ~FailureSite()
    {
        Simulator::Destroy();
    }

    /**
     * @brief Makes or schedules the call that begins a failure.
     * @param fault the failure
     * @param from when it begins
     * @param until when it ends
     */
    void Begin(const Fault& fault, Time from, Time until)
    {
        if (fault.kind == "switch")
        {
            m_failures.SwitchDown("switch" + std::to_string(fault.part), from, until);
            return;
        }
        const Ptr<FabricChannel> link = m_helper.GetChannels()[fault.part];
        if (fault.kind == "down")
        {
            m_failures.Down(link, from, until);
        }
        else if (fault.kind == "degrade")
        {
            m_failures.Degrade(link, fault.numerator, fault.denominator, from, until);
        }
        else
        {
            m_failures.Lose(link, fault.numerator, fault.denominator, from, until);
        }
    }

    /**
     * @brief Ends a failure now.
     * @param fault the failure
     */
    void End(const Fault& fault)
    {
        if (fault.kind == "switch")
        {
            m_failures.RestoreSwitch("switch" + std::to_string(fault.part), Simulator::Now());
            return;
        }
        m_failures.Restore(m_helper.GetChannels()[fault.part], Simulator::Now());
    }

    /**
     * @brief Schedules the calls for a failure.
     * @param fault the failure
     * @param when the time of the calls
     */
    void Schedule(const Fault& fault, When when)
    {
        const Time from = NanoSeconds(fault.from);
        const Time until = fault.until < 0 ? Time(-1) : NanoSeconds(fault.until);
        if (when == DECLARED || when == FINISHED)
        {
            Begin(fault, from, until);
            return;
        }
        if (when == SOONER)
        {
            Simulator::Schedule(from / 2,
                                [this, fault, from, until] { Begin(fault, from, until); });
            return;
        }
        const Time end = when == RESTORED ? Time(-1) : until;
        Simulator::Schedule(from, [this, fault, end] { Begin(fault, Simulator::Now(), end); });
        if (when == RESTORED && fault.until >= 0)
        {
            Simulator::Schedule(until, [this, fault] { End(fault); });
        }
    }

    /**
     * @brief Sends a message from every host to every other host, and runs.
     * @param faults failures
     * @param when the time of their calls
     * @return the results
     */
    Outcome Run(const std::vector<Fault>& faults, When when)
    {
        if (when == DECLARED)
        {
            ScheduleAll(faults, when);
        }
        m_fabric = m_helper.Finish();
        for (uint32_t step = 1; step < 6; ++step)
        {
            for (uint32_t src = 0; src < 6; ++src)
            {
                m_fabric->GetNic(src)->PostMessage(m_fabric->GetNic((src + step) % 6), 100000);
            }
        }
        if (when != DECLARED)
        {
            ScheduleAll(faults, when);
        }
        Simulator::Run();
        return Read();
    }

    FabricHelper m_helper;    //!< makes the fabric
    FailureHelper m_failures; //!< makes links fail
    Ptr<Fabric> m_fabric;     //!< the fabric

  private:
    /**
     * @param faults failures
     * @param when the time of their calls
     */
    void ScheduleAll(const std::vector<Fault>& faults, When when)
    {
        for (const Fault& fault : faults)
        {
            Schedule(fault, when);
        }
    }

    /// @return the results
    Outcome Read() const
    {
        Outcome result;
        for (const FabricFlow& flow : m_fabric->GetCore().GetFlows())
        {
            result.numbers.push_back(flow.deliveredPs);
            result.numbers.push_back(flow.completedPs);
        }
        for (uint32_t port = 0; port < m_fabric->GetNPorts(); ++port)
        {
            result.numbers.push_back(m_fabric->GetPort(port).GetCarriedBytes());
        }
        const Fabric::Counters& counters = m_fabric->GetCounters();
        for (const uint64_t count : {counters.dataDropped,
                                     counters.controlDropped,
                                     counters.hops,
                                     counters.waitingFound,
                                     counters.pauses})
        {
            result.numbers.push_back(count);
        }
        result.dropped = counters.dataDropped;
        result.finishPs = m_fabric->GetFinishPs();
        return result;
    }
};

} // namespace tests
} // namespace ns3

#endif /* EVENKEEL_FAILURE_SITE_H */
