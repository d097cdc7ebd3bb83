// SPDX-License-Identifier: GPL-2.0-only

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
 * @brief Priority flow control: how a switch shares its memory among the links that end at it,
 * and when it stops one of them.
 *
 * The frames are those of IEEE 802.1Qbb, the rules those of the HPCC simulator's SwitchMmu. A link
 * has a reserve of its own, then its part of what is left of a pool that all share, then its
 * headroom, which is for what was under way when it was told to stop. A packet counts from when
 * it joins a queue until it starts on a wire; one that passes through without waiting never does.
 */
class FabricPfc
{
  public:
    /// What a link is ordered to do.
    using Order = FabricPfcOrder;
    static constexpr Order NOTHING = FabricPfcOrder::NOTHING; //!< see FabricPfcOrder
    static constexpr Order PAUSE = FabricPfcOrder::PAUSE;     //!< see FabricPfcOrder
    static constexpr Order RESUME = FabricPfcOrder::RESUME;   //!< see FabricPfcOrder

    /// A link that ends at a switch.
    struct Ingress
    {
        uint32_t pool{0xffffffff}; //!< the switch whose memory it fills; none if it ends at a host
        FabricIngress limits;      //!< what is kept for it
        uint64_t used{0};          //!< bytes in reserve and pool
        uint64_t inHeadroom{0};    //!< bytes in headroom
        bool paused{false};        //!< what it was ordered last

        /// @return bytes in the pool
        uint64_t GetShared() const
        {
            return used > limits.reserve ? used - limits.reserve : 0;
        }
    };

    /// A switch's memory that links share.
    struct Pool
    {
        uint64_t size{0}; //!< bytes there are
        uint64_t used{0}; //!< bytes taken
    };

    /**
     * @param resumeOffset "go on" is said this far below the threshold, in bytes
     * @param links by the port at the other end of the link
     * @param pools by switch
     */
    FabricPfc(uint64_t resumeOffset, std::vector<Ingress> links, std::vector<Pool> pools);

    /**
     * @param description of a fabric
     * @return priority flow control for that fabric
     */
    static FabricPfc For(const FabricDescription& description);

    /**
     * @param link the link that they came by
     * @param bytes how many
     * @return true if there is room for them
     */
    bool Admits(uint32_t link, uint64_t bytes) const;
    /**
     * @brief Counts bytes that were admitted.
     * @param link the link that they came by
     * @param bytes how many
     * @return what the link is to be told
     */
    Order Add(uint32_t link, uint64_t bytes);
    /**
     * @brief Counts bytes that left.
     * @param link the link that they came by
     * @param bytes how many
     * @return what the link is to be told
     */
    Order Remove(uint32_t link, uint64_t bytes);
    /**
     * @param link a link
     * @return how it stands
     */
    const Ingress& GetIngress(uint32_t link) const;
    /**
     * @param pool a switch
     * @return how its memory stands
     */
    const Pool& GetPool(uint32_t pool) const;

  private:
    /**
     * @param ingress a link
     * @return how much of the pool it may take now
     */
    uint64_t GetThreshold(const Ingress& ingress) const;

    uint64_t m_resumeOffset;      //!< bytes below the threshold
    std::vector<Ingress> m_links; //!< by port
    std::vector<Pool> m_pools;    //!< by switch
};

/**
 * @brief Prints what a link is ordered to do.
 * @param os the stream
 * @param order the order
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, FabricPfcOrder order);

} // namespace ns3

#endif /* FABRIC_PFC_H */
