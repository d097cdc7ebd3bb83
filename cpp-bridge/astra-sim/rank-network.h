// SPDX-License-Identifier: MIT
//
// evenkeel as the network of ASTRA-sim. It needs ASTRA-sim's AstraNetworkAPI.hh (or the stub in
// evenkeel's tests), the static library (which CMakeLists.txt builds), and C++17.

#ifndef EVENKEEL_ASTRA_SIM_RANK_NETWORK_H
#define EVENKEEL_ASTRA_SIM_RANK_NETWORK_H

#include "evenkeel-bridge/astra_sim/contract.rs.h"
#include "rank-handlers.h"

#include "astra-sim/common/AstraNetworkAPI.hh"

#include <cstdint>
#include <functional>
#include <vector>

namespace evenkeel::astra_sim
{

/// A network and its clock, which all ranks share.
class Simulation final : public RankHandlers
{
  public:
    /// Reads the scenario. Throws an exception that says why it is invalid.
    explicit Simulation(const NetworkOptions& options);

    /// Returns the number of hosts, which limits the number of ranks.
    std::uint32_t Hosts() const;

    /// Returns the rate of a host's link, in GB/s.
    double HostRate() const;

    /// Runs ranks 0 to `ranks` - 1. `fire` starts all of them. `idle` is called when no event is
    /// left although ranks have not finished; it may finish those whose work is done.
    ///
    /// Prints the network's messages on standard error. Returns the exit status: 0 if every rank
    /// has finished, 1 if ranks never finish or the time limit is reached, 2 if the input is
    /// invalid.
    int Run(
        std::uint32_t ranks, std::function<void()> fire, std::function<void()> idle = [] {});

    /// Returns the time in picoseconds.
    std::uint64_t Now() const;

    /// Makes a request that ends with a call of `function` with `argument`.
    void Submit(Request request, void (*function)(void*), void* argument);

    /// Makes a request without a handler.
    void Submit(const Request& request);

  private:
    /// A handler, to be called once.
    struct Handler
    {
        void (*function)(void*);
        void* argument;
    };

    void start(rust::Vec<Request>& requests) override;
    void call(std::uint64_t now_ps, std::uint64_t ticket, rust::Vec<Request>& requests) override;
    void idle(rust::Vec<Request>& requests) override;

    rust::Box<Network> m_network;
    std::function<void()> m_fire;
    std::function<void()> m_idle;
    /// Handlers by ticket; the tickets of called handlers are free.
    std::vector<Handler> m_handlers;
    std::vector<std::uint64_t> m_free;
    /// Requests made before the run.
    rust::Vec<Request> m_early;
    /// The list that requests are appended to.
    rust::Vec<Request>* m_requests{&m_early};
    std::uint64_t m_now{0};
};

/// The network as one rank sees it.
class RankNetwork final : public AstraSim::AstraNetworkAPI
{
  public:
    RankNetwork(int rank, Simulation& simulation);

    int sim_send(void* buffer,
                 uint64_t count,
                 int type,
                 int dst,
                 int tag,
                 AstraSim::sim_request* request,
                 void (*msg_handler)(void* fun_arg),
                 void* fun_arg) override;
    int sim_recv(void* buffer,
                 uint64_t count,
                 int type,
                 int src,
                 int tag,
                 AstraSim::sim_request* request,
                 void (*msg_handler)(void* fun_arg),
                 void* fun_arg) override;
    void sim_schedule(AstraSim::timespec_t delta,
                      void (*fun_ptr)(void* fun_arg),
                      void* fun_arg) override;
    AstraSim::timespec_t sim_get_time() override;
    double get_BW_at_dimension(int dim) override;
    void sim_notify_finished() override;

  private:
    /// Makes a request of this rank.
    Request MakeRequest(RequestKind kind) const;

    Simulation& m_simulation;
};

} // namespace evenkeel::astra_sim

#endif
