// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_POOL_H
#define FABRIC_POOL_H

#include "fabric-packet.h"
#include "fabric-port.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The packets in a fabric, one cache line each, and linked lists of them.
 *
 * A packet stays in its slot from NIC to host, and ports hold lists of slots, so a hop copies and
 * allocates nothing. The pool grows to the maximum number of packets in flight.
 */
class FabricPool
{
  public:
    /// A FIFO list of packets.
    using List = FabricSlots;
    /// No slot: marks the end of a list.
    static constexpr uint32_t NONE = FabricSlots::NONE;

    /// A packet and its bookkeeping.
    struct alignas(64) Slot
    {
        FabricPacket packet;    //!< the packet
        uint64_t arrives{0};    //!< arrival time at the end of its wire, in ps
        uint32_t next{NONE};    //!< slot of the next packet in its list
        uint32_t ingress{NONE}; //!< the port that sent it to its switch; NONE at a NIC
    };

    /**
     * @param packet a packet that enters the fabric
     * @return its slot
     */
    uint32_t Insert(const FabricPacket& packet)
    {
        if (m_free.empty())
        {
            m_free.push_back(static_cast<uint32_t>(m_slots.size()));
            m_slots.emplace_back();
        }
        const uint32_t slot = m_free.back();
        m_free.pop_back();
        m_slots[slot] = Slot{packet};
        return slot;
    }

    /**
     * @param slot slot of a packet that leaves the fabric
     * @return the packet
     */
    FabricPacket Remove(uint32_t slot)
    {
        m_free.push_back(slot);
        return m_slots[slot].packet;
    }

    /**
     * @param slot a slot
     * @return its contents; the reference is valid until the next Insert
     */
    Slot& Get(uint32_t slot)
    {
        return m_slots[slot];
    }

    /**
     * @param list the list
     * @param slot slot of the packet to append
     */
    void PushBack(List& list, uint32_t slot)
    {
        m_slots[slot].next = NONE;
        (list.head == NONE ? list.head : m_slots[list.tail].next) = slot;
        list.tail = slot;
    }

    /**
     * @param list the list
     * @param before a slot in the list; NONE to put the packet at the front
     * @param slot slot of the packet to put after it
     */
    void Insert(List& list, uint32_t before, uint32_t slot)
    {
        uint32_t& next = before == NONE ? list.head : m_slots[before].next;
        m_slots[slot].next = next;
        if (next == NONE)
        {
            list.tail = slot;
        }
        next = slot;
    }

    /**
     * @param list a list that is not empty
     * @return slot of its first packet, now removed
     */
    uint32_t PopFront(List& list)
    {
        const uint32_t first = list.head;
        list.head = m_slots[first].next;
        return first;
    }

    /// @return number of packets in the fabric
    std::size_t GetInFlight() const
    {
        return m_slots.size() - m_free.size();
    }

  private:
    std::vector<Slot> m_slots;    //!< by number
    std::vector<uint32_t> m_free; //!< free slots
};

static_assert(sizeof(FabricPool::Slot) == 64, "a slot is one cache line");

} // namespace ns3

#endif /* FABRIC_POOL_H */
