// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef DEVICE_QUEUES_H
#define DEVICE_QUEUES_H

#include "ns3/net-device.h"
#include "ns3/queue-disc.h"
#include "ns3/queue.h"

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
    uint64_t GetBytes(Ptr<NetDevice> device);

  private:
    /// The queues of a device.
    struct Device
    {
        Ptr<QueueBase> queue;             //!< its own queue; null if it has none
        Ptr<QueueDisc> disc;              //!< its root queue disc; null without one
        std::shared_ptr<uint64_t> onWire; //!< size of the packet on the wire
    };

    /**
     * @param device a device of the node
     * @return its queues
     */
    static Device Inspect(Ptr<NetDevice> device);

    std::map<uint32_t, Device> m_devices; //!< by index of the device in its node
};

} // namespace ns3

#endif /* DEVICE_QUEUES_H */
