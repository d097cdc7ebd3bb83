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
 * @brief Packets of a fabric, one cache line each, and lists of them.
 *
 * A packet stays where it is from its NIC to its host; ports hold lists of places. So nothing is
 * copied or allocated on the way, and memory is what is in flight at most.
 */
class FabricPool
{
  public:
    /// No place.
    static constexpr uint32_t NONE = 0xffffffff;

    /// A packet and its bookkeeping.
    struct alignas(64) Slot
    {
        FabricPacket packet;  //!< the packet
        uint64_t arrives{0};  //!< when it arrives at the end of the wire it is on, in ps
        uint32_t next{NONE};  //!< the one behind it
        /// In line, with flow control: the port that it came by and is counted at, plus 1; 0 where
        /// it is not counted. On a wire that was ever degraded: which of its rates it is sent at.
        uint32_t aside{0};
    };

    /// Packets in order, first in, first out.
    struct List
    {
        uint32_t head{NONE}; //!< the first
        uint32_t tail{NONE}; //!< the last

        /// @return true if there is none
        bool IsEmpty() const
        {
            return head == NONE;
        }
    };

    /**
     * @param packet a packet that enters the fabric
     * @return its place
     */
    uint32_t Insert(const FabricPacket& packet)
    {
        uint32_t place;
        if (m_free.empty())
        {
            place = static_cast<uint32_t>(m_slots.size());
            m_slots.emplace_back();
        }
        else
        {
            place = m_free.back();
            m_free.pop_back();
        }
        Slot& slot = m_slots[place];
        slot.packet = packet;
        slot.arrives = 0;
        slot.next = NONE;
        slot.aside = 0;
        return place;
    }

    /**
     * @param place of a packet that leaves the fabric
     * @return the packet
     */
    FabricPacket Remove(uint32_t place)
    {
        m_free.push_back(place);
        return m_slots[place].packet;
    }

    /**
     * @param place a place
     * @return what is there, until the next Insert
     */
    Slot& Get(uint32_t place)
    {
        return m_slots[place];
    }

    /**
     * @param place a place
     * @return what is there, until the next Insert
     */
    const Slot& Get(uint32_t place) const
    {
        return m_slots[place];
    }

    /**
     * @param list to which
     * @param place what joins at its end
     */
    void PushBack(List& list, uint32_t place)
    {
        m_slots[place].next = NONE;
        if (list.head == NONE)
        {
            list.head = place;
        }
        else
        {
            m_slots[list.tail].next = place;
        }
        list.tail = place;
    }

    /**
     * @param list to which
     * @param place what joins at its head
     */
    void PushFront(List& list, uint32_t place)
    {
        m_slots[place].next = list.head;
        if (list.head == NONE)
        {
            list.tail = place;
        }
        list.head = place;
    }

    /**
     * @param list a list that is not empty
     * @return the place of what was its first
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
    std::vector<Slot> m_slots;    //!< packets
    std::vector<uint32_t> m_free; //!< places that hold none
};

static_assert(sizeof(FabricPool::Slot) == 64, "a slot is one cache line");

} // namespace ns3

#endif /* FABRIC_POOL_H */
