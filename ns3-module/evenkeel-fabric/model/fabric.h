// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_H
#define FABRIC_H

#include "core-attributes.h"
#include "fabric-core.h"
#include "fabric-packet.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

class FabricCalendar;
class FabricChannel;
class FabricIp;
class FabricPool;
class FabricPort;
class FabricSwitch;
class RdmaNic;
class RoceBytes;

/**
 * @ingroup evenkeel
 * @brief A fabric: its ports, switches and NICs, their events, and the core that makes decisions.
 *
 * FabricHelper makes fabrics. Scripts read the results and connect to the trace source Finished.
 * Simultaneous events have the same order as in evenkeel's own fabric (see FabricCalendar), so the
 * results of both agree to the picosecond.
 */
class Fabric : public Object, public CoreAttributes
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    Fabric();
    ~Fabric() override;

    /// The state of a run.
    enum Verdict
    {
        RUNNING,   //!< some messages have not completed
        COMPLETED, //!< every message is delivered and completed
        TIME_LIMIT //!< the time limit passed
    };

    /// The counters of the fabric, over all ports.
    using Counters = FabricCounters;

    /// A frame of priority flow control (PFC) that took effect.
    using Pause = FabricPause;

    /**
     * @brief TracedCallback signature for the completion of all messages and work requests.
     * @param when the time
     */
    typedef void (*FinishedTracedCallback)(Time when);

    /**
     * @brief Connects the components of the fabric; FabricHelper calls it.
     * @param core the core of the fabric
     * @param nics by number of host
     * @param switches by number
     * @param channels by number of link
     */
    void Assemble(std::unique_ptr<FabricCore> core,
                  const std::vector<Ptr<RdmaNic>>& nics,
                  const std::vector<Ptr<FabricSwitch>>& switches,
                  const std::vector<Ptr<FabricChannel>>& channels);

    // Results.

    /// @return the state of the run
    Verdict GetVerdict() const
    {
        return m_verdict;
    }

    /// @return when the last message completed
    Time GetFinishTime() const
    {
        return PicoSeconds(m_finishPs);
    }

    /// @return when the last message completed, in picoseconds at any time resolution of ns-3
    uint64_t GetFinishPs() const
    {
        return m_finishPs;
    }

    /// @return the packet counters
    const Counters& GetCounters() const
    {
        return m_counters;
    }

    /// @return the traffic classes of data, by number; empty if data has one queue
    const std::vector<FabricClass>& GetClasses() const
    {
        return m_core->GetClasses();
    }

    /**
     * @brief Finds a stream of a traffic class for RdmaNic::PostMessage. Aborts with a message if
     * there is no such class.
     * @param trafficClass name of the class
     * @param stream messages of one stream and one class share queue pairs; below 2^23
     * @return the stream
     */
    uint32_t GetStreamIn(const std::string& trafficClass, uint32_t stream = 0) const;

    /**
     * @param trafficClass number of a class
     * @return its dropped data packets, which GetCounters includes
     */
    uint64_t GetDataDroppedOf(uint32_t trafficClass) const
    {
        return trafficClass < FABRIC_MOST_CLASSES ? m_droppedOf[trafficClass] : 0;
    }

    /// @return pause and resume frames in order of time
    const std::vector<Pause>& GetPauses() const
    {
        return m_pauses;
    }

    /// @return number of ports: two per link
    uint32_t GetNPorts() const
    {
        return static_cast<uint32_t>(m_ports.size());
    }

    /**
     * @param number 2l or 2l + 1 of link l
     * @return the port
     */
    FabricPort& GetPort(uint32_t number) const
    {
        return *m_ports[number];
    }

    /// @return number of hosts
    uint32_t GetNNics() const
    {
        return static_cast<uint32_t>(m_nics.size());
    }

    /**
     * @param host number of a host
     * @return its NIC
     */
    Ptr<RdmaNic> GetNic(uint32_t host) const;
    /// @return the maximum queue length over all switch ports, in bytes
    uint32_t GetQueueBytesMax() const;
    /// @return number of events so far
    uint64_t GetEventCount() const;
    /// @return the time of the last event, in picoseconds
    uint64_t GetNowPs() const;
    /// @return number of data packets in queues and on wires; takes time linear in that number
    uint64_t CountDataInFlight() const;
    /// @return number of IP packets in queues and on wires, and about to be enqueued at NICs
    uint64_t CountIpInFlight() const;
    /**
     * @brief Compares the headroom of priority flow control (PFC) with the worst case: twice the
     * bytes on the wire, three packets, and a pause frame with gaps.
     *
     * The default, worst-case headroom suffices for RDMA packets. IP packets may be longer.
     *
     * @param wireBytes length of the longest packet on the wire, in bytes
     * @return false if PFC is on and a link to a switch has less headroom, so that such packets may
     *         be dropped; true without PFC, which needs no headroom
     */
    bool HasHeadroomFor(uint32_t wireBytes) const;

    /// @return the IP packet counters; GetCounters counts only the hops of IP packets
    const FabricIpCounters& GetIpCounters() const;

    // For ports, switches and NICs; not for scripts.

    /// @return the core
    FabricCore& GetCore() const
    {
        return *m_core;
    }

    /// @return the core's NICs and switches in Rust
    evenkeel::contract::Core& GetRust() const
    {
        return *m_rust;
    }

    /// @return true if the simulation has started
    bool HasStarted() const
    {
        return m_started;
    }

    /// @return the gap and the delay of switches, as keys of a scenario's section [topology]
    std::string DescribeSettings() const;

    /// @return the settings of switches and links
    const FabricSettings& GetSettings() const
    {
        return m_core->GetSettings();
    }

    /// @return the packets in the fabric
    FabricPool& GetPool() const
    {
        return *m_pool;
    }

    /// @return the events
    FabricCalendar& GetCalendar() const
    {
        return *m_calendar;
    }

    /// @return the IP packets
    FabricIp& GetIp() const
    {
        return *m_ip;
    }

    /**
     * @brief Checks that a failure can begin or end at a time; FailureHelper calls it. Aborts with
     * a message if the time has passed or the run has ended.
     * @param call name of the script's call, for the message
     * @param at the time
     * @return the time in picoseconds, at least the fabric's current time
     */
    uint64_t ExpectAhead(const std::string& call, Time at) const;
    /**
     * @brief Names a link. Aborts with a message if it is in another fabric.
     * @param call name of the script's call, for the message
     * @param link a link
     * @return its name in scenarios
     */
    std::string NameOf(const std::string& call, Ptr<FabricChannel> link) const;
    /**
     * @brief Adds failures of links, before or during the run; FailureHelper calls it.
     *
     * From then on the run is the same as if they had been declared before the fabric was made.
     * Throws std::invalid_argument with an explanation.
     *
     * @param sections sections [[failure]] of a scenario, which begin now or later
     */
    void AddFailures(const std::string& sections);
    /**
     * @brief Ends all failures of some links that have begun; FailureHelper calls it.
     *
     * Throws std::invalid_argument as AddFailures does, and also if there are no such failures.
     *
     * @param target keys of a section [[failure]] that name the links
     * @param atPs when they end, not in the past
     */
    void EndFailures(const std::string& target, uint64_t atPs);

    /// @return the encoder of packets for captures
    RoceBytes& GetRoceBytes() const
    {
        return *m_roceBytes;
    }

    /// @return the packet counters, for changes
    Counters& Count()
    {
        return m_counters;
    }

    /**
     * @brief Drops a packet.
     * @param port the port where it is dropped
     * @param slot slot of the packet
     */
    void Drop(FabricPort& port, uint32_t slot);

    /**
     * @brief Records a frame of priority flow control (PFC) that took effect.
     * @param pause the frame
     */
    void RecordPause(const Pause& pause)
    {
        m_pauses.push_back(pause);
    }

    /**
     * @brief Polls the events of the hosts and reports them to NICs, queue pairs and trace sinks.
     * @param nowPs the time
     */
    void ReportEvents(uint64_t nowPs);
    /**
     * @brief Records a packet that a NIC puts on its wire, for captures.
     * @param packet the packet
     */
    void RecordSent(const FabricPacket& packet);
    /**
     * @brief Starts all packets of a port that are due before now. Does nothing while an event of
     * the fabric is being handled, because that would change the order of events.
     * @param port the port
     */
    void SettleBeforeNow(FabricPort& port) const;
    /**
     * @brief Starts every packet that is due by a time at every switch port, so that the carried
     * bytes of links are exact.
     * @param nowPs the time in picoseconds
     */
    void SettleSwitches(uint64_t nowPs);

    /// Sets the run to RUNNING again after a message or work was posted.
    void Reopen()
    {
        m_verdict = RUNNING;
    }

    /**
     * @brief Handles an event of the calendar.
     * @param nowPs the time
     * @param kind kind of the event, a FabricCalendar::Kind
     * @param number number of the step, port or host, or of FabricCalendar::START
     * @return false to close the calendar because no more events are needed
     */
    bool HandleEvent(uint64_t nowPs, uint32_t kind, uint32_t number);

  protected:
    void DoDispose() override;

  private:
    /// Number of the steps among the events of kind CONTROL. Each step has an event, but the first
    /// event of a time applies all steps of that time. A script may have added a step that precedes
    /// others.
    static constexpr uint32_t STEP = 0;

    /// Reports completed and flushed work to queue pairs and trace sinks.
    void ReportCompletions();
    /// Prints a warning if the run is over and no packet was sent.
    void WarnIfIdle() const;
    /// Logs a warning if the headroom of PFC is too small for the longest IP packet.
    void WarnOfMtu() const;
    /// Makes later changes of the attributes that the core has read abort.
    void CloseAttributes();
    /// Starts all ports and NICs, and schedules the steps of failures.
    void Start();
    /// Schedules the steps that the core has added, after a change of failures.
    void ScheduleSteps();
    /// Marks the ports whose links fail at any time.
    void MarkFaulty();
    /**
     * @brief Applies a step to wires, or notifies policies, routing and NICs of it.
     * @param nowPs the time
     * @param step index of the step
     */
    void ApplyStep(uint64_t nowPs, uint32_t step);

    std::unique_ptr<FabricCore> m_core;         //!< the core
    evenkeel::contract::Core* m_rust{nullptr};  //!< NICs and switches of the core
    std::unique_ptr<FabricPool> m_pool;         //!< packets
    std::unique_ptr<FabricCalendar> m_calendar; //!< events
    std::unique_ptr<FabricIp> m_ip;             //!< IP packets; null before the fabric is made
    std::vector<FabricStep> m_steps;            //!< steps of failures, by time
    uint32_t m_applied{0};                      //!< number of steps applied so far
    std::unique_ptr<RoceBytes> m_roceBytes;     //!< encodes packets for captures
    std::vector<FabricPort*> m_ports;           //!< by number
    std::vector<Ptr<RdmaNic>> m_nics;           //!< by host
    std::vector<Ptr<FabricSwitch>> m_switches;  //!< by number
    std::vector<Ptr<FabricChannel>> m_channels; //!< by link
    Counters m_counters;                        //!< packet counters
    std::array<uint64_t, FABRIC_MOST_CLASSES> m_droppedOf{}; //!< dropped data, by class
    std::vector<Pause> m_pauses;                             //!< PFC frames that took effect
    Verdict m_verdict{RUNNING};                              //!< the state of the run
    uint64_t m_finishPs{0};                                  //!< when the last message completed
    bool m_started{false};                                   //!< the simulation has started
    bool m_stopWhenDone{false};                              //!< stop the simulation at COMPLETED
    bool m_capturing{false};                                 //!< a trace sink captures packets
    TracedCallback<Time> m_finishedTrace; //!< all messages and work requests completed
};

} // namespace ns3

#endif /* FABRIC_H */
