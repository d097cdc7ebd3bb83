// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_RECORDS_H
#define FABRIC_RECORDS_H

// The records that a fabric and its core exchange. Rust declares each of them again, with the same
// fields in the same order, in rust/bridge/world/records.rs. Plain C++11 without ns-3, because the
// bridge is compiled as that.

#include <cstdint>
#include <limits>

namespace ns3
{

/// A time that never comes, in picoseconds.
constexpr uint64_t FABRIC_NEVER = std::numeric_limits<uint64_t>::max();

/// No port of a switch.
constexpr uint32_t FABRIC_NO_PORT = std::numeric_limits<uint32_t>::max();

/**
 * @ingroup evenkeel
 * @brief An end of a link: a host or a switch, each numbered from 0.
 */
struct FabricEnd
{
    uint32_t number{0}; //!< number of the host or of the switch
    bool isHost{false}; //!< true for a host
};

/**
 * @ingroup evenkeel
 * @brief A link. Port 2l sends from a to b, port 2l + 1 back.
 */
struct FabricLink
{
    FabricEnd a;         //!< first end
    FabricEnd b;         //!< second end
    uint64_t rateBps{0}; //!< bits per second, in each direction
    uint64_t delayPs{0}; //!< from last bit out to last bit in
};

/**
 * @ingroup evenkeel
 * @brief How transmission times become picoseconds.
 */
enum class FabricRounding : uint8_t
{
    EXACT = 0,       //!< up to the next picosecond
    TRUNCATE_NS = 1, //!< down to the nanosecond, as the HPCC family of simulators does
};

/**
 * @ingroup evenkeel
 * @brief What all switches and links of a fabric are set to.
 */
struct FabricSettings
{
    bool sharedBuffer{true};        //!< one buffer per switch; false for one per output port
    uint64_t bufferBytes{64000000}; //!< size of that buffer
    bool ecnAtDequeue{false};       //!< mark by the queue as a packet leaves, not as it joins
    bool pfc{false};                //!< priority flow control (PFC)
    uint64_t pfcResumeOffset{0};    //!< a link is resumed this many bytes below its threshold
    bool trim{false};               //!< cut a packet that does not fit to its header
    uint64_t trimSize{64};          //!< length of a trimmed packet on the wire
    uint64_t trimLimit{0};          //!< bytes that may wait with priority at one port
    uint32_t gapBytes{20};          //!< the wire stays busy this many bytes after each packet
    uint64_t forwardingDelayPs{0};  //!< in a switch, from last bit in to the earliest first bit out
    FabricRounding rounding{FabricRounding::EXACT}; //!< of transmission times
    bool ackPriority{true};         //!< acknowledgements are sent before data
    bool looksAtQueues{false};      //!< the switch policy asks for queue lengths
    uint64_t timeLimitPs{FABRIC_NEVER}; //!< a run ends here even if it is not complete
};

/**
 * @ingroup evenkeel
 * @brief When a packet is marked, by the bytes that wait at its output port.
 */
struct FabricEcn
{
    uint64_t kmin{FABRIC_NEVER}; //!< up to this no packet is marked
    uint64_t kmax{FABRIC_NEVER}; //!< above this every packet is; a step where kmin equals it
    uint64_t pmaxNumerator{0};   //!< numerator of the probability just below kmax
    uint64_t pmaxDenominator{1}; //!< its denominator

    /// @return true if the port ever marks
    bool IsOn() const
    {
        return kmin != FABRIC_NEVER;
    }
};

/**
 * @ingroup evenkeel
 * @brief What priority flow control (PFC) keeps for a link that ends at a switch.
 */
struct FabricIngress
{
    uint64_t reserve{0};          //!< bytes of the link's own
    uint64_t headroom{0};         //!< bytes for what is in flight when the link is paused
    uint64_t alphaNumerator{1};   //!< numerator of its share of what is free in the pool
    uint64_t alphaDenominator{1}; //!< its denominator
};

/**
 * @ingroup evenkeel
 * @brief What a faulty link does to packets.
 */
enum class FabricFaultKind : uint8_t
{
    DOWN = 0, //!< it loses every packet that is on the wire at any moment
    LOSS = 1, //!< it loses each packet that starts meanwhile with a probability
};

/**
 * @ingroup evenkeel
 * @brief A fault of a link, from one time to another.
 */
struct FabricFault
{
    using Kind = FabricFaultKind;                         //!< what happens
    static constexpr Kind DOWN = FabricFaultKind::DOWN; //!< see FabricFaultKind
    static constexpr Kind LOSS = FabricFaultKind::LOSS; //!< see FabricFaultKind

    uint32_t link{0};                            //!< number of the link
    FabricFaultKind kind{FabricFaultKind::DOWN}; //!< what happens
    uint64_t fromPs{0};                          //!< when it begins
    uint64_t untilPs{FABRIC_NEVER};              //!< when it ends
    uint32_t numerator{0};                       //!< numerator of the probability of a loss
    uint32_t denominator{1};                     //!< its denominator
};

/**
 * @ingroup evenkeel
 * @brief Who learns of a failure.
 */
enum class FabricWitness : uint8_t
{
    WIRE = 0,    //!< the wire itself: packets start at another rate from then on
    ENDS = 1,    //!< the switches at the ends of the link
    ROUTING = 2, //!< routing everywhere
};

/**
 * @ingroup evenkeel
 * @brief A step of a failure: the time at which a witness learns of it.
 */
struct FabricStep
{
    using Witness = FabricWitness;                              //!< who learns of it
    static constexpr Witness WIRE = FabricWitness::WIRE;       //!< see FabricWitness
    static constexpr Witness ENDS = FabricWitness::ENDS;       //!< see FabricWitness
    static constexpr Witness ROUTING = FabricWitness::ROUTING; //!< see FabricWitness

