// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef HPCC_RECORDER_H
#define HPCC_RECORDER_H

// Private: public headers must not include headers of cxx or of the Rust library.

#include "../model/fabric-core-bridge.h"
#include "evenkeel-bridge/world/contract.rs.h"

#include "ns3/fabric-packet.h"
#include "ns3/fabric-port.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

class Fabric;

/**
 * @ingroup evenkeel
 * @brief Records the data that an experiment of the HPCC family requests: packet events, and
 * samples of counters at the times of its monitors.
 */
class HpccRecorder
{
  public:
    /**
     * @brief Starts recording if the experiment requests any data. Make the recorder before the
     * simulation starts, and keep it until the simulation ends; recording stops when it is
     * destroyed.
     * @param experiment an experiment of that family
     * @param core its hosts and policies
     * @param fabric the fabric of that core
     */
    HpccRecorder(const evenkeel::contract::Experiment& experiment,
                 evenkeel::contract::Core& core,
                 Ptr<Fabric> fabric);
    ~HpccRecorder();

    // Not copyable: the fabric has the address of this object.
    HpccRecorder(const HpccRecorder&) = delete;
    HpccRecorder& operator=(const HpccRecorder&) = delete;

  private:
    /// The kinds of packet events.
    using Event = evenkeel::contract::PacketEvent;

    /// Records the packet events of a port for its lifetime.
    class TracedPort
    {
      public:
        /**
         * @param core receives the events
         * @param port the port
         */
        TracedPort(evenkeel::contract::Core& core, FabricPort& port);
        ~TracedPort();

        // Not copyable: the port has the address of this object.
        TracedPort(const TracedPort&) = delete;
        TracedPort& operator=(const TracedPort&) = delete;

      private:
        /**
         * @brief Handles a packet that arrived.
         * @param packet the packet
         * @param when the time
         */
        void Receive(const FabricPacket& packet, Time when);
        /**
         * @brief Handles a packet that joined the queue, which already includes its bytes.
         * @param packet the packet
         * @param when the time
         */
        void Enqueue(const FabricPacket& packet, Time when);
        /**
         * @brief Handles a packet that left the queue and starts next.
         * @param packet the packet
         * @param when the time
         */
        void Dequeue(const FabricPacket& packet, Time when);
        /**
         * @brief Handles a packet that starts.
         * @param packet the packet
         * @param when the time
         */
        void Start(const FabricPacket& packet, Time when);
        /**
         * @brief Handles a packet that was dropped.
         * @param packet the packet
         * @param when the time
         */
        void Drop(const FabricPacket& packet, Time when);
        /**
         * @brief Records an event.
         * @param event kind of the event
         * @param packet the packet
         * @param when the time
         * @param waiting bytes in its queue without the packet
         */
        void Record(Event event, const FabricPacket& packet, Time when, uint32_t waiting);

        evenkeel::contract::Core& m_core; //!< receives the events
        Ptr<FabricPort> m_port;           //!< the port; the simulation may end first
        bool m_isNic;                     //!< true for a NIC, which queues packets itself
        bool m_dequeued{false};           //!< the packet that starts next came from the queue
    };

    /**
     * @brief Takes a sample and schedules the next one.
     * @param nowPs the time
     */
    void Sample(uint64_t nowPs);

    evenkeel::contract::Core& m_core;                  //!< receives the samples
    Ptr<Fabric> m_fabric;                              //!< the fabric
    std::vector<std::unique_ptr<TracedPort>> m_traced; //!< ports whose packets are recorded
    std::vector<uint32_t> m_sampled;                   //!< ports whose counters are sampled
    std::vector<uint32_t> m_waiting;                   //!< queued bytes without priority, by port
    std::vector<uint64_t> m_carried;                   //!< bytes started, by port
};

} // namespace ns3

#endif /* HPCC_RECORDER_H */
