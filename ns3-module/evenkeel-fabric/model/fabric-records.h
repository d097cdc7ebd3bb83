// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_RECORDS_H
#define FABRIC_RECORDS_H

// The records that a fabric and its core exchange. rust/bridge/world/records.rs declares the same
// records with the same field order. This header is plain C++11 without ns-3, because the bridge is
// compiled that way.

#include <cstdint>
#include <limits>

namespace ns3
{

/// The time of an event that never happens, in picoseconds.
constexpr uint64_t FABRIC_NEVER = std::numeric_limits<uint64_t>::max();

/// Stands for no port or no host.
constexpr uint32_t FABRIC_NO_PORT = std::numeric_limits<uint32_t>::max();

/// Maximum number of ports per NIC, and so of planes per fabric.
constexpr uint32_t FABRIC_MOST_PLANES = 32;

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
 * @brief A link. Port 2l of link l sends from a to b, port 2l + 1 from b to a.
 */
struct FabricLink
{
    FabricEnd a;         //!< first end
    FabricEnd b;         //!< second end
    uint64_t rateBps{0}; //!< bits per second, in each direction
    uint64_t delayPs{0}; //!< propagation delay
};

/**
 * @ingroup evenkeel
 * @brief The rounding of transmission times.
 */
enum class FabricRounding : uint8_t
{
    EXACT = 0,       //!< round up to the picosecond
    TRUNCATE_NS = 1, //!< round down to the nanosecond, as the HPCC family of simulators does
};

/**
 * @ingroup evenkeel
 * @brief The settings of all switches and links of a fabric.
 */
struct FabricSettings
{
    bool pfc{false};                       //!< priority flow control (PFC)
    uint64_t pfcPauseTimePs{FABRIC_NEVER}; //!< a pause expires after this time without a frame
    uint32_t gapBytes{20};                 //!< gap on the wire after each packet
    uint64_t forwardingDelayPs{0}; //!< in a switch, from the last bit in to the first bit out
    FabricRounding rounding{FabricRounding::EXACT}; //!< of transmission times
    bool ackPriority{true};                         //!< acknowledgements are sent before data
    bool looksAtQueues{false};                      //!< the switch policy uses queue lengths
    uint64_t timeLimitPs{FABRIC_NEVER};             //!< end of a run that has not completed
};

/**
 * @ingroup evenkeel
 * @brief The part of a fabric that reacts to a failure.
 */
enum class FabricWitness : uint8_t
{
    WIRE = 0,    //!< the wire: its rate changes
    ENDS = 1,    //!< the switches at the ends of the link, after the detection time
    ROUTING = 2, //!< routing everywhere, after the convergence time
};

/**
 * @ingroup evenkeel
 * @brief A step of a failure: a part of the fabric reacts to it.
 */
struct FabricStep
{
    uint64_t atPs{0};                           //!< the time
    FabricWitness witness{FabricWitness::WIRE}; //!< the part that reacts
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
    uint64_t startPs{0};                //!< when it was posted to the NIC
    uint64_t deliveredPs{FABRIC_NEVER}; //!< when its last byte reached the receiver
    uint64_t completedPs{FABRIC_NEVER}; //!< when its sender received the last acknowledgement
    uint16_t sourcePort{0};             //!< UDP source port of its queue pair
};

/**
 * @ingroup evenkeel
 * @brief The kind of a message event.
 */
enum class FabricMessageEventKind : uint8_t
{
    DELIVERED = 0, //!< the receiver has received every byte
    COMPLETED = 1, //!< the sender has received the last acknowledgement
};

/**
 * @ingroup evenkeel
 * @brief An event of a message.
 */
struct FabricMessageEvent
{
    FabricMessageEventKind kind{FabricMessageEventKind::DELIVERED}; //!< kind of the event
    uint32_t message{0};                                            //!< number of the message
    uint32_t src{0};                                                //!< number of the sending host
    uint32_t dst{0};     //!< number of the receiving host
    uint64_t bytes{0};   //!< payload
    uint64_t startPs{0}; //!< when the message started
    uint64_t atPs{0};    //!< time of the event
};

/**
 * @ingroup evenkeel
 * @brief The counters of NICs.
 */
struct FabricNicCounters
{
    uint64_t dataSent{0};        //!< data packets put on the wire
    uint64_t retransmitted{0};   //!< those of them that were retransmissions
    uint64_t controlSent{0};     //!< acknowledgements, NACKs and CNPs put on the wire
    uint64_t dataReceived{0};    //!< data packets received, whole or trimmed
    uint64_t trimmed{0};         //!< those of them that a switch trimmed
    uint64_t marked{0};          //!< those of them that were ECN marked
    uint64_t outOfOrder{0};      //!< those of them that arrived after a higher PSN
    uint64_t duplicates{0};      //!< those of them that had been received before
    uint64_t refused{0};         //!< those of them discarded because an earlier PSN is missing
    uint64_t payloadReceived{0}; //!< payload bytes accepted, each once
    uint64_t controlReceived{0}; //!< acknowledgements, NACKs and CNPs received
    uint64_t misdirected{0};     //!< packets for a queue pair that does not exist
    uint64_t discarded{0};       //!< packets for a queue pair in a state without reception
    uint64_t notReady{0};        //!< data packets refused: no receive is posted, or invalid request
};

/**
 * @ingroup evenkeel
 * @brief The numbers of queue pairs, counted at the NICs that send on them.
 */
struct FabricQpCounts
{
    uint64_t perNicMax{0};       //!< maximum per NIC
    uint64_t total{0};           //!< sum over all NICs
    uint64_t extraPerNicMax{0};  //!< maximum per NIC beyond one per pair of peers and stream
    uint64_t extraTotal{0};      //!< the sum of these over all NICs
    uint64_t inUsePerNicMax{0};  //!< maximum per NIC with incomplete work at the same time
    uint64_t inUsePerPeerMax{0}; //!< maximum from one NIC to one peer, in the same way
};

/**
 * @ingroup evenkeel
 * @brief The counters of a fabric between the NICs, over all ports.
 */
struct FabricCounters
{
    uint64_t dataDropped{0};    //!< data packets dropped
    uint64_t controlDropped{0}; //!< acknowledgements, NACKs and CNPs dropped
    uint64_t hops{0};           //!< packets that reached the end of a wire
    uint64_t arrivals{0};       //!< data packets that arrived at an output port of a switch
    uint64_t waitingFound{0};   //!< sum of the bytes without priority that they found queued
    uint64_t trimmed{0};        //!< data packets trimmed to their header
    uint64_t pauses{0};         //!< pause frames sent
};

/**
 * @ingroup evenkeel
 * @brief The counters of the IP packets in a fabric.
 *
 * After a run, sent equals delivered + dropped + Fabric::CountIpInFlight.
 */
struct FabricIpCounters
{
    uint64_t sent{0};      //!< packets that NICs accepted from protocol stacks
    uint64_t delivered{0}; //!< packets that arrived at their host
    uint64_t marked{0};    //!< delivered packets that a switch marked: congestion experienced (CE)
    uint64_t dropped{0};   //!< packets dropped at a full NIC, at a switch or on a link that failed
};

/**
 * @ingroup evenkeel
 * @brief An order of priority flow control (PFC) to a link.
 */
enum class FabricPfcOrder : uint8_t
{
    NOTHING = 0, //!< no change
    PAUSE = 1,   //!< stop sending packets without priority
    RESUME = 2,  //!< continue to send packets without priority
};

/**
 * @ingroup evenkeel
 * @brief A frame of priority flow control (PFC) that took effect.
 */
struct FabricPause
{
    uint64_t atPs{0};                            //!< when it took effect
    uint32_t port{0};                            //!< the port that it pauses or resumes
    uint32_t trafficClass{0};                    //!< the class that it pauses or resumes
    FabricPfcOrder order{FabricPfcOrder::PAUSE}; //!< the order of the frame
};

} // namespace ns3

#endif /* FABRIC_RECORDS_H */
