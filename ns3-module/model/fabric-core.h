// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_CORE_H
#define FABRIC_CORE_H

#include "fabric-packet.h"
#include "fabric-verbs.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

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
    uint32_t number{0}; //!< which host, or which switch
    bool isHost{false}; //!< true for a host
};

/**
 * @ingroup evenkeel
 * @brief A link. Port 2l sends from a to b, port 2l + 1 back.
 */
struct FabricLink
{
    FabricEnd a;         //!< one end
    FabricEnd b;         //!< the other
    uint64_t rateBps{0}; //!< bits a second, in each direction
    uint64_t delayPs{0}; //!< from last bit out to last bit in
};

/**
 * @ingroup evenkeel
 * @brief Who is wired to whom.
 */
struct FabricGraph
{
    /// A switch: its name, and the switch tiers between it and the hosts.
    struct Switch
    {
        std::string name;  //!< as failures spell it
        uint32_t tier{0}; //!< 0 at the edge
    };

    std::vector<std::string> hosts; //!< names, by number
    std::vector<Switch> switches;   //!< by number
    std::vector<FabricLink> links;  //!< by number
};

/**
 * @ingroup evenkeel
 * @brief How transmission times become picoseconds.
 */
enum class FabricRounding : uint8_t
{
    EXACT = 0,       //!< to the picosecond, upward
    TRUNCATE_NS = 1, //!< down to the nanosecond, as the HPCC family of simulators does
};

/**
 * @ingroup evenkeel
 * @brief When a packet is marked, by the bytes that wait at its output port.
 */
struct FabricEcn
{
    uint64_t kmin{FABRIC_NEVER}; //!< up to this, never
    uint64_t kmax{FABRIC_NEVER}; //!< above this, always; a step where kmin equals it
    uint64_t pmaxNumerator{0};   //!< probability just below kmax
    uint64_t pmaxDenominator{1}; //!< ... below the line

    /// @return true if it ever marks
    bool IsOn() const
    {
        return kmin != FABRIC_NEVER;
    }
};

/**
 * @ingroup evenkeel
 * @brief What all switches and links of a fabric are set to.
 */
struct FabricSettings
{
    bool sharedBuffer{true};     //!< one pool a switch; or a buffer a port
    uint64_t bufferBytes{64000000}; //!< ... of this size
    bool ecnAtDequeue{false};    //!< when marking looks at the queue
    bool pfc{false};             //!< priority flow control
    uint64_t pfcResumeOffset{0}; //!< "go on" is said this far below the threshold
    bool trim{false};            //!< cut what does not fit to its header
    uint64_t trimSize{64};       //!< what is left of a packet, on the wire
    uint64_t trimLimit{0};       //!< how much may wait with priority at one port
    uint32_t gapBytes{20};       //!< the wire is busy this much longer than a packet is
    uint64_t forwardingDelayPs{0}; //!< from last bit in to when it can leave, in a switch
    FabricRounding rounding{FabricRounding::EXACT}; //!< of transmission times
    bool ackPriority{true};      //!< acknowledgements go before data
    bool looksAtQueues{false};   //!< the switch policy asks for queue lengths
    uint64_t timeLimitPs{FABRIC_NEVER}; //!< a run past it did not complete
};

/**
 * @ingroup evenkeel
 * @brief What flow control keeps for a link that ends at a switch.
 */
struct FabricIngress
{
    uint64_t reserve{0};          //!< bytes of its own
    uint64_t headroom{0};         //!< bytes for what is under way when it is told to stop
    uint64_t alphaNumerator{1};   //!< its part of what is left of the pool
    uint64_t alphaDenominator{1}; //!< ... below the line
};

/**
 * @ingroup evenkeel
 * @brief What a link does from one time to another.
 */
struct FabricFault
{
    /// What happens.
    enum Kind : uint8_t
    {
        DOWN = 0, //!< nothing gets through
        LOSS = 1, //!< each packet that starts meanwhile is lost with a probability
    };

    uint32_t link{0};             //!< which
    Kind kind{DOWN};              //!< what
    uint64_t fromPs{0};           //!< from when on
    uint64_t untilPs{FABRIC_NEVER}; //!< until when
    uint64_t numerator{0};        //!< of the probability
    uint64_t denominator{1};      //!< ... below the line
};

/**
 * @ingroup evenkeel
 * @brief Somebody learns of a failure.
 */
struct FabricStep
{
    /// Who.
    enum Witness : uint8_t
    {
        WIRE = 0,    //!< the wire itself: from now on packets start at rateBps
        ENDS = 1,    //!< the switches at the ends of the link
        ROUTING = 2, //!< routing everywhere
    };

    uint64_t atPs{0};        //!< when
    Witness witness{WIRE};   //!< who
    uint32_t link{0};        //!< of which link
    uint64_t rateBps{0};     //!< for WIRE: the rate in both directions from now on
};

/**
 * @ingroup evenkeel
 * @brief One flow: a message, or the piece of it that a splitter put on a queue pair.
 */
