// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

/**
 * @file
 * @ingroup evenkeel
 * Runs an experiment of the HPCC family of simulators in mainline ns-3. It reads the family's
 * config.txt unchanged and writes fct.txt, pfc.txt and every other file that the configuration
 * requests (the trace, queue lengths, ConWeave's monitors). Files have the family's formats and the
 * names in the configuration.
 *
 *     evenkeel-hpcc mix/config.txt --policy=spray --out=results
 *
 * The policy comes from the command line, otherwise from the key LB_POLICY, otherwise it is ECMP.
 * The default configuration is hpcc/config.txt next to this file.
 */

#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/fabric-helper.h"
#include "ns3/hpcc-experiment.h"
#include "ns3/simulator.h"

#include <exception>
#include <iostream>
#include <string>

using namespace ns3;

int
main(int argc, char* argv[])
{
    const std::string here = __FILE__;
    std::string config = here.substr(0, here.rfind('/') + 1) + "hpcc/config.txt";
    std::string policy;
    std::string out = ".";
    bool truncateNs = false;
    // Make the helper first, because it sets ns-3's time resolution.
    FabricHelper helper;
    CommandLine cmd(__FILE__);
    cmd.AddNonOption("config", "configuration of the experiment", config);
    cmd.AddValue("policy", "overrides LB_POLICY (see: evenkeel list policies)", policy);
    cmd.AddValue("out", "folder for results", out);
    cmd.AddValue("truncateNs", "truncate transmission times to whole nanoseconds", truncateNs);
    cmd.Parse(argc, argv);

    try
    {
        HpccExperiment experiment(config,
                                  policy,
                                  truncateNs ? FabricRounding::TRUNCATE_NS : FabricRounding::EXACT);
        for (const std::string& warning : experiment.GetWarnings())
        {
            std::cerr << "warning: " << warning << std::endl;
        }
        Ptr<Fabric> fabric = experiment.Build(helper);
        fabric->SetAttribute("StopWhenDone", BooleanValue(true));
        Simulator::Run();
        experiment.Write(out);
        const bool done = fabric->GetVerdict() == Fabric::COMPLETED;
        std::cout << experiment.GetPolicy() << ": "
                  << (done ? "all flows completed" : "some flows did not complete") << " at "
                  << fabric->GetNowPs() / 1000 << " ns; " << fabric->GetCounters().hops
                  << " packets crossed a link, " << fabric->GetCounters().dataDropped << " lost, "
                  << fabric->GetCounters().pauses << " pauses" << std::endl;
        Simulator::Destroy();
        return done ? 0 : 1;
    }
    catch (const std::exception& error)
    {
        std::cerr << "error: " << error.what() << std::endl;
        return 2;
    }
}
