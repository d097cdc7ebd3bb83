// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A square of Wi-Fi nodes with OLSR. Opposite corners are out of range of each other and have two
// paths, which the policy does not balance.

#include "script.h"

#include "ns3/mobility-helper.h"
#include "ns3/olsr-helper.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-mac-helper.h"
#include "ns3/yans-wifi-helper.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Script script(argc, argv);
    NodeContainer nodes(4);
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator",
                                  "DeltaX",
                                  DoubleValue(40),
                                  "DeltaY",
                                  DoubleValue(40),
                                  "GridWidth",
                                  UintegerValue(2));
    mobility.Install(nodes);
    YansWifiPhyHelper phy;
    phy.SetChannel(YansWifiChannelHelper::Default().Create());
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue("OfdmRate6Mbps"));
    const NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    script.InstallInternet(nodes, OlsrHelper());
    Ipv4AddressHelper network("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer interfaces = network.Assign(devices);
    // OLSR needs some seconds to find all routes.
    script.AddFlow(nodes.Get(0),
                   nodes.Get(3),
                   interfaces.GetAddress(3),
                   50,
                   MilliSeconds(10),
                   Seconds(30));
    return script.Run(Seconds(31));
}
