// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

/**
 * @file
 * @ingroup evenkeel
 * Runs a collective on a leaf-spine under one or several load-balancing policies.
 *
 *     evenkeel-all-to-all --policies=ecmp,spray,ethereal
 *
 * For each policy it prints the completion times of the collective and of the slowest flow, and
 * packet counts. Each policy runs in a separate simulation, all in one process.
 */

#include "example-options.h"

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/failure-helper.h"
#include "ns3/string.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

using namespace ns3;

namespace
{

/// The options of this example.
struct Options
{
    std::string policies{"ecmp,spray,ethereal"}; //!< policies, separated by commas
    std::string collective{"all-to-all"};        //!< name of the collective
    bool failure{false};                         //!< true to take a link down
    LeafSpineOptions fabric;                     //!< size of the leaf-spine
};

/**
 * @brief Runs one policy and prints a line.
 * @param options of this example
 * @param policy its name
 * @return 0 if everything completed, 1 otherwise
 */
int
RunPolicy(const Options& options, const std::string& policy)
{
    FabricHelper helper;
    helper.SetChannelAttribute("DataRate", StringValue(options.fabric.rate));
    helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
    helper.SetPolicy(policy);
    CollectiveHelper collective(options.collective);
    collective.SetBytes(options.fabric.bytes);
    collective.Install(helper);
    if (options.failure)
    {
        FailureHelper failures(helper);
        failures.SetConvergence(MilliSeconds(1));
        failures.Down("leaf0-spine0", MicroSeconds(5));
    }
    Ptr<Fabric> fabric = helper.CreateLeafSpine(options.fabric.leaves,
                                                options.fabric.spines,
                                                options.fabric.hostsPerLeaf);
    Simulator::Run();

    uint64_t longestPs = 0;
    for (const FabricFlow& flow : fabric->GetCore().GetFlows())
    {
        if (flow.completedPs != FABRIC_NEVER)
        {
            longestPs = std::max(longestPs, flow.completedPs - flow.startPs);
        }
    }
    const bool done = fabric->GetVerdict() == Fabric::COMPLETED;
    const FabricNicCounters counters = fabric->GetCore().GetCounters();
    std::cout << std::left << std::setw(16) << policy << std::right << std::fixed
              << std::setprecision(3) << std::setw(12)
              << static_cast<double>(fabric->GetFinishPs()) / 1e6 << std::setw(12)
              << static_cast<double>(longestPs) / 1e6 << std::setw(10) << counters.dataSent
              << std::setw(8) << counters.retransmitted << std::setw(8) << counters.marked
              << std::setw(8) << fabric->GetCounters().dataDropped << std::setw(10)
              << fabric->GetQueueBytesMax() / 1000 << (done ? "" : "  did not complete")
              << std::endl;
    return EndRun(fabric);
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("policies", "load-balancing policies, separated by commas", options.policies);
    cmd.AddValue("collective", "collective operation", options.collective);
    options.fabric.AddTo(cmd);
    cmd.AddValue("failure", "take the link leaf0-spine0 down after 5 us", options.failure);
    cmd.Parse(argc, argv);

    std::cout << options.collective << " of " << options.fabric.bytes << " B per rank, "
              << options.fabric.CountHosts() << " hosts" << std::endl
              << "policy          completed_us  longest_us   packets retrans  marked dropped"
                 "  queue_kB"
              << std::endl;
    int status = 0;
    std::istringstream names(options.policies);
    for (std::string policy; std::getline(names, policy, ',');)
    {
        status |= RunPolicy(options, policy);
    }
    return status;
}
