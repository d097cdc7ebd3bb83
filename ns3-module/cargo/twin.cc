// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "twin.h"

#include "../evenkeel-fabric/helper/fabric-helper.h"
#include "../evenkeel-fabric/model/fabric-bridge.h"

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
    fabric->GetRust().record(ns3::bridge::Measure(*fabric));
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
