// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_CALENDAR_H
#define FABRIC_CALENDAR_H

#include "ns3/event-impl.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The events of a fabric, in picoseconds and in a designed order.
 *
 * ns-3 orders events of one time by insertion. What a fabric does then would depend on the order
 * in which events were made; here it depends on what they are: failures and routing first, then
 * starts, then arrivals by the port they come from, then hosts by number. One ns-3 event at a
 * time stands for the earliest of them, so ns-3's scheduler stays short. Events are never
 * cancelled: one that turns out to be early does nothing.
 *
 * The calendar counts picoseconds whatever the resolution of ns-3's time is. Where that is
 * coarser, its events are run at the tick that they fall into, in their order.
 */
class FabricCalendar
{
  public:
    /// What comes due.
    enum Kind : uint32_t
    {
        CONTROL = 0, //!< the next change of links or routing, by its place in the plan
        START = 1,   //!< the wire of this port is free for what waits
        PORT = 2,    //!< the head of this port's wire arrives, or the wire is free
        HOST = 3,    //!< the host asked to be woken
    };

    /// Whose events they are.
    class Client
    {
      public:
        virtual ~Client() = default;
        /**
         * @param nowPs the time
         * @param kind what comes due
         * @param number of which step, port or host
         * @return false to leave it at that: nothing comes due any more
         */
        virtual bool HandleEvent(uint64_t nowPs, Kind kind, uint32_t number) = 0;
    };

    FabricCalendar();
    ~FabricCalendar();
    FabricCalendar(const FabricCalendar&) = delete;
    FabricCalendar& operator=(const FabricCalendar&) = delete;

    /**
     * @brief Opens the calendar: events that were pushed before wait for it.
     * @param client whose events they are
     */
    void Open(Client* client);
    /// Nothing comes due any more.
    void Close();
    /**
     * @param timePs when, not in the past
     * @param kind what
     * @param number of which step, port or host; below 2^30
     */
    void Push(uint64_t timePs, Kind kind, uint32_t number);
    /// @return the time in picoseconds
    uint64_t Now() const;
    /// @return when the next event is; FABRIC_NEVER if there is none
    uint64_t GetNextTime() const;
    /// @return events that came due so far
    uint64_t GetEventCount() const;

  private:
    /// An event; those of one time go by rank.
    struct Entry
    {
        uint64_t time; //!< when
        uint32_t rank; //!< kind, then number
    };

    /// The ns-3 event, made once and scheduled again and again.
    class Tick;
    friend class Tick;

    /// The order of the heap; a class, so that it is compiled into it.
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

    /// Runs what is due by ns-3's time.
    void Run();
    /// Sees to it that ns-3 has an event for the earliest entry.
    void Arm();

    std::vector<Entry> m_heap;  //!< a heap, the earliest first
    Client* m_client{nullptr};  //!< whose events; null while closed
    Ptr<EventImpl> m_tick;      //!< the ns-3 event
    uint64_t m_armed;           //!< the tick that ns-3 has an event for
    uint64_t m_now{0};          //!< time of the last event
    uint64_t m_count{0};        //!< events that came due
    uint64_t m_psPerTick{1};    //!< picoseconds a tick of ns-3's time
    bool m_running{false};      //!< true while events are run
};

} // namespace ns3

#endif /* FABRIC_CALENDAR_H */