struct FabricFlow
{
    uint32_t message{0};   //!< the message it is (a piece of)
    uint32_t piece{0};     //!< which piece, from 0
    uint32_t src{0};       //!< sending host
    uint32_t dst{0};       //!< receiving host
    uint64_t bytes{0};     //!< payload
    uint64_t startPs{0};   //!< when it was given to the NIC
    uint64_t deliveredPs{FABRIC_NEVER}; //!< when its last byte was at the receiver
    uint64_t completedPs{FABRIC_NEVER}; //!< when its sender had the last acknowledgement
    uint16_t sourcePort{0}; //!< UDP source port of its queue pair
};

/**
 * @ingroup evenkeel
 * @brief What happened to a message.
 */
struct FabricNews
{
    /// What.
    enum Kind : uint8_t
    {
        DELIVERED = 0, //!< its receiver has every byte
        COMPLETED = 1, //!< its sender has the last acknowledgement
    };

    Kind kind{DELIVERED};    //!< what
    uint32_t message{0};     //!< which
    uint32_t src{0};         //!< sending host
    uint32_t dst{0};         //!< receiving host
    uint64_t bytes{0};       //!< payload
    uint64_t startPs{0};     //!< when it was started
    uint64_t atPs{0};        //!< when this happened
};

/**
 * @ingroup evenkeel
 * @brief What all NICs together counted.
 */
struct FabricNicCounters
{
    uint64_t dataSent{0};      //!< data packets put on the wire
    uint64_t retransmitted{0}; //!< ... of which not for the first time
    uint64_t controlSent{0};   //!< acknowledgements, NACKs and CNPs put on the wire
    uint64_t dataReceived{0};  //!< data packets received, whole or cut
    uint64_t marked{0};        //!< ... of which ECN marked
    uint64_t outOfOrder{0};    //!< ... of which behind one of a higher PSN
    uint64_t controlReceived{0}; //!< acknowledgements, NACKs and CNPs received
};

/**
 * @ingroup evenkeel
 * @brief Queue pairs that send.
 */
struct FabricQpCounts
{
    uint64_t perNicMax{0};      //!< most at one NIC
    uint64_t total{0};          //!< over all
    uint64_t extraPerNicMax{0}; //!< most at one NIC beyond one a pair of peers and stream
    uint64_t extraTotal{0};     //!< over all
};

/**
 * @ingroup evenkeel
 * @brief What a fabric asks for: every NIC action and every path choice.
 *
 * It knows no wire, no queue and no event. Times are picoseconds of the fabric; hosts, switches,
 * links and ports are numbers from 0, the ports of a switch in order of its links. Calls on the
 * packet path never fail; what makes a core throws std::invalid_argument with the reason.
 *
 * There are two: the one behind MakeFabricCore, which is evenkeel's Rust code, and PlainFabricCore,
 * a NIC and a policy of a few lines to measure and to test the fabric with.
 */
class FabricCore
{
  public:
    virtual ~FabricCore() = default;

    // What there is.

    /// @return hosts, switches and links
    virtual const FabricGraph& GetGraph() const = 0;
    /// @return what switches and links are set to
    virtual const FabricSettings& GetSettings() const = 0;
    /**
     * @param port number of a port that starts at a switch
     * @return its marking
     */
    virtual FabricEcn GetEcn(uint32_t port) const = 0;
    /**
     * @param port number of a port that ends at a switch
     * @return what flow control keeps for it there
     */
    virtual FabricIngress GetIngress(uint32_t port) const = 0;
    /**
     * @param switchNumber which switch
     * @return its memory beyond what links keep for themselves
     */
    virtual uint64_t GetPoolSize(uint32_t switchNumber) const = 0;
    /// @return what links do, in any order
    virtual std::vector<FabricFault> GetFaults() const = 0;
    /// @return who learns of what, in order of time; those of one time in their order
    virtual std::vector<FabricStep> GetSteps() const = 0;

    // Hosts.

