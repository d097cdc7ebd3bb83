// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_H
#define FABRIC_H

#include "fabric-calendar.h"
#include "fabric-core.h"
#include "fabric-faults.h"
#include "fabric-pfc.h"
#include "fabric-pool.h"
#include "fabric-verbs.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <functional>
#include <memory>
#include <vector>

namespace ns3
{

class FabricChannel;
class FabricPort;
class FabricSwitch;
class RdmaNic;
class RoceBytes;

/**
 * @ingroup evenkeel
 * @brief A fabric: its ports, switches and NICs, their events, and the core that they ask.
 *
 * FabricHelper makes one; a script uses it to hear when everything is complete and for results.
 * The order of what happens at one time is that of evenkeel's own fabric (see FabricCalendar), so
 * that the two can be compared to the picosecond.
 */
class Fabric : public Object, private FabricCalendar::Client
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    Fabric();
    ~Fabric() override;

    /// How a run ended, or how it stands.
    enum Verdict
    {
        RUNNING,   //!< messages are open
        COMPLETED, //!< every message is delivered and complete
        TIME_LIMIT //!< the time limit passed
    };

    /// What the fabric counts, over all ports.
    struct Counters
    {
        uint64_t dataDropped{0};    //!< data packets lost
        uint64_t controlDropped{0}; //!< acknowledgements, NACKs and CNPs lost
        uint64_t hops{0};           //!< packets that reached the end of a wire
        uint64_t arrivals{0};       //!< data packets that came to a port of a switch
        uint64_t waitingFound{0};   //!< sum of the bytes that they found waiting
        uint64_t trimmed{0};        //!< data packets cut to their header
        uint64_t pauses{0};         //!< pause frames sent
    };

    /// A frame of priority flow control (PFC) that took effect.
    using Pause = FabricPause;

    /**
     * @brief TracedCallback signature for the end of all work.
     * @param when when it was
     */
    typedef void (*FinishedTracedCallback)(Time when);

    /**
     * @brief Sets ns-3's time resolution to picoseconds.
     *
     * To be called before anything else makes times or events; FabricHelper does it. A fabric is
     * exact at any resolution, but what ns-3's clock shows to traces is only as fine as that.
     */
    static void UsePicoseconds();

    /**
     * @brief Wires everything together; done by FabricHelper.
     * @param core what is asked
     * @param nics by number of host
     * @param switches by number
     * @param channels by number of link
     */
    void Assemble(std::unique_ptr<FabricCore> core,
                  const std::vector<Ptr<RdmaNic>>& nics,
                  const std::vector<Ptr<FabricSwitch>>& switches,
                  const std::vector<Ptr<FabricChannel>>& channels);

    // Results.

    /// @return how the run ended, or how it stands
    Verdict GetVerdict() const;
    /// @return when the last message was complete
    Time GetFinishTime() const;
    /// @return the same in picoseconds, whatever the resolution
    uint64_t GetFinishPs() const;
    /// @return what was counted
    const Counters& GetCounters() const;
    /// @return pause and resume frames in order of time
    const std::vector<Pause>& GetPauses() const;
    /// @return how many ports there are: two a link
    uint32_t GetNPorts() const;
    /**
     * @param number 2l or 2l + 1 of link l
     * @return the port
     */
    FabricPort& GetPort(uint32_t number) const;
    /// @return how many hosts there are
    uint32_t GetNNics() const;
    /**
     * @param host number of a host
     * @return its NIC
     */
    Ptr<RdmaNic> GetNic(uint32_t host) const;
    /// @return most bytes that ever waited at a port of a switch
    uint32_t GetQueueBytesMax() const;
    /// @return events so far
    uint64_t GetEventCount() const;
    /// @return the time of the last event, in picoseconds
    uint64_t GetNowPs() const;
    /// @return data packets in queues and on wires, counted one by one
    uint64_t CountDataInFlight() const;

    // What ports, switches and NICs ask of it; not for scripts.

    /// @return what the fabric is made from
    FabricCore& GetCore() const
    {
        return *m_core;
    }

    /// @return what the NICs do
    FabricHosts& GetHosts() const
    {
        return *m_hosts;
    }

    /// @return what the switches choose
    FabricSwitching& GetSwitching() const
    {
        return *m_switching;
    }

    /// @return verbs of the NICs; null if the core has none
    FabricVerbs* GetVerbs() const
    {
        return m_verbs;
    }

    /// @return true once time has begun
    bool HasStarted() const
    {
        return m_started;
    }

