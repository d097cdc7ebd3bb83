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
 * @brief The link failures of a fabric: their effects and the reactions to them.
 */
struct FabricFailures
{
    std::vector<FabricFault> faults; //!< a lossy link draws for each of its faults in this order
    std::vector<FabricStep> steps;   //!< by time; simultaneous ones in order of application
};

/**
 * @ingroup evenkeel
 * @brief The properties of a fabric at its creation.
 */
struct FabricDescription
{
    FabricGraph graph;                  //!< hosts, switches and links
    FabricSettings settings;            //!< settings of all switches and links
    std::vector<FabricClass> classes;   //!< traffic classes; empty if data has one queue
    std::vector<FabricEcn> ecn;         //!< marking, by port; unused for host ports
    std::vector<FabricIngress> ingress; //!< PFC, by port and then by class; unused for ports that
                                        //!< end at a host
    std::vector<uint64_t> poolSizes;    //!< PFC pool of each switch, in bytes
    std::vector<FabricFault> faults;    //!< declared before the run, in any order
    std::vector<FabricStep> steps;      //!< by time; simultaneous ones in order of application
};

/**
 * @ingroup evenkeel
 * @brief The wires of a multi-port host, by plane.
 */
struct FabricWires
{
    const uint64_t* freePs; //!< time since which each wire is free
    uint32_t count;         //!< their number
    uint32_t paused;        //!< bitmap of wires whose data is paused
};

/**
 * @ingroup evenkeel
 * @brief Bitmaps of the traffic classes in which IP packets wait for a host's wire.
 */
struct FabricIpClasses
{
    uint8_t waiting; //!< classes with packets that may start
    uint8_t first;   //!< classes in which IP is next
};

/**
 * @ingroup evenkeel
 * @brief The hosts of a fabric: the interface through which the fabric calls its NICs.
 *
 * Times are picoseconds of the fabric. Calls on the packet path never fail.
 */
class FabricHosts
{
  public:
    virtual ~FabricHosts() = default;

    /**
     * @brief Polls the next packet of a host that starts by now.
     * @param host number of the host
     * @param nowPs the time
     * @param freePs the time since which the wire is free; set to the start of the packet, or, if
     *        none starts by now, to the earliest time at which one can start
     * @param packet set to the packet; with traffic classes, the class of data is set with
     *        FabricPacket::SetTrafficClass
     * @return false if none starts by now
     */
    virtual bool PollTransmit(uint32_t host,
                              uint64_t nowPs,
                              uint64_t& freePs,
                              FabricPacket& packet) = 0;
    /**
     * @brief Polls the next control packet; a host sends these even while its data is paused.
     * @param host number of the host
     * @param packet set to the packet
     * @return false if no control packet is queued
     */
    virtual bool PollTransmitControl(uint32_t host, FabricPacket& packet) = 0;
    /**
     * @brief Polls the next packet of a multi-port host that starts by now.
     *
     * A core without multi-port hosts need not override it.
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
     * @brief Restarts polling of a multi-port host, after input and after earlier packets are sent.
     * @param host number of the host
     * @param nowPs the time
     */
    virtual void PollAnew(uint32_t host, uint64_t nowPs);
    /**
     * @brief Chooses between RDMA and IP on the wire of a host with traffic classes, while IP
     * packets are queued: a control packet of the host, or a packet of the class that is next.
     *
     * A core without classes need not override this method, ChargeBeside and PauseClass. Without
     * ChargeBeside, IP has no share of its class.
     *
     * @param host number of the host
     * @param nowPs the time
     * @param ip the classes with queued IP packets, at least one
     * @param packet set to the packet of the host
     * @param trafficClass set to the class of the IP packet
     * @return true if a packet of the host starts, false if an IP packet does
     */
    virtual bool PollTransmitBeside(uint32_t host,
                                    uint64_t nowPs,
                                    const FabricIpClasses& ip,
                                    FabricPacket& packet,
                                    uint32_t& trafficClass);
    /**
     * @brief Charges an IP packet that starts, as PollTransmitBeside chose, to its class.
     * @param host number of the host
     * @param trafficClass its class
     * @param bytes its length on the wire
     * @param waits true if the class has more IP packets queued
     */
    virtual void ChargeBeside(uint32_t host, uint32_t trafficClass, uint16_t bytes, bool waits);
    /**
     * @brief Pauses or resumes a traffic class of a host.
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
     * @brief Wakes a host at the time that it requested, or after a message was posted. An early
     * call has no effect.
     * @param host number of the host
     * @param nowPs the time
     * @return true if PollTouched, PollMessageEvent or verbs have something to return
     */
    virtual bool HandleTimeout(uint32_t host, uint64_t nowPs) = 0;
    /**
     * @param host number of the host
     * @param nowPs the time
     * @param freePs the time from which its wire is free; the earliest of several wires
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
     * @param stream messages of one stream share queue pairs; with traffic classes, stream s
     *        belongs to class s / 2^24 - 1, and streams below 2^24 to the workload
     * @return number of the message
     */
    virtual uint32_t Post(uint32_t src,
                          uint32_t dst,
                          uint64_t bytes,
                          uint64_t startPs,
                          uint32_t stream) = 0;

