// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_CORE_H
#define FABRIC_CORE_H

#include "fabric-classes.h"
#include "fabric-graph.h"
#include "fabric-packet.h"
#include "fabric-records.h"
#include "fabric-verbs.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The failures of a fabric's links: their effects, and what reacts to them when.
 */
struct FabricFailures
{
    std::vector<FabricFault> faults; //!< a lossy link draws for each of its faults in this order
    std::vector<FabricStep> steps;   //!< by time; simultaneous ones in the order of application
};

/**
 * @ingroup evenkeel
 * @brief The properties of a fabric when it is made.
 */
struct FabricDescription
{
    FabricGraph graph;                  //!< hosts, switches and links
    FabricSettings settings;            //!< of all switches and links
    std::vector<FabricClass> classes;   //!< traffic classes; none if data has one queue
    std::vector<FabricEcn> ecn;         //!< marking, by port; unused for ports of hosts
    std::vector<FabricIngress> ingress; //!< PFC, by port and then by class; unused for ports that
                                        //!< end at a host
    std::vector<uint64_t> poolSizes;    //!< shared memory of PFC, by switch, in bytes
    std::vector<FabricFault> faults;    //!< declared before the run, in any order
    std::vector<FabricStep> steps;      //!< by time; simultaneous ones in the order of application
};

/**
 * @ingroup evenkeel
 * @brief The wires of a host with several ports, by plane.
 */
struct FabricWires
{
    const uint64_t* freePs; //!< since when each is free
    uint32_t count;         //!< their number
    uint32_t paused;        //!< those whose data is paused: a bit each
};

/**
 * @ingroup evenkeel
 * @brief The traffic classes in which IP packets wait for the wire of a host: a bit each.
 */
struct FabricIpClasses
{
    uint8_t waiting; //!< classes with packets that may start
    uint8_t first;   //!< classes in which it is the turn of IP
};

/**
 * @ingroup evenkeel
 * @brief The hosts of a fabric: an interface for every action of a NIC.
 *
 * Times are picoseconds of the fabric. Calls on the packet path never fail.
 */
class FabricHosts
{
  public:
    virtual ~FabricHosts() = default;