    uint64_t atPs{0};                           //!< the time
    FabricWitness witness{FabricWitness::WIRE}; //!< who learns of it
    uint32_t link{0};                           //!< number of the link that failed
    uint64_t rateBps{0};                        //!< for WIRE: the new rate in both directions
};

/**
 * @ingroup evenkeel
 * @brief A flow: a message, or the piece of it that a splitter put on a queue pair.
 */
struct FabricFlow
{
    uint32_t message{0};                //!< number of the message
    uint32_t piece{0};                  //!< index of the piece in its message
    uint32_t src{0};                    //!< number of the sending host
    uint32_t dst{0};                    //!< number of the receiving host
    uint64_t bytes{0};                  //!< payload
    uint64_t startPs{0};                //!< when it was given to the NIC
    uint64_t deliveredPs{FABRIC_NEVER}; //!< when its last byte reached the receiver
    uint64_t completedPs{FABRIC_NEVER}; //!< when its sender had the last acknowledgement
    uint16_t sourcePort{0};             //!< UDP source port of its queue pair
};

/**
 * @ingroup evenkeel
 * @brief What happened to a message.
 */
enum class FabricMessageEventKind : uint8_t
{
    DELIVERED = 0, //!< its receiver has every byte
    COMPLETED = 1, //!< its sender has the last acknowledgement
};

/**
 * @ingroup evenkeel
 * @brief An event of a message.
 */
struct FabricMessageEvent
{
    using Kind = FabricMessageEventKind;                            //!< what happened
    static constexpr Kind DELIVERED = FabricMessageEventKind::DELIVERED; //!< see the enumeration
    static constexpr Kind COMPLETED = FabricMessageEventKind::COMPLETED; //!< see the enumeration

    FabricMessageEventKind kind{FabricMessageEventKind::DELIVERED}; //!< what happened
    uint32_t message{0};                                            //!< number of the message
    uint32_t src{0};                                                //!< number of the sending host
    uint32_t dst{0};     //!< number of the receiving host
    uint64_t bytes{0};   //!< payload
    uint64_t startPs{0}; //!< when the message started
    uint64_t atPs{0};    //!< when this happened
};

/// The name of FabricMessageEvent up to version 0.1.
using FabricNews = FabricMessageEvent;

/**
 * @ingroup evenkeel
 * @brief What NICs count.
 */
struct FabricNicCounters
{
    uint64_t dataSent{0};        //!< data packets put on the wire
    uint64_t retransmitted{0};   //!< those of them that were sent before
    uint64_t controlSent{0};     //!< acknowledgements, NACKs and CNPs put on the wire
    uint64_t dataReceived{0};    //!< data packets received, whole or trimmed
    uint64_t trimmed{0};         //!< those of them that a switch cut to their header
    uint64_t marked{0};          //!< those of them that were ECN marked
    uint64_t outOfOrder{0};      //!< those of them behind one of a higher PSN
    uint64_t duplicates{0};      //!< those of them that had been received before
    uint64_t refused{0};         //!< those of them discarded because one before them is missing
    uint64_t payloadReceived{0}; //!< payload bytes accepted, each once
    uint64_t controlReceived{0}; //!< acknowledgements, NACKs and CNPs received
    uint64_t misdirected{0};     //!< packets for a queue pair that does not exist
    uint64_t discarded{0};       //!< packets for a queue pair whose state takes none
    uint64_t notReady{0};        //!< data packets refused for want of a receive or of support
};

/**
 * @ingroup evenkeel
 * @brief Queue pairs, counted at the NICs that send on them.
 */
struct FabricQpCounts
{
    uint64_t perNicMax{0};      //!< most at one NIC
    uint64_t total{0};          //!< at all NICs
    uint64_t extraPerNicMax{0}; //!< most at one NIC beyond one per pair of peers and stream
    uint64_t extraTotal{0};     //!< the same at all NICs
};

/**
 * @ingroup evenkeel
 * @brief What a fabric counts between the NICs, over all ports.
 */
struct FabricCounters
{
    uint64_t dataDropped{0};    //!< data packets dropped
    uint64_t controlDropped{0}; //!< acknowledgements, NACKs and CNPs dropped
    uint64_t hops{0};           //!< packets that reached the end of a wire
    uint64_t arrivals{0};       //!< data packets that arrived at an output port of a switch
    uint64_t waitingFound{0};   //!< sum of the bytes without priority that they found waiting
    uint64_t trimmed{0};        //!< data packets cut to their header
    uint64_t pauses{0};         //!< pause frames sent
};

/**
 * @ingroup evenkeel
 * @brief What priority flow control (PFC) orders a link to do.
 */
enum class FabricPfcOrder : uint8_t
{
    NOTHING = 0, //!< no change
    PAUSE = 1,   //!< send no more packets without priority
    RESUME = 2,  //!< send them again
};

/**
 * @ingroup evenkeel
 * @brief A frame of priority flow control (PFC) that took effect.
 */
struct FabricPause
{
    uint64_t atPs{0};                            //!< when it took effect
    uint32_t port{0};                            //!< the port that it pauses or resumes
    FabricPfcOrder order{FabricPfcOrder::PAUSE}; //!< what it orders
};

} // namespace ns3

#endif /* FABRIC_RECORDS_H */