    /// @return what switches and links are set to
    const FabricSettings& GetSettings() const
    {
        return m_settings;
    }

    /**
     * @brief Sets who looks at the fabric while it runs.
     * @param look called with the time in ps, before anything starts or arrives then; null for
     *        nobody, and what was asked for does not happen
     */
    void SetLook(std::function<void(uint64_t)> look);
    /**
     * @brief Asks for a look.
     * @param timePs when, not in the past
     */
    void LookAt(uint64_t timePs);

    /// @return packets in the fabric
    FabricPool& GetPool()
    {
        return m_pool;
    }

    /// @return events
    FabricCalendar& GetCalendar()
    {
        return m_calendar;
    }

    /// @return flow control; null if there is none
    FabricPfc* GetPfc() const
    {
        return m_pfc.get();
    }

    /// @return what failed links do
    FabricFaults& GetFaults() const
    {
        return *m_faults;
    }

    /// @return bytes for sniffers
    RoceBytes& GetRoceBytes() const
    {
        return *m_roceBytes;
    }

    /// A packet reached the end of a wire.
    void CountHop()
    {
        ++m_counters.hops;
    }

    /// A pause frame is sent.
    void CountPause()
    {
        ++m_counters.pauses;
    }

    /// A packet was cut.
    void CountTrimmed()
    {
        ++m_counters.trimmed;
    }

    /**
     * @brief A data packet came to a port of a switch.
     * @param waiting bytes that it found there
     */
    void CountFound(uint64_t waiting)
    {
        ++m_counters.arrivals;
        m_counters.waitingFound += waiting;
    }

    /**
     * @brief A packet is lost.
     * @param port where
     * @param place of the packet
     */
    void Drop(FabricPort& port, uint32_t place);
    /**
     * @brief A frame of flow control takes effect.
     * @param nowPs the time
     * @param port at which port
     * @param order what it says
     */
    void RecordPause(uint64_t nowPs, uint32_t port, FabricPfc::Order order);
    /**
     * @brief Hands out what the core has to say after it was given something.
     * @param nowPs the time
     */
    void ReportEvents(uint64_t nowPs);
    /**
     * @brief A NIC puts a packet on its wire.
     * @param packet the packet
     */
    void NoteSent(const FabricPacket& packet);
    /// A message or work was posted: there is something to do again.
    void Reopen();

  protected:
    void DoDispose() override;

  private:
    bool HandleEvent(uint64_t nowPs, FabricCalendar::Kind kind, uint32_t number) override;
    /**
     * @brief Gives a port its place.
     * @param number of the port
     * @param port the port
     * @param end the port at the far end
     */
    void JoinPort(uint32_t number, FabricPort& port, FabricPort& end);
    /// Time begins.
    void Start();
    /**
     * @brief Links or routing change.
     * @param nowPs the time
     * @param step which step of the plan
     */
    void HandleControl(uint64_t nowPs, uint32_t step);

    std::unique_ptr<FabricCore> m_core;        //!< what the fabric is made from
    FabricHosts* m_hosts{nullptr};             //!< of the core
    FabricSwitching* m_switching{nullptr};     //!< of the core
    FabricVerbs* m_verbs{nullptr};             //!< of the core, if it has them
    FabricSettings m_settings;                 //!< of switches and links
    FabricPool m_pool;                         //!< packets
    FabricCalendar m_calendar;                 //!< events
    std::unique_ptr<FabricPfc> m_pfc;          //!< flow control
    std::unique_ptr<FabricFaults> m_faults;    //!< failures on wires
    std::unique_ptr<RoceBytes> m_roceBytes;    //!< bytes for sniffers
    std::vector<FabricPort*> m_ports;          //!< by number
    std::vector<Ptr<RdmaNic>> m_nics;          //!< by host
    std::vector<Ptr<FabricSwitch>> m_switches; //!< by number
    std::vector<Ptr<FabricChannel>> m_channels; //!< by link
    Counters m_counters;                       //!< what was counted
    std::vector<Pause> m_pauses;               //!< frames that took effect
    std::function<void(uint64_t)> m_look;      //!< who looks
    Verdict m_verdict{RUNNING};                //!< how it stands
    uint64_t m_finishPs{0};                    //!< when the last message was complete
    bool m_started{false};                     //!< time has begun
    bool m_stopWhenDone{false};                //!< end the simulation then
    bool m_capturing{false};                   //!< somebody sniffs
    TracedCallback<Time> m_finishedTrace;      //!< everything is complete
};

} // namespace ns3

#endif /* FABRIC_H */
