// SPDX-License-Identifier: MIT
//
// A stand-in for ASTRA-sim's system layer, which calls the network in the same way. It keeps events
// by whole nanoseconds and looks them up by the network's time, truncated. A callback in any other
// nanosecond is lost, as in ASTRA-sim.

#ifndef EVENKEEL_STAND_IN_SYS_H
#define EVENKEEL_STAND_IN_SYS_H

#include "rank-network.h"

#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Action = std::function<void()>;

/// The system layer of one rank.
class Sys
{
  public:
    Sys(int rank, evenkeel::astra_sim::Simulation& simulation)
        : m_simulation(simulation),
          network(rank, simulation)
    {
    }

    Sys(const Sys&) = delete;
    Sys& operator=(const Sys&) = delete;

    /// Sends a message; `action` is the completion handler.
    void Send(int dst, std::uint64_t count, int tag, Action action)
    {
        char buffer[2];
        network.sim_send(buffer, count, 0, dst, tag, nullptr, Handle, Keep(std::move(action)));
    }

    /// Sends a message without waiting for it, as collectives do.
    void SendAndForget(int dst, std::uint64_t count, int tag)
    {
        char buffer[2];
        network.sim_send(buffer, count, 0, dst, tag, nullptr, Handle, nullptr);
    }

    void Receive(int src, std::uint64_t count, int tag, Action action)
    {
        char buffer[2];
        m_inside = true;
        network.sim_recv(buffer, count, 0, src, tag, nullptr, Handle, Keep(std::move(action)));
        m_inside = false;
    }

    /// Runs `action` after a delay, by an event at a whole nanosecond.
    void After(std::uint64_t ns, Action action)
    {
        const std::uint64_t due = WholeNow() + ns;
        m_events[due].push_back(std::move(action));
        const AstraSim::timespec_t delta{AstraSim::NS, static_cast<long double>(ns)};
        network.sim_schedule(delta, Handle, Keep([this] { DoEvents(); }));
    }

    void Finish()
    {
        network.sim_notify_finished();
    }

    /// The time as ASTRA-sim sees it.
    std::uint64_t WholeNow()
    {
        return static_cast<std::uint64_t>(network.sim_get_time().time_val);
    }

    /// The time in picoseconds.
    std::uint64_t Now() const
    {
        return m_simulation.Now();
    }

    /// Number of events that no callback found.
    std::size_t Lost() const
    {
        return m_events.size();
    }

  private:
    struct Argument
    {
        Sys* sys;
        Action action;
    };

    void* Keep(Action action)
    {
        return new Argument{this, std::move(action)};
    }

    static void Handle(void* argument)
    {
        if (argument == nullptr)
        {
            return;
        }
        // Freed here, so that a sanitizer detects a second call, and usually a crash does without
        // one.
        const std::unique_ptr<Argument> owned(static_cast<Argument*>(argument));
        if (owned->sys->m_inside)
        {
            throw std::runtime_error("a handler was called inside of sim_recv");
        }
        owned->action();
    }

    void DoEvents()
    {
        const auto due = m_events.find(WholeNow());
        if (due == m_events.end())
        {
            return;
        }
        const std::vector<Action> actions = std::move(due->second);
        m_events.erase(due);
        for (const auto& action : actions)
        {
            action();
        }
    }

    evenkeel::astra_sim::Simulation& m_simulation;
    std::map<std::uint64_t, std::vector<Action>> m_events;
    bool m_inside{false};

  public:
    evenkeel::astra_sim::RankNetwork network;
};

#endif
