// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "device-queues.h"

#include "ns3/log.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/pointer.h"
#include "ns3/traffic-control-layer.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("DeviceQueues");

namespace
{

/// Handles PhyTxBegin: a packet starts on the wire.
void
Begin(std::shared_ptr<uint64_t> onWire, Ptr<const Packet> packet)
{
    *onWire = packet->GetSize();
}

/// Handles PhyTxEnd: the wire is free.
void
End(std::shared_ptr<uint64_t> onWire, Ptr<const Packet>)
{
    *onWire = 0;
}

} // namespace

DeviceQueues::Device
DeviceQueues::Inspect(Ptr<NetDevice> device)
{
    NS_LOG_FUNCTION(device);
    Device result;
    result.onWire = std::make_shared<uint64_t>(0);
    PointerValue queue;
    if (device->GetAttributeFailSafe("TxQueue", queue))
    {
        result.queue = queue.Get<QueueBase>();
    }
    if (auto control = device->GetNode()->GetObject<TrafficControlLayer>())
    {
        result.disc = control->GetRootQueueDiscOnDevice(device);
    }
    // Connecting fails for devices without these trace sources; their wire counts 0 bytes.
    device->TraceConnectWithoutContext("PhyTxBegin", MakeBoundCallback(&Begin, result.onWire));
    device->TraceConnectWithoutContext("PhyTxEnd", MakeBoundCallback(&End, result.onWire));
    return result;
}

uint64_t
DeviceQueues::GetBytes(Ptr<NetDevice> device)
{
    auto found = m_devices.find(device->GetIfIndex());
    if (found == m_devices.end())
    {
        found = m_devices.emplace(device->GetIfIndex(), Inspect(device)).first;
    }
    const Device& queues = found->second;
    uint64_t bytes = *queues.onWire;
    bytes += queues.queue ? queues.queue->GetNBytes() : 0;
    bytes += queues.disc ? queues.disc->GetNBytes() : 0;
    return bytes;
}

} // namespace ns3