    /**
     * @brief Takes the packet that starts next on a host's wire.
     * @param host number of the host
     * @param nowPs the time
     * @param freePs the time since which the wire is free; set to the start of the packet, or, if
     *        none starts by now, to the earliest time at which one can start
     * @param packet set to the packet; with traffic classes FabricPacket::SetTrafficClass sets that
     *        of data, and without them it has none
     * @return false if none starts by now
     */
    virtual bool PollTransmit(uint32_t host,
                              uint64_t nowPs,
                              uint64_t& freePs,
                              FabricPacket& packet) = 0;
    /**
     * @brief Takes the control packet that starts now; a host sends them even while data is paused.
     * @param host number of the host
     * @param packet set to the packet
     * @return false if no control packet waits
     */
    virtual bool PollTransmitControl(uint32_t host, FabricPacket& packet) = 0;
    /**
     * @brief Takes the packet that starts next on a port of a host with several.
     *
     * A core whose hosts have one port each need not override it.
     *
     * @param host number of the host
     * @param nowPs the time
     * @param wires the wires of its ports
     * @param startPs set to the start of the packet
     * @param plane set to the plane of the port
     * @param packet set to the packet
     * @return false if none starts by now
     */
    virtual bool PollTransmitOn(uint32_t host,
                                uint64_t nowPs,
                                const FabricWires& wires,
                                uint64_t& startPs,
                                uint32_t& plane,
                                FabricPacket& packet);
    /**
     * @brief After something went into a host with several ports, once what it could send before
     * has been sent: what it can send from now on is polled.
     * @param host number of the host
     * @param nowPs the time
     */
    virtual void PollAnew(uint32_t host, uint64_t nowPs);
    /**
     * @brief Takes what starts next on the wire of a host with traffic classes, while IP waits: a
     * control packet of the host, or a packet of the class whose turn it is.
     *
     * A core without classes need not override this method and the two that follow: ChargeBeside,
     * without which IP has no share of its class, and PauseClass.
     *
     * @param host number of the host
     * @param nowPs the time
     * @param ip the classes in which IP waits, at least one
     * @param packet set to the packet of the host
     * @param trafficClass set to the class of the IP packet
     * @return true if a packet of the host starts, false if one of IP does
     */
    virtual bool PollTransmitBeside(uint32_t host,
                                    uint64_t nowPs,
                                    const FabricIpClasses& ip,
                                    FabricPacket& packet,
                                    uint32_t& trafficClass);
    /**
     * @brief Counts an IP packet that starts for its class, which was polled.
     * @param host number of the host
     * @param trafficClass its class
     * @param bytes its length on the wire
     * @param waits true if other IP packets of the class wait
     */
    virtual void ChargeBeside(uint32_t host, uint32_t trafficClass, uint16_t bytes, bool waits);
    /**
     * @brief Pauses the data of a traffic class of a host, or resumes it.
     * @param host number of the host
     * @param trafficClass the class
     * @param paused true to pause
     */
    virtual void PauseClass(uint32_t host, uint32_t trafficClass, bool paused);
    /**
     * @param host number of the host
     * @return true if it has a packet to send, now or when its pacer permits
     */
    virtual bool HasPackets(uint32_t host) = 0;
    /**
     * @brief Delivers a packet to a host.
     * @param host number of the host
     * @param nowPs the time
     * @param packet the packet
     * @return true if PollTouched, PollMessageEvent or verbs have something to return
     */
    virtual bool HandlePacket(uint32_t host, uint64_t nowPs, const FabricPacket& packet) = 0;
    /**
     * @brief Wakes a host at the time that it requested, or after a message was posted; an early
     * call has no effect.
     * @param host number of the host
     * @param nowPs the time
     * @return true if PollTouched, PollMessageEvent or verbs have something to return
     */
    virtual bool HandleTimeout(uint32_t host, uint64_t nowPs) = 0;
    /**
     * @param host number of the host
     * @param nowPs the time
     * @param freePs the time from which its wire is free; of several wires, the first
     * @return the time to wake it if no packet arrives before; FABRIC_NEVER if it needs no wake-up
     */
    virtual uint64_t NextWake(uint32_t host, uint64_t nowPs, uint64_t freePs) = 0;
    /// @return a host whose wake-up may have changed; FABRIC_NO_PORT if none remains
    virtual uint32_t PollTouched() = 0;
    /**
     * @param event set to an event of a message
     * @return false if no event remains
     */
    virtual bool PollMessageEvent(FabricMessageEvent& event) = 0;
    /// @return true if every message is delivered and completed
    virtual bool IsFinished() const = 0;
    /**
     * @brief Adds a message; the caller wakes the sender at its start.
     * @param src number of the sending host
     * @param dst number of the receiving host
     * @param bytes payload
     * @param startPs when it starts, not in the past
     * @param stream messages of one stream share queue pairs; with traffic classes those of stream
     * s are of class s / 2^24 - 1, and lower streams are those of the workload
     * @return number of the message
     */
    virtual uint32_t Post(uint32_t src,
                          uint32_t dst,
                          uint64_t bytes,
                          uint64_t startPs,
                          uint32_t stream) = 0;

    /// @return verbs of the NICs, which live as long as the hosts; null if there are none
    virtual FabricVerbs* GetVerbs()
    {
        return nullptr;
    }

    /// @return every flow so far, by message and piece
    virtual std::vector<FabricFlow> GetFlows() const = 0;
    /// @return the sums of the counters of all NICs
    virtual FabricNicCounters GetCounters() const = 0;
    /// @return counts of queue pairs
    virtual FabricQpCounts GetQpCounts() const = 0;
};

/**
 * @ingroup evenkeel
 * @brief The switches of a fabric: an interface for every choice of a path and every random draw.
 *
 * Switches, hosts and ports are numbers from 0, the ports of a switch in order of its links. Calls
 * never fail.
 */
