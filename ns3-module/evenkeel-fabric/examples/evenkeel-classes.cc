// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

/**
 * @file
 * @ingroup evenkeel
 * Sends short messages alongside a permutation of long ones: in the same traffic class, in a class
 * with half of the bytes, and in a strict class. Prints how long the short messages take.
 *
 * With --pfc, switches pause only the class of the long messages.
 */

#include "example-options.h"

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/string.h"

#include <algorithm>
#include <iostream>

using namespace ns3;

namespace
{

/**
 * @brief Runs the fabric once.
 * @param name label to print
 * @param shortClass class of the short messages
 * @param scheduling of that class, if the long messages have another class
 * @param pfc true for priority flow control
 */
void
Run(const std::string& name,
    const std::string& shortClass,
    FabricHelper::Scheduling scheduling,
    bool pfc)
{
    FabricHelper helper;
    helper.SetNicAttribute("CongestionControl", StringValue("line-rate"));
    helper.SetSwitchAttribute("Pfc", BooleanValue(pfc));
    helper.AddClass("long");
    helper.AddClass("short", scheduling);
    CollectiveHelper workload("permutation");
    workload.SetBytes(2000000);
    workload.SetClass("long");
    workload.Install(helper);
    Ptr<Fabric> fabric = helper.CreateLeafSpine(4, 2, 4);

    uint64_t sum = 0;
    uint64_t most = 0;
    const uint32_t count = 20;
    Ptr<RdmaNic> from = fabric->GetNic(0);
    Ptr<RdmaNic> to = fabric->GetNic(15);
    const uint32_t stream = fabric->GetStreamIn(shortClass);
    const RdmaNic::MessageCallback delivered([&](const FabricMessageEvent& event) {
        sum += event.atPs - event.startPs;
        most = std::max(most, event.atPs - event.startPs);
    });
    for (uint32_t message = 0; message < count; ++message)
    {
        const uint32_t number = from->PostMessage(to, 4096, MicroSeconds(5 + message), stream);
        to->NotifyDelivery(number, delivered);
    }
    Simulator::Run();
    std::cout << name << ": " << sum / count / 1000 << " ns on average, " << most / 1000
              << " ns at most, " << fabric->GetCounters().pauses << " pauses" << std::endl;
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    bool pfc = false;
    CommandLine cmd(__FILE__);
    cmd.AddValue("pfc", "priority flow control", pfc);
    cmd.Parse(argc, argv);
    Run("one class", "long", FabricHelper::WEIGHTED, pfc);
    Run("half of the bytes", "short", FabricHelper::WEIGHTED, pfc);
    Run("strict", "short", FabricHelper::STRICT, pfc);
    return 0;
}
