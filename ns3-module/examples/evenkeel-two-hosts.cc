// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * @ingroup evenkeel
 * Two hosts behind one switch: a message, and when its receiver and its sender are done with it.
 *
 * The topology is wired by hand, node by node, as a script of its own would do it:
 *
 *     host 0 ---- switch ---- host 1
 *
 * With --pcap both NICs write what they send and receive; Wireshark reads it as RoCEv2.
 */

#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/fabric-helper.h"
#include "ns3/rdma-nic-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <iostream>

using namespace ns3;

namespace
{

/**
 * @brief Prints what happened to a message.
 * @param context who tells
 * @param news what happened
 */
void
Tell(std::string context, const FabricNews& news)
{
    std::cout << news << std::endl;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint64_t bytes = 1000000;
    std::string rate = "400Gbps";
    bool pcap = false;
    // The helper comes first: it sets ns-3's time resolution.
    FabricHelper fabricHelper;
    CommandLine cmd(__FILE__);
    cmd.AddValue("bytes", "length of the message", bytes);
    cmd.AddValue("rate", "of both links", rate);
    cmd.AddValue("pcap", "write what the NICs send and receive", pcap);
    cmd.Parse(argc, argv);

    NodeContainer hosts(2);
    NodeContainer switches(1);

    SwitchHelper switchHelper;
    switchHelper.SetPolicy("ecmp");
    switchHelper.Install(switches);

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
                    MakeCallback(&Tell));
    Config::Connect("/NodeList/*/DeviceList/*/$ns3::RdmaNic/MessageCompleted",
                    MakeCallback(&Tell));

    fabric->GetNic(0)->PostMessage(fabric->GetNic(1), bytes);
    Simulator::Run();
    const bool done = fabric->GetVerdict() == Fabric::COMPLETED;
    Simulator::Destroy();
    return done ? 0 : 1;
}