    /// @return the verbs of the NICs, which live as long as the hosts; null without verbs
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
 * @brief The switches of a fabric: the interface for every path choice and random draw.
 *
 * Switches, hosts and ports are numbered from 0; the ports of a switch in the order of its links.
 * Calls never fail.
 */
class FabricSwitching
{
  public:
    virtual ~FabricSwitching() = default;

    /**
     * @brief Chooses the output port of a packet with the policy of the switch.
     *
     * The packet may also come from ns-3's IP stack (FabricPacketKind::IP), even in cores of
     * scripts (FabricHelper::SetCoreFactory). An IP packet has src, dst, label (the hash of its
     * flow), entropy, route and wireBytes, but no queue pair. evenkeel's core treats it as data.
     *
     * @param switchNumber number of the switch
     * @param nowPs the time
     * @param packet the packet; its remaining route and the fields that policies write may change
     * @param loads bytes queued at each port of the switch and on its wire, by number; null unless
     *        the policy looks at queues
     * @return number of the port within the switch; FABRIC_NO_PORT if no port leads to dst
     */
    virtual uint32_t Route(uint32_t switchNumber,
                           uint64_t nowPs,
                           FabricPacket& packet,
                           const std::vector<uint64_t>* loads) = 0;
    /**
     * @brief Finds the only port towards a host. The result is valid until the next step is
     * applied.
     * @param switchNumber number of the switch
     * @param dst number of the host
     * @return number of the port within the switch; FABRIC_NO_PORT if there is not exactly one, or
     *         if the policy must see every packet
     */
    virtual uint32_t OnlyPort(uint32_t switchNumber, uint32_t dst) = 0;
    /// @return the position of a port's arrival among simultaneous arrivals, below 2^30
    virtual uint32_t GetPlace(uint64_t nowPs, uint32_t port) const;
    /**
     * @brief Draws whether ECN marks a packet between kmin and kmax.
     * @param port number of the port
     * @param waitingBytes queued bytes without priority at the port
     * @return true to mark
     */
    virtual bool Marks(uint32_t port, uint64_t waitingBytes) = 0;
    /**
     * @brief Chooses the traffic class whose packet starts next at a port.
     *
     * The default is strict priority, lowest class number first.
     *
     * @param port number of the port
     * @param waiting bitmap of the classes with a packet that may start; at least one
     * @return number of the class
     */
    virtual uint32_t ChooseClass(uint32_t port, uint8_t waiting);
    /**
     * @brief Charges a packet that starts, as ChooseClass chose, to its class.
     * @param port number of the port
     * @param trafficClass its class
     * @param bytes its length on the wire
     * @param waits true if the class has more packets queued
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
     * @brief Applies a step of the description to policies, routing and multi-port NICs. It is not
     * called for steps of wires.
     * @param step its index
     * @param nowPs the time
     */
    virtual void ApplyStep(uint32_t step, uint64_t nowPs) = 0;
    /**
     * @brief Adds failures during a run, which begin now or later.
     *
     * Throws std::invalid_argument with an explanation. A core whose links do not fail need not
     * override it.
     *
     * @param sections sections [[failure]] of a scenario
     * @param applied number of steps so far, steps of wires included
     * @param nowPs the time
     * @return all failures, with the steps so far first
     */
    virtual FabricFailures AddFailures(const std::string& sections,
                                       uint32_t applied,
                                       uint64_t nowPs);
    /**
     * @brief Ends all failures of some links that began before a time and last longer.
     *
     * Throws std::invalid_argument as AddFailures does, and also if there are no such failures.
     *
     * @param target keys of a section [[failure]] that name the links
     * @param atPs when they end, not in the past
     * @param applied number of steps so far, steps of wires included
     * @param nowPs the time
     * @return all failures, with the steps so far first
     */
    virtual FabricFailures EndFailures(const std::string& target,
                                       uint64_t atPs,
                                       uint32_t applied,
                                       uint64_t nowPs);
};

/**
 * @ingroup evenkeel
 * @brief The core of a fabric: its description, and the hosts and switches that make its decisions.
 *
 * MakeFabricCore makes a core from evenkeel's Rust code; PlainFabricCore is a small core in C++.
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

    /// @return the properties of the fabric at its creation
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
    FabricDescription m_description; //!< properties at its creation

  private:
    std::shared_ptr<FabricHosts> m_hosts;         //!< the hosts
    std::shared_ptr<FabricSwitching> m_switching; //!< the switches
};

/**
 * @ingroup evenkeel
 * @brief Makes evenkeel's NICs and policies for a scenario.
 *
 * Throws std::invalid_argument with an explanation if the scenario is invalid.
 *
 * @param scenario the text of a scenario file
 * @param folder the folder to which paths in it are relative
 * @return the core
 */
std::unique_ptr<FabricCore> MakeFabricCore(const std::string& scenario, const std::string& folder);

/**
 * @ingroup evenkeel
 * @brief Makes evenkeel's NICs and policies for a scenario file.
 *
 * Throws std::invalid_argument with an explanation if the scenario is invalid.
 *
 * @param path of the file
 * @return the core
 */
std::unique_ptr<FabricCore> ReadFabricCore(const std::string& path);

/**
 * @ingroup evenkeel
 * @brief NIC settings of some hosts that differ from the common ones.
 */
struct FabricNicSettings
{
    std::vector<uint32_t> hosts; //!< numbers of the hosts
    std::string settings;        //!< text of a scenario file, whose [transport] applies to them
    FabricQpSettings queuePairs; //!< settings of their queue pairs for scripts
};

/**
 * @ingroup evenkeel
 * @brief Makes evenkeel's NICs and policies for a graph.
 *
 * Throws std::invalid_argument with an explanation if the graph or the settings are invalid.
 *
 * @param graph hosts, switches and links
 * @param settings the text of a scenario file. Its section [topology] may have only gap and
 *        forwarding_delay. Without [workload] and [[job]] there are no messages until some are
 *        posted
 * @param queuePairs the settings of the queue pairs of scripts
 * @param nics NICs with other settings
 * @return the core
 */
std::unique_ptr<FabricCore> MakeFabricCore(const FabricGraph& graph,
                                           const std::string& settings,
                                           const FabricQpSettings& queuePairs = {},
                                           const std::vector<FabricNicSettings>& nics = {});

/**
 * @ingroup evenkeel
 * @brief Makes one of evenkeel's topologies.
 *
 * Throws std::invalid_argument with an explanation if the section is invalid.
 *
 * @param topology the text of a scenario's section [topology], without its heading
 * @param folder the folder to which paths in it are relative
 * @return the graph
 */
FabricGraph MakeFabricGraph(const std::string& topology, const std::string& folder);

} // namespace ns3

#endif /* FABRIC_CORE_H */