class FabricSwitching
{
  public:
    virtual ~FabricSwitching() = default;

    /**
     * @brief Chooses the output port of a packet by the policy of the switch.
     *
     * The packet is one of RDMA, or one of ns-3's IP stack (FabricPacketKind::IP), also in cores of
     * scripts (FabricHelper::SetCoreFactory): it has src, dst, label, which is the hash of its
     * flow, entropy, route and wireBytes, and no queue pair. evenkeel's core treats it as data.
     *
     * @param switchNumber number of the switch
     * @param nowPs the time
     * @param packet the packet; its remaining route and the fields that policies write may change
     * @param loads bytes that wait at each port of the switch and on its wire, by number; null
     *        unless the policy looks at queues
     * @return number of the port within the switch; FABRIC_NO_PORT if no port leads to dst
     */
    virtual uint32_t Route(uint32_t switchNumber,
                           uint64_t nowPs,
                           FabricPacket& packet,
                           const std::vector<uint64_t>* loads) = 0;
    /**
     * @brief Finds the only port towards a host, which holds until the next step is applied.
     * @param switchNumber number of the switch
     * @param dst number of the host
     * @return number of the port within the switch; FABRIC_NO_PORT if there are several or none, or
     *         if the policy must see every packet
     */
    virtual uint32_t OnlyPort(uint32_t switchNumber, uint32_t dst) = 0;
    /// @return the place of the arrival by a port among those at one time, below 2^30
    virtual uint32_t GetPlace(uint64_t nowPs, uint32_t port) const;
    /**
     * @brief Draws whether ECN marks a packet between kmin and kmax.
     * @param port number of the port
     * @param waitingBytes bytes without priority that wait there
     * @return true to mark
     */
    virtual bool Marks(uint32_t port, uint64_t waitingBytes) = 0;
    /**
     * @brief Chooses the traffic class whose packet starts next at a port.
     *
     * Classes have the wire in the order of their numbers, unless a core overrides this method.
     *
     * @param port number of the port
     * @param waiting the classes with a packet that may start, a bit each; at least one
     * @return number of the class
     */
    virtual uint32_t ChooseClass(uint32_t port, uint8_t waiting);
    /**
     * @brief Counts a packet that starts for its class, which was chosen.
     * @param port number of the port
     * @param trafficClass its class
     * @param bytes its length on the wire
     * @param waits true if other packets of the class wait
     */
    virtual void ChargeClass(uint32_t port, uint32_t trafficClass, uint16_t bytes, bool waits);
    /**
     * @brief Draws whether a lossy link loses a packet.
     * @param port number of the port that sent it
     * @param numerator of the probability
     * @param denominator of the probability
     * @return true if it is lost
     */
    virtual bool Loses(uint32_t port, uint32_t numerator, uint32_t denominator) = 0;
    /**
     * @brief Applies a step of the description to policies, routing and the NICs of hosts with
     * several ports; not for steps of wires.
     * @param step its index
     * @param nowPs the time
     */
    virtual void ApplyStep(uint32_t step, uint64_t nowPs) = 0;
    /**
     * @brief Adds failures during a run, none of which begins in the past.
     *
     * Throws std::invalid_argument with the reason. A core whose links do not fail need not
     * override it.
     *
     * @param sections sections [[failure]] of a scenario
     * @param applied number of steps so far, of wires too
     * @param nowPs the time
     * @return all failures, the steps so far first
     */
    virtual FabricFailures AddFailures(const std::string& sections,
                                       uint32_t applied,
                                       uint64_t nowPs);
    /**
     * @brief Ends all failures of some links that began before a time and last longer.
     *
     * Throws as AddFailures does, also if there are none.
     *
     * @param target keys of a section [[failure]] that name the links
     * @param atPs when they end, not in the past
     * @param applied number of steps so far, of wires too
     * @param nowPs the time
     * @return all failures, the steps so far first
     */
    virtual FabricFailures EndFailures(const std::string& target,
                                       uint64_t atPs,
                                       uint32_t applied,
                                       uint64_t nowPs);
};

