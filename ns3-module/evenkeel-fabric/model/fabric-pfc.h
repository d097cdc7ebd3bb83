// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_PFC_H
#define FABRIC_PFC_H

#include "fabric-records.h"

#include <cstdint>
#include <ostream>
#include <vector>

namespace ns3
{

struct FabricDescription;

/**
 * @ingroup evenkeel
 * @brief Priority flow control (PFC): how a switch shares its memory among its incoming links, and
 * when it pauses one of them.
 *
 * Frames follow IEEE 802.1Qbb, and thresholds the HPCC simulator's SwitchMmu. The packets of a link
 * use its reserve first, then a share of the free memory in the switch's pool, then its headroom.
 * The headroom holds the packets in flight when the link is paused. A packet counts from enqueue to
 * dequeue; one that passes through an empty queue never counts.
 *
 * With traffic classes, each class of a link is counted and paused separately, and all classes
 * share the pool. A class that PFC does not protect has neither reserve nor headroom, and is never
 * paused.
 */
class FabricPfc
{
  public:
    /// A command to a link: pause, resume, or nothing.
    using Order = FabricPfcOrder;
    static constexpr Order NOTHING = FabricPfcOrder::NOTHING; //!< see FabricPfcOrder
    static constexpr Order PAUSE = FabricPfcOrder::PAUSE;     //!< see FabricPfcOrder
    static constexpr Order RESUME = FabricPfcOrder::RESUME;   //!< see FabricPfcOrder

    /// A traffic class of a link that ends at a switch; the whole link without classes.
    struct Ingress
    {
        uint32_t pool{0xffffffff}; //!< number of the switch; 0xffffffff if the link ends at a host
        FabricIngress limits;      //!< reserve, share of the pool and headroom
        uint64_t used{0};          //!< bytes in reserve and pool
        uint64_t inHeadroom{0};    //!< bytes in headroom
        bool paused{false};        //!< true if the last order was a pause
        bool isProtected{true};    //!< it has reserve and headroom, and is paused

        /// @return bytes in the pool
        uint64_t GetShared() const
        {
            return used > limits.reserve ? used - limits.reserve : 0;
        }
    };

    /// The memory that the links of a switch share.
    struct Pool
    {
        uint64_t size{0}; //!< size in bytes
        uint64_t used{0}; //!< bytes in use
    };

    /// The settings of all switches.
    struct Rules
    {
        uint64_t resumeOffset{0}; //!< a link is resumed this many bytes below its threshold
        uint32_t classes{1};      //!< traffic classes per link
        bool repeats{false};      //!< repeat the pause for each packet while it lasts
    };

    /**
     * @param rules the settings
     * @param links by the port that sends over the link, and then by traffic class
     * @param pools by switch
     */
    FabricPfc(const Rules& rules, std::vector<Ingress> links, std::vector<Pool> pools);

    /**
     * @param description of a fabric
     * @return priority flow control for that fabric
     */
    static FabricPfc FromDescription(const FabricDescription& description);

    /**
     * @param link the port that sent the packet
     * @param bytes length of the packet
     * @param trafficClass its class
     * @return true if there is room for the packet
     */
    bool Admits(uint32_t link, uint64_t bytes, uint32_t trafficClass = 0) const;
    /**
     * @brief Counts bytes that joined a queue.
     * @param link the port that sent them
     * @param bytes number of bytes
     * @param trafficClass their class
     * @return the order to the class of the link
     */
    Order Add(uint32_t link, uint64_t bytes, uint32_t trafficClass = 0);
    /**
     * @brief Counts bytes that left a queue.
     * @param link the port that sent them
     * @param bytes number of bytes
     * @param trafficClass their class
     * @return the order to the class of the link
     */
    Order Remove(uint32_t link, uint64_t bytes, uint32_t trafficClass = 0);
    /**
     * @param link the port that sends over it
     * @param trafficClass a class
     * @return the state of the class of the link
     */
    const Ingress& GetIngress(uint32_t link, uint32_t trafficClass = 0) const;
    /**
     * @param pool number of a switch
     * @return the state of its memory
     */
    const Pool& GetPool(uint32_t pool) const;

  private:
    /**
     * @param ingress a link
     * @return bytes of the pool that it may use now
     */
    uint64_t GetThreshold(const Ingress& ingress) const;

    Rules m_rules;                //!< the settings
    std::vector<Ingress> m_links; //!< by port, and then by traffic class
    std::vector<Pool> m_pools;    //!< by switch
};

/**
 * @brief Prints an order to a link.
 * @param os the stream
 * @param order the order
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, FabricPfcOrder order);

} // namespace ns3

#endif /* FABRIC_PFC_H */
