// SPDX-License-Identifier: MIT
//
// Implements rank-network.h: keeps handlers by ticket, and passes requests to Rust.

#include "rank-network.h"

#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

namespace evenkeel::astra_sim
{

namespace
{

// Redirects requests for its lifetime, even if an exception is thrown.
class Redirection
{
  public:
    Redirection(rust::Vec<Request>*& where, rust::Vec<Request>& to)
        : m_where(where),
          m_before(where)
    {
        m_where = &to;
    }

    ~Redirection()
    {
        m_where = m_before;
    }

    Redirection(const Redirection&) = delete;
    Redirection& operator=(const Redirection&) = delete;

  private:
    rust::Vec<Request>*& m_where;
    rust::Vec<Request>* m_before;
};

} // namespace

Simulation::Simulation(const NetworkOptions& options)
    : m_network(open_network(options))
{
    for (const auto& warning : m_network->warnings())
    {
        std::cerr << "evenkeel: warning: " << std::string(warning) << std::endl;
    }
}

std::uint32_t
Simulation::Hosts() const
{
    return m_network->hosts();
}

double
Simulation::HostRate() const
{
    return m_network->host_rate();
}

int
Simulation::Run(std::uint32_t ranks, std::function<void()> fire, std::function<void()> idle)
{
    m_fire = std::move(fire);
    m_idle = std::move(idle);
    const Ending ending = m_network->run(*this, ranks);
    for (const auto& warning : ending.warnings)
    {
        std::cerr << "evenkeel: warning: " << std::string(warning) << std::endl;
    }
    std::cerr << "evenkeel: " << std::string(ending.summary) << std::endl;
    if (ending.status != 0)
    {
        std::cerr << "evenkeel: error: " << std::string(ending.error) << std::endl;
    }
    return ending.status;
}

std::uint64_t
Simulation::Now() const
{
    return m_now;
}

void
Simulation::Submit(Request request, void (*function)(void*), void* argument)
{
    if (m_free.empty())
    {
        m_free.push_back(m_handlers.size());
        m_handlers.push_back({nullptr, nullptr});
    }
    request.ticket = m_free.back();
    m_free.pop_back();
    m_handlers[request.ticket] = {function, argument};
    m_requests->push_back(request);
}

void
Simulation::Submit(const Request& request)
{
    m_requests->push_back(request);
}

void
Simulation::start(rust::Vec<Request>& requests)
{
    for (const auto& request : m_early)
    {
        requests.push_back(request);
    }
    m_early.clear();
    const Redirection redirection(m_requests, requests);
    m_fire();
}

void
Simulation::call(std::uint64_t now_ps, std::uint64_t ticket, rust::Vec<Request>& requests)
{
    // Copy the handler: it may make requests that reuse its ticket and reallocate all handlers.
    const Handler handler = m_handlers.at(ticket);
    m_free.push_back(ticket);
    m_now = now_ps;
    const Redirection redirection(m_requests, requests);
    handler.function(handler.argument);
}

void
Simulation::idle(rust::Vec<Request>& requests)
{
    const Redirection redirection(m_requests, requests);
    m_idle();
}

RankNetwork::RankNetwork(int rank, Simulation& simulation)
    : AstraNetworkAPI(rank),
      m_simulation(simulation)
{
}

Request
RankNetwork::MakeRequest(RequestKind kind) const
{
    return {kind, static_cast<std::uint32_t>(rank), 0, 0, 0, 0};
}

int
RankNetwork::sim_send(void*,
                      uint64_t count,
                      int,
                      int dst,
                      int tag,
                      AstraSim::sim_request*,
                      void (*msg_handler)(void* fun_arg),
                      void* fun_arg)
{
    Request request = MakeRequest(RequestKind::Send);
    request.peer = dst;
    request.tag = tag;
    request.amount = count;
    m_simulation.Submit(request, msg_handler, fun_arg);
    return 0;
}

int
RankNetwork::sim_recv(void*,
                      uint64_t count,
                      int,
                      int src,
                      int tag,
                      AstraSim::sim_request*,
                      void (*msg_handler)(void* fun_arg),
                      void* fun_arg)
{
    Request request = MakeRequest(RequestKind::Receive);
    request.peer = src;
    request.tag = tag;
    request.amount = count;
    m_simulation.Submit(request, msg_handler, fun_arg);
    return 0;
}

void
RankNetwork::sim_schedule(AstraSim::timespec_t delta,
                          void (*fun_ptr)(void* fun_arg),
                          void* fun_arg)
{
    // ASTRA-sim finds events by their nanosecond; an event called in another one would be lost.
    const auto whole = static_cast<std::uint64_t>(delta.time_val);
    if (delta.time_res != AstraSim::NS || delta.time_val < 0 ||
        static_cast<long double>(whole) != delta.time_val)
    {
        throw std::runtime_error("rank " + std::to_string(rank) + " schedules a call after " +
                                 std::to_string(delta.time_val) + " in units of time_res " +
                                 std::to_string(static_cast<int>(delta.time_res)) +
                                 ": expected a whole number of nanoseconds (NS)");
    }
    Request request = MakeRequest(RequestKind::Schedule);
    request.amount = whole;
    m_simulation.Submit(request, fun_ptr, fun_arg);
}

AstraSim::timespec_t
RankNetwork::sim_get_time()
{
    return {AstraSim::NS, m_simulation.Now() / 1000.0L};
}

double
RankNetwork::get_BW_at_dimension(int)
{
    // All logical dimensions share the links of the hosts.
    return m_simulation.HostRate();
}

void
RankNetwork::sim_notify_finished()
{
    m_simulation.Submit(MakeRequest(RequestKind::Finish));
}

} // namespace evenkeel::astra_sim