/**
 * @ingroup evenkeel
 * @brief The core of a fabric: its description, and the hosts and switches that decide for it.
 *
 * MakeFabricCore makes a core of evenkeel's Rust code; PlainFabricCore is a small core in C++.
 */
class FabricCore
{
  public:
    /**
     * @param description of the fabric
     * @param hosts the hosts
     * @param switching the switches; may be the same object as hosts
     */
    FabricCore(FabricDescription description,
               std::shared_ptr<FabricHosts> hosts,
               std::shared_ptr<FabricSwitching> switching);
    virtual ~FabricCore() = default;

    /// @return the properties when the fabric is made
    const FabricDescription& GetDescription() const;
    /// @return hosts, switches and links
    const FabricGraph& GetGraph() const;
    /// @return the settings of switches and links
    const FabricSettings& GetSettings() const;
    /// @return the hosts
    const std::shared_ptr<FabricHosts>& GetHosts() const;
    /// @return the switches
    const std::shared_ptr<FabricSwitching>& GetSwitching() const;
    /// @return every flow so far, by message and piece
    std::vector<FabricFlow> GetFlows() const;
    /// @return the sums of the counters of all NICs
    FabricNicCounters GetCounters() const;
    /// @return counts of queue pairs
    FabricQpCounts GetQpCounts() const;

  protected:
    FabricDescription m_description; //!< properties when the fabric is made

  private:
    std::shared_ptr<FabricHosts> m_hosts;         //!< the hosts
    std::shared_ptr<FabricSwitching> m_switching; //!< the switches
};

/**
 * @ingroup evenkeel
 * @brief Makes evenkeel's NICs and policies for a scenario.
 *
 * Throws std::invalid_argument with the reason if the scenario is invalid.
 *
 * @param scenario the text of a scenario file
 * @param folder the folder to which paths in it are relative
 * @return the core
 */
std::unique_ptr<FabricCore> MakeFabricCore(const std::string& scenario, const std::string& folder);

/**
 * @ingroup evenkeel
 * @brief Makes evenkeel's NICs and policies for the scenario of a file.
 *
 * Throws std::invalid_argument with the reason if the scenario is invalid.
 *
 * @param path of the file
 * @return the core
 */
std::unique_ptr<FabricCore> ReadFabricCore(const std::string& path);

/**
 * @ingroup evenkeel
 * @brief The NICs of some hosts, which differ from those of the others.
 */
struct FabricNicSettings
{
    std::vector<uint32_t> hosts; //!< numbers of the hosts
    std::string settings;        //!< the text of a scenario file, whose [transport] is theirs
    FabricQpSettings queuePairs; //!< of the queue pairs of scripts
};

/**
 * @ingroup evenkeel
 * @brief Makes evenkeel's NICs and policies for a graph.
 *
 * Throws std::invalid_argument with the reason if the graph or the settings are invalid.
 *
 * @param graph hosts, switches and links
 * @param settings the text of a scenario file; of its section [topology] only gap and
 *        forwarding_delay. Without [workload] and [[job]] there are no messages until some are
 *        posted
 * @param queuePairs the settings of the queue pairs of scripts
 * @param nics the NICs that differ
 * @return the core
 */
std::unique_ptr<FabricCore> MakeFabricCore(const FabricGraph& graph,
                                           const std::string& settings,
                                           const FabricQpSettings& queuePairs = {},
                                           const std::vector<FabricNicSettings>& nics = {});

/**
 * @ingroup evenkeel
 * @brief Makes a graph of a kind that evenkeel has.
 *
 * Throws std::invalid_argument with the reason if the section is invalid.
 *
 * @param topology the text of a scenario's section [topology], without its heading
 * @param folder the folder to which paths in it are relative
 * @return the graph
 */
FabricGraph MakeFabricGraph(const std::string& topology, const std::string& folder);

} // namespace ns3

#endif /* FABRIC_CORE_H */
