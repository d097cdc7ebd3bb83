// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

/**
 * @file
 * @ingroup evenkeel
 * Runs an evenkeel scenario in ns-3, with the fabric, workload, policy, failures and seed of its
 * file.
 *
 *     evenkeel-scenario --file=examples/quickstart.toml --flows
 *
 * With --flows it prints one line per flow: message, piece, sender, receiver, bytes, and start,
 * delivery and completion in picoseconds. Without --file it runs a small built-in scenario.
 */

#include "example-options.h"

#include "ns3/boolean.h"
#include "ns3/fabric-helper.h"

#include <iostream>

using namespace ns3;

namespace
{

/// The scenario that runs without --file.
const char* const SCENARIO = R"(
[topology]
leaves = 2
spines = 2
hosts_per_leaf = 2

[policy]
name = "reps"

[workload]
kind = "all-to-all"
bytes = "1MB"
)";

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    std::string file;
    bool flows = false;
    FabricHelper helper;
    CommandLine cmd(__FILE__);
    cmd.AddValue("file", "file of the scenario", file);
    cmd.AddValue("flows", "print each flow", flows);
    cmd.Parse(argc, argv);

    helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
    Ptr<Fabric> fabric = file.empty() ? helper.CreateFromCore(MakeFabricCore(SCENARIO, "."))
                                      : helper.CreateFromScenario(file);
    Simulator::Run();

    const bool done = fabric->GetVerdict() == Fabric::COMPLETED;
    const Fabric::Counters& counters = fabric->GetCounters();
    const FabricNicCounters nics = fabric->GetCore().GetCounters();
    std::cout << (done ? "completed" : "not completed") << " at "
              << (done ? fabric->GetFinishPs() : fabric->GetNowPs()) << " ps, " << nics.dataSent
              << " data packets sent, " << nics.retransmitted << " of them retransmitted, "
              << counters.dataDropped << " lost, " << counters.trimmed << " trimmed, "
              << nics.marked << " marked, " << counters.pauses << " pauses, " << counters.hops
              << " hops" << std::endl;
    if (flows)
    {
        for (const FabricFlow& flow : fabric->GetCore().GetFlows())
        {
            std::cout << flow.message << " " << flow.piece << " " << flow.src << " " << flow.dst
                      << " " << flow.bytes << " " << flow.startPs << " " << flow.deliveredPs << " "
                      << flow.completedPs << std::endl;
        }
    }
    return EndRun(fabric);
}
