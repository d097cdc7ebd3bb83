// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

/**
 * @file
 * @ingroup evenkeel
 * Sends a message between two hosts through one switch, and prints when it is delivered and when it
 * completes.
 *
 * The program builds the topology link by link:
 *
 *     host 0 ---- switch ---- host 1
 *
 * With --pcap, both NICs write their packets to RoCEv2 captures, which Wireshark reads.
 */

#include "example-options.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/fabric-helper.h"
#include "ns3/rdma-nic-helper.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <iostream>

using namespace ns3;

namespace
{

/**
 * @brief Prints an event of a message.
 * @param context path of the trace source
 * @param event the event
 */
void
Print(std::string context, const FabricMessageEvent& event)
{
    std::cout << event << std::endl;
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    uint64_t bytes = 1000000;
    std::string rate = "400Gbps";
    bool pcap = false;
    FabricHelper fabricHelper;
    CommandLine cmd(__FILE__);
    cmd.AddValue("bytes", "length of the message", bytes);
    cmd.AddValue("rate", "rate of both links", rate);
    cmd.AddValue("pcap", "write the packets of the NICs to pcap files", pcap);
    cmd.Parse(argc, argv);

    NodeContainer hosts(2);
    NodeContainer switches(1);

    fabricHelper.SetPolicy("ecmp");
    fabricHelper.InstallSwitches(switches);

    RdmaNicHelper nicHelper;
    nicHelper.SetAttribute("CongestionControl", StringValue("dcqcn"));
    NetDeviceContainer nics = nicHelper.Install(hosts);

    fabricHelper.SetChannelAttribute("DataRate", StringValue(rate));
    fabricHelper.SetChannelAttribute("Delay", StringValue("500ns"));
    fabricHelper.Install(hosts, switches.Get(0));
    Ptr<Fabric> fabric = fabricHelper.Finish();
    fabric->SetAttribute("StopWhenDone", BooleanValue(true));

    if (pcap)
    {
        nicHelper.EnablePcap("evenkeel-two-hosts", nics);
    }
    Config::Connect("/NodeList/*/DeviceList/*/$ns3::RdmaNic/MessageDelivered",
                    MakeCallback(&Print));
    Config::Connect("/NodeList/*/DeviceList/*/$ns3::RdmaNic/MessageCompleted",
                    MakeCallback(&Print));

    fabric->GetNic(0)->PostMessage(fabric->GetNic(1), bytes);
    Simulator::Run();
    return EndRun(fabric);
}
