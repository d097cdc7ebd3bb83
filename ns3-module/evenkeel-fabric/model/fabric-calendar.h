// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_CALENDAR_H
#define FABRIC_CALENDAR_H

#include "ns3/event-impl.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <queue>
#include <vector>

namespace ns3
{

class Fabric;

/**
 * @ingroup evenkeel
 * @brief The event queue of a fabric, in picoseconds, with a defined order of simultaneous events.
 *
 * ns-3 runs simultaneous events in the order in which they were scheduled, so results would depend
 * on that order. Here the order depends on the kind of event:
 * -# changes of links and routing;
 * -# ends of pauses and starts of packets, by port;
 * -# arrivals, in an order of sending ports that the core draws for each time;
 * -# hosts, by number.
 *
 * Only the earliest event has an ns-3 event, which keeps ns-3's scheduler small. Events are never
 * cancelled: an event that is no longer due does nothing.
 *
 * The calendar counts picoseconds at any time resolution of ns-3. At a coarser resolution, events
 * run in their order at the tick that contains their time.
 */
class FabricCalendar
{
  public:
    /// The kinds of events.
    enum Kind : uint32_t
    {
        CONTROL = 0, //!< link or routing change; the number is the index of its step
        START = 1,   //!< of port p: 2p, a pause expires; 2p + 1, the wire is free for a packet
        PORT = 2,    //!< the first packet on a port's wire arrives, or the wire is free
        HOST = 3,    //!< a wake-up that a host requested
    };

    /**
     * @param fabric the fabric, which handles the events; must outlive this object
     */
    explicit FabricCalendar(Fabric& fabric);
    FabricCalendar(const FabricCalendar&) = delete;
    FabricCalendar& operator=(const FabricCalendar&) = delete;

    /// Opens the calendar and schedules the events pushed so far.
    void Open();
    /// Closes the calendar; no more events run.
    void Close();
    /**
     * @brief Adds an event.
     * @param timePs its time, not in the past
     * @param kind kind of the event
     * @param number number of the step, port or host, or of START; below 2^30
     */
    void Push(uint64_t timePs, Kind kind, uint32_t number);
    /// @return the time in picoseconds
    uint64_t Now() const;

    /// @return true while an event is being handled
    bool IsRunning() const
    {
        return m_running;
    }

    /// @return true between Open and Close
    bool IsOpen() const
    {
        return m_open;
    }

    /// @return number of events so far
    uint64_t GetEventCount() const
    {
        return m_count;
    }

  private:
    /// An event; simultaneous events are ordered by rank.
    struct Entry
    {
        uint64_t time;   //!< its time
        uint32_t rank;   //!< kind, then position of the port or number
        uint32_t number; //!< number
    };

    /// Heap order. A class instead of a function, so that the compiler inlines it.
    struct IsLater
    {
        /**
         * @param a an event
         * @param b another
         * @return true if a comes after b
         */
        bool operator()(const Entry& a, const Entry& b) const
        {
            return a.time != b.time ? a.time > b.time : a.rank > b.rank;
        }
    };

    /// Runs all events up to ns-3's time.
    void Run();
    /// Schedules the ns-3 event for the earliest entry.
    void Arm();

    /// Earliest event first.
    std::priority_queue<Entry, std::vector<Entry>, IsLater> m_queue;
    Fabric& m_fabric;        //!< handles events
    bool m_open{false};      //!< true between Open and Close
    Ptr<EventImpl> m_tick;   //!< the ns-3 event, made once and scheduled repeatedly
    uint64_t m_armed;        //!< tick for which the ns-3 event is scheduled
    uint64_t m_now{0};       //!< time of the last event
    uint64_t m_count{0};     //!< number of events so far
    uint64_t m_psPerTick{1}; //!< picoseconds per tick of ns-3's time
    bool m_running{false};   //!< true while events run
};

} // namespace ns3

#endif /* FABRIC_CALENDAR_H */
