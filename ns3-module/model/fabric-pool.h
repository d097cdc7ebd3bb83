// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_POOL_H
#define FABRIC_POOL_H

#include "fabric-packet.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The packets in a fabric, one cache line each, and lists of them.
 *
 * A packet stays in its slot from its NIC to its host, and ports hold lists of slots: nothing is
 * copied or allocated on the way, and the pool grows to the most packets that were ever in flight.
 */
class FabricPool
{
  public:
    /// No slot.
    static constexpr uint32_t NONE = 0xffffffff;

    /// A packet and its bookkeeping.
    struct alignas(64) Slot
    {
        FabricPacket packet;  //!< the packet
        uint64_t arrives{0};  //!< when it arrives at the end of its wire, in ps
        uint32_t next{NONE};  //!< slot of the packet behind it in its list
        /// In a queue, with priority flow control (PFC): the port that it came by and counts at,
        /// plus 1; 0 if it does not count. On a wire that was ever degraded: the index of the rate
        /// that it is sent at, in the port's list of rates.
        uint32_t aside{0};
    };

    /// A list of packets, first in, first out.
    struct List
    {
        uint32_t head{NONE}; //!< slot of the first packet
        uint32_t tail{NONE}; //!< slot of the last packet

        /// @return true if the list is empty
        bool IsEmpty() const
        {
            return head == NONE;
        }
    };

    /**
     * @param packet a packet that enters the fabric
     * @return its slot
     */
    uint32_t Insert(const FabricPacket& packet)
    {
        uint32_t slot;
        if (m_free.empty())
        {
            slot = static_cast<uint32_t>(m_slots.size());
            m_slots.emplace_back();
        }
        else
        {
            slot = m_free.back();
            m_free.pop_back();
        }
        Slot& entry = m_slots[slot];
        entry.packet = packet;
        entry.arrives = 0;
        entry.next = NONE;
        entry.aside = 0;
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
     * @return its contents; the reference holds until the next Insert
     */
    Slot& Get(uint32_t slot)
    {
        return m_slots[slot];
    }

    /**
     * @param slot a slot
     * @return its contents; the reference holds until the next Insert
     */
    const Slot& Get(uint32_t slot) const
    {
        return m_slots[slot];
    }

    /**
     * @param list the list
     * @param slot slot of the packet that joins at its end
     */
    void PushBack(List& list, uint32_t slot)
    {
        m_slots[slot].next = NONE;
        if (list.head == NONE)
        {
            list.head = slot;
        }
        else
        {
            m_slots[list.tail].next = slot;
        }
        list.tail = slot;
    }

    /**
     * @param list the list
     * @param slot slot of the packet that joins at its head
     */
    void PushFront(List& list, uint32_t slot)
    {
        m_slots[slot].next = list.head;
        if (list.head == NONE)
        {
            list.tail = slot;
        }
        list.head = slot;
    }

    /**
     * @param list a list that is not empty
     * @return slot of the packet that was its first
     */
    uint32_t PopFront(List& list)
    {
        const uint32_t first = list.head;
        list.head = m_slots[first].next;
        return first;
    }

    /// @return packets that are in the fabric now
    std::size_t GetInFlight() const
    {
        return m_slots.size() - m_free.size();
    }

  private:
    std::vector<Slot> m_slots;    //!< by number
    std::vector<uint32_t> m_free; //!< numbers of slots without a packet
};

static_assert(sizeof(FabricPool::Slot) == 64, "a slot is one cache line");

} // namespace ns3

#endif /* FABRIC_POOL_H */
