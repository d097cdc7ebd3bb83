// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "twin.h"

#include "../evenkeel-fabric/helper/fabric-helper.h"
#include "../evenkeel-fabric/model/fabric-bridge.h"
#include "../evenkeel-fabric/model/rdma-nic.h"

#include "ns3/boolean.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <memory>
#include <string>
#include <utility>

namespace evenkeel
{
namespace contract
{

namespace
{

/**
 * @param fabric a fabric whose run has ended
 * @return its measurements
 */
Measured
Measure(ns3::Fabric& fabric)
{
    Measured measured{};
    switch (fabric.GetVerdict())
    {
    case ns3::Fabric::COMPLETED:
        measured.verdict = Verdict::Completed;
        measured.ended_ps = fabric.GetFinishPs();
        break;
    case ns3::Fabric::TIME_LIMIT:
        measured.verdict = Verdict::TimeLimit;
        measured.ended_ps = fabric.GetSettings().timeLimitPs;
        break;
    case ns3::Fabric::RUNNING:
        // The calendar is empty, but some messages have not completed.
        measured.verdict = Verdict::Stalled;
        measured.ended_ps = fabric.GetNowPs();
        break;
    }
    // NICs and ports decide late, so start everything that was due by the end.
    for (uint32_t host = 0; host < fabric.GetNNics(); ++host)
    {
        fabric.GetNic(host)->Settle(measured.ended_ps);
    }
    fabric.SettleSwitches(measured.ended_ps);
    measured.counters = fabric.GetCounters();
    measured.events = fabric.GetEventCount();
    measured.in_flight = fabric.CountDataInFlight();
    for (uint32_t port = 0; port < fabric.GetNPorts(); ++port)
    {
        ns3::FabricPort& each = fabric.GetPort(port);
        const ns3::FabricLink& link = fabric.GetCore().GetGraph().links[port / 2];
        const bool isOfHost = (port % 2 == 0 ? link.a : link.b).isHost;
        measured.link_bytes.push_back(each.GetCarriedBytes());
        measured.queue_bytes_max.push_back(isOfHost ? 0 : each.GetWaitingBytesMax());
    }
    for (const ns3::FabricPause& pause : fabric.GetPauses())
    {
        measured.pauses.push_back(pause);
    }
    for (uint32_t trafficClass = 0; trafficClass < fabric.GetClasses().size(); ++trafficClass)
    {
        measured.dropped_by_class.push_back(fabric.GetDataDroppedOf(trafficClass));
    }
    return measured;
}

/**
 * @brief Runs an experiment.
 * @param experiment the experiment
 * @param core its hosts and policies
 * @param late failures added during the run
 * @return the core
 */
rust::Box<Core>
Run(const Experiment& experiment, rust::Box<Core> core, rust::Slice<const LateFailures> late = {})
{
    if (ns3::Time::GetResolution() != ns3::Time::PS)
    {
        ns3::Time::SetResolution(ns3::Time::PS);
    }
    ns3::FabricHelper helper;
    helper.SetFabricAttribute("StopWhenDone", ns3::BooleanValue(true));
    ns3::Ptr<ns3::Fabric> fabric = helper.CreateFromCore(
        std::make_unique<ns3::FabricCore>(ns3::FabricCore::Impl{std::move(core)}));
    for (const LateFailures& call : late)
    {
        ns3::Simulator::Schedule(ns3::PicoSeconds(call.at_ps), [fabric, &call] {
            fabric->AddFailures(std::string(call.sections));
        });
    }
    ns3::Simulator::Run();
    fabric->GetRust().record(Measure(*fabric));
    rust::Box<Core> back = std::move(fabric->GetCore().GetImpl().core);
    ns3::Simulator::Destroy();
    return back;
}

} // namespace

rust::Box<Core>
run_in_ns3(const Experiment& experiment, rust::Box<Core> core)
{
    return Run(experiment, std::move(core));
}

rust::Box<Core>
run_in_ns3_with_late_failures(const Experiment& experiment,
                              rust::Box<Core> core,
                              rust::Slice<const LateFailures> late)
{
    return Run(experiment, std::move(core), late);
}

} // namespace contract
} // namespace evenkeel
