// SPDX-License-Identifier: GPL-2.0-only

#include "twin.h"

#include "../helper/fabric-helper.h"
#include "../helper/hpcc-recorder.h"
#include "../model/fabric-core-bridge.h"

#include "ns3/boolean.h"
#include "ns3/simulator.h"

#include <memory>
#include <utility>

namespace evenkeel
{
namespace contract
{

namespace
{

/**
 * @brief Runs an experiment.
 * @param experiment what there is
 * @param core what moves in it
 * @param folder where files of the HPCC family go; none are written if it is null
 * @return the core
 */
rust::Box<Core>
Run(const Experiment& experiment, rust::Box<Core> core, const rust::Str* folder)
{
    ns3::FabricHelper helper;
    helper.SetFabricAttribute("StopWhenDone", ns3::BooleanValue(true));
    auto bridge = std::make_unique<ns3::FabricCoreBridge>(experiment, std::move(core));
    ns3::FabricCoreBridge& kept = *bridge;
    ns3::Ptr<ns3::Fabric> fabric = helper.CreateFromCore(std::move(bridge));
    std::unique_ptr<ns3::HpccRecorder> recorder;
    if (folder)
    {
        recorder = std::make_unique<ns3::HpccRecorder>(experiment, kept.Get(), fabric);
    }
    ns3::Simulator::Run();
    kept.Get().record(ns3::FabricCoreBridge::Measure(*fabric));
    if (folder)
    {
        experiment.write_hpcc(kept.Get(), *folder);
    }
    rust::Box<Core> back = kept.Take();
    ns3::Simulator::Destroy();
    return back;
}

} // namespace

rust::Box<Core>
run_in_ns3(const Experiment& experiment, rust::Box<Core> core)
{
    return Run(experiment, std::move(core), nullptr);
}

rust::Box<Core>
run_hpcc_in_ns3(const Experiment& experiment, rust::Box<Core> core, rust::Str folder)
{
    return Run(experiment, std::move(core), &folder);
}

} // namespace contract
} // namespace evenkeel
