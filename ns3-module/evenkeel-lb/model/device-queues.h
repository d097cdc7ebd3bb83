// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef DEVICE_QUEUES_H
#define DEVICE_QUEUES_H

#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/pointer.h"
#include "ns3/queue-disc.h"
#include "ns3/queue.h"
#include "ns3/traffic-control-layer.h"

#include <cstdint>
#include <map>
#include <memory>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Measures the queued bytes of a node's devices.
 *
 * It counts the root queue disc and the device's own queue (the attribute TxQueue). For a device
 * with the trace sources PhyTxBegin and PhyTxEnd it also counts the packet on the wire.
 */
class DeviceQueues
{
  public:
    /**
     * @param device a device of the node
     * @return bytes in its queues, plus those of the packet on the wire
     */
    uint64_t GetBytes(Ptr<NetDevice> device)
    {
        const auto [found, isNew] = m_devices.try_emplace(device->GetIfIndex());
        Device& queues = found->second;
        if (isNew)
        {
            Inspect(device, queues);
        }
        return *queues.onWire + (queues.queue ? queues.queue->GetNBytes() : 0) +
               (queues.disc ? queues.disc->GetNBytes() : 0);
    }

  private:
    /// The queues of a device.
    struct Device
    {
        Ptr<QueueBase> queue; //!< its own queue; null if it has none
        Ptr<QueueDisc> disc;  //!< its root queue disc; null without one
        /// Size of the packet on the wire.
        std::shared_ptr<uint64_t> onWire{std::make_shared<uint64_t>(0)};
    };

    /**
     * @param device a device of the node
     * @param queues set to its queues
     */
    static void Inspect(Ptr<NetDevice> device, Device& queues)
    {
        PointerValue queue;
        if (device->GetAttributeFailSafe("TxQueue", queue))
        {
            queues.queue = queue.Get<QueueBase>();
        }
        if (auto control = device->GetNode()->GetObject<TrafficControlLayer>())
        {
            queues.disc = control->GetRootQueueDiscOnDevice(device);
        }
        // Connecting fails for devices without these trace sources; their wire counts 0 bytes.
        using Handler = Callback<void, Ptr<const Packet>>;
        const auto onWire = queues.onWire;
        device->TraceConnectWithoutContext(
            "PhyTxBegin",
            Handler([onWire](Ptr<const Packet> packet) { *onWire = packet->GetSize(); }));
        device->TraceConnectWithoutContext("PhyTxEnd",
                                           Handler([onWire](Ptr<const Packet>) { *onWire = 0; }));
    }

    std::map<uint32_t, Device> m_devices; //!< by index of the device in its node
};

} // namespace ns3

#endif /* DEVICE_QUEUES_H */
