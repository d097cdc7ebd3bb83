// SPDX-License-Identifier: GPL-2.0-only

#include "twin.h"

#include "../helper/fabric-helper.h"
#include "../model/fabric-core-bridge.h"

#include "ns3/boolean.h"
#include "ns3/simulator.h"

#include <memory>
#include <utility>

namespace evenkeel
{
namespace contract
{

rust::Box<Core>
run_in_ns3(const Experiment& experiment, rust::Box<Core> core)
{
    ns3::FabricHelper helper;
    helper.SetFabricAttribute("StopWhenDone", ns3::BooleanValue(true));
    auto bridge = std::make_unique<ns3::FabricCoreBridge>(experiment, std::move(core));
    ns3::FabricCoreBridge& kept = *bridge;
    ns3::Ptr<ns3::Fabric> fabric = helper.CreateFromCore(std::move(bridge));
    ns3::Simulator::Run();
    kept.Get().record(ns3::FabricCoreBridge::Measure(*fabric));
    rust::Box<Core> back = kept.Take();
    ns3::Simulator::Destroy();
    return back;
}

} // namespace contract
} // namespace evenkeel
