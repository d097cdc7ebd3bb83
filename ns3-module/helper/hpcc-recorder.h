// SPDX-License-Identifier: GPL-2.0-only

#ifndef HPCC_RECORDER_H
#define HPCC_RECORDER_H

// Private: nothing that scripts include may hold cxx or Rust.

#include "../model/fabric-core-bridge.h"

#include "evenkeel/rust/bridge/world.rs.h"

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
 * @brief Tells evenkeel what an experiment of the HPCC family wants to be written while it runs:
 * what happens to packets, and what there is to see at the times of its monitors.
 */
class HpccRecorder
{
  public:
    /**
     * @brief Begins to record, if the experiment asks for anything. To be made before the
     * simulation starts, and kept until it is over; what happens after its end is not written.
     * @param experiment an experiment of that family
     * @param core what moves in it
     * @param fabric the fabric of that core
     */
    HpccRecorder(const evenkeel::contract::Experiment& experiment,
                 evenkeel::contract::Core& core,
                 Ptr<Fabric> fabric);
    ~HpccRecorder();

    // Delete copy constructor and assignment operator to avoid misuse
    HpccRecorder(const HpccRecorder&) = delete;
    HpccRecorder& operator=(const HpccRecorder&) = delete;

  private:
    /// What can happen to a packet, as the contract numbers it.
    enum Event : uint8_t
    {
        RECEIVED = 0, //!< it has arrived
        ENQUEUED = 1, //!< it joins the queue
        DEQUEUED = 2, //!< it leaves the queue and starts
        DROPPED = 3,  //!< it is lost
    };

    /// A port whose packets are noted, for as long as this lives.
    class Noted
    {
      public:
        /**
         * @param core who is told
         * @param port the port
         */
        Noted(evenkeel::contract::Core& core, FabricPort& port);
        ~Noted();

        // Delete copy constructor and assignment operator: the port knows this one
        Noted(const Noted&) = delete;
        Noted& operator=(const Noted&) = delete;

      private:
        /**
         * @brief A packet has arrived.
         * @param packet the packet
         * @param when when
         */
        void Receive(const FabricPacket& packet, Time when);
        /**
         * @brief A packet joins the queue, and counts there already.
         * @param packet the packet
         * @param when when
         */
        void Enqueue(const FabricPacket& packet, Time when);
        /**
         * @brief A packet leaves the queue and starts next.
         * @param packet the packet
         * @param when when
         */
        void Dequeue(const FabricPacket& packet, Time when);
        /**
         * @brief A packet starts.
         * @param packet the packet
         * @param when when
         */
        void Start(const FabricPacket& packet, Time when);
        /**
         * @brief A packet is lost.
         * @param packet the packet
         * @param when when
         */
        void Drop(const FabricPacket& packet, Time when);
        /**
         * @brief Tells it.
         * @param event what
         * @param packet of which packet
         * @param when when
         * @param waiting bytes in its queue
         */
        void Tell(Event event, const FabricPacket& packet, Time when, uint32_t waiting);

        evenkeel::contract::Core& m_core; //!< who is told
        Ptr<FabricPort> m_port;           //!< the port, which a simulation may end before this
        bool m_isHosts;                   //!< it is a NIC, which keeps its queues itself
        bool m_left{false};               //!< what starts next has left the queue
    };

    /**
     * @brief Looks, and says when to look again.
     * @param nowPs the time
     */
    void Look(uint64_t nowPs);

    evenkeel::contract::Core& m_core;            //!< who is told
    Ptr<Fabric> m_fabric;                        //!< the fabric
    std::vector<std::unique_ptr<Noted>> m_noted; //!< ports whose packets are noted
    std::vector<uint32_t> m_lookedAt;            //!< ports whose counters are looked at
    std::vector<uint32_t> m_waiting;             //!< by port
    std::vector<uint64_t> m_carried;             //!< by port
};

} // namespace ns3

#endif /* HPCC_RECORDER_H */