    /**
     * @brief The packet that starts next on a host's wire.
     * @param host which host
     * @param nowPs the time
     * @param freePs since when the wire is free; set to when the packet starts, or to the time
     *        that the first packet was ready at if there is none by now
     * @param packet set to the packet
     * @return false if none starts by now
     */
    virtual bool PollTransmit(uint32_t host,
                              uint64_t nowPs,
                              uint64_t& freePs,
                              FabricPacket& packet) = 0;
    /**
     * @brief The answer that starts now, if there is one: what goes while data is paused.
     * @param host which host
     * @param packet set to the packet
     * @return false if there is none
     */
    virtual bool PollTransmitControl(uint32_t host, FabricPacket& packet) = 0;
    /**
     * @param host which host
     * @return true if a packet would go if the wire were free, now or after a pause of pacing
     */
    virtual bool HasPackets(uint32_t host) = 0;
    /**
     * @brief A packet arrived.
     * @param host at which host
     * @param nowPs the time
     * @param packet the packet
     * @return true if PollTouched, PollNews or verbs have something to say
     */
    virtual bool HandlePacket(uint32_t host, uint64_t nowPs, const FabricPacket& packet) = 0;
    /**
     * @brief A host asked to be woken, or a message was posted; early is harmless.
     * @param host which host
     * @param nowPs the time
     * @return true if PollTouched, PollNews or verbs have something to say
     */
    virtual bool HandleTimeout(uint32_t host, uint64_t nowPs) = 0;
    /**
     * @param host which host
     * @param nowPs the time
     * @param freePs from when on its wire is free
     * @return when to wake it if nothing comes in before; FABRIC_NEVER for not at all
     */
    virtual uint64_t NextWake(uint32_t host, uint64_t nowPs, uint64_t freePs) = 0;
    /// @return another host whose wake-up changed; FABRIC_NO_PORT if there is none left
    virtual uint32_t PollTouched() = 0;
    /**
     * @param news set to what happened to a message
     * @return false if there is none left
     */
    virtual bool PollNews(FabricNews& news) = 0;
    /// @return true once all messages that there are are delivered and complete
    virtual bool IsFinished() const = 0;
    /**
     * @brief Adds a message; the caller wakes the sender at its start.
     * @param src sending host
     * @param dst receiving host
     * @param bytes payload
     * @param startPs when it starts, not in the past
     * @param stream messages of one stream share queue pairs
     * @return its number
     */
    virtual uint32_t Post(uint32_t src,
                          uint32_t dst,
                          uint64_t bytes,
                          uint64_t startPs,
                          uint32_t stream) = 0;

    /// @return verbs of the NICs, which live as long as the core; null if it has none
    virtual FabricVerbs* GetVerbs()
    {
        return nullptr;
    }

    // Switches.

    /**
     * @brief The port by which a packet leaves a switch, seen by its policy.
     * @param switchNumber which switch
     * @param nowPs the time
     * @param packet the packet; what is left of its path, and what policies write, may change
     * @param loads bytes that wait at each port of the switch and on its wire, by number; null
     *        unless the policy looks at queues
     * @return the number of the port within the switch; FABRIC_NO_PORT if there is none
     */
    virtual uint32_t Route(uint32_t switchNumber,
                           uint64_t nowPs,
                           FabricPacket& packet,
                           const std::vector<uint64_t>* loads) = 0;
    /**
     * @brief The only port towards a host, for as long as no step is applied.
     * @param switchNumber which switch
     * @param dst which host
     * @return FABRIC_NO_PORT if there is more than one, none, or the policy watches what leaves
     */
    virtual uint32_t OnlyPort(uint32_t switchNumber, uint32_t dst) = 0;
    /**
     * @brief Whether ECN marks with this many bytes, between kmin and kmax: a draw.
     * @param port number of the port
     * @param waitingBytes bytes without priority that wait there
     * @return true to mark
     */
    virtual bool Marks(uint32_t port, uint64_t waitingBytes) = 0;
    /**
     * @brief Whether a lossy link loses a packet: a draw.
     * @param port number of the port that it came by
     * @param numerator of the probability
     * @param denominator of the probability
     * @return true if it is lost
     */
    virtual bool Loses(uint32_t port, uint64_t numerator, uint64_t denominator) = 0;
    /**
     * @brief Tells policies and routing of a step of GetSteps that is not for the wire.
     * @param step its place there
     * @param nowPs the time
     */
    virtual void ApplyStep(uint32_t step, uint64_t nowPs) = 0;

    // Results.

    /// @return every flow so far, by message and piece
    virtual std::vector<FabricFlow> GetFlows() const = 0;
    /// @return what NICs counted
    virtual FabricNicCounters GetCounters() const = 0;
    /// @return queue pairs
    virtual FabricQpCounts GetQpCounts() const = 0;
};

/**
 * @ingroup evenkeel
 * @brief evenkeel's NICs and policies for a scenario.
 * @param scenario the text of a scenario file
 * @param folder what paths in it are relative to
 * @return the core
 */
std::unique_ptr<FabricCore> MakeFabricCore(const std::string& scenario, const std::string& folder);

/**
 * @ingroup evenkeel
 * @brief evenkeel's NICs and policies on a graph.
 * @param graph hosts, switches and links
 * @param settings the text of a scenario file; of its section [topology] only gap and
 *        forwarding_delay. Without a section [workload] there are no messages until some are
 *        posted
 * @param queuePairs what the queue pairs of scripts are set to
 * @return the core
 */
std::unique_ptr<FabricCore> MakeFabricCore(const FabricGraph& graph,
                                           const std::string& settings,
                                           const FabricQpSettings& queuePairs = {});

/**
 * @ingroup evenkeel
 * @brief A graph of a kind that evenkeel knows.
 * @param topology the text of a scenario's section [topology], without its heading
 * @param folder what paths in it are relative to
 * @return the graph
 */
FabricGraph MakeFabricGraph(const std::string& topology, const std::string& folder);

} // namespace ns3

#endif /* FABRIC_CORE_H */
