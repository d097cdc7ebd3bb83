// SPDX-License-Identifier: MIT
//
// The ranks of ASTRA-sim as Rust calls them, declared in rust/bridge/astra_sim/contract.rs. This
// header is C++11 and needs nothing of ASTRA-sim.

#ifndef EVENKEEL_ASTRA_SIM_RANK_HANDLERS_H
#define EVENKEEL_ASTRA_SIM_RANK_HANDLERS_H

#include "rust/cxx.h"

#include <cstdint>

namespace evenkeel
{
namespace astra_sim
{

struct Request;

/// The ranks of a run, with a handler for each ticket.
class RankHandlers
{
  public:
    virtual ~RankHandlers() = default;

    /// Starts every rank and appends their requests.
    virtual void start(rust::Vec<Request>& requests) = 0;

    /// Calls the handler of a ticket at a time in picoseconds, and appends the requests that ranks
    /// make in it.
    virtual void call(std::uint64_t now_ps, std::uint64_t ticket, rust::Vec<Request>& requests) = 0;

    /// Called when no event is left although ranks have not finished. Appends a Finish request for
    /// ranks whose work is done.
    virtual void idle(rust::Vec<Request>& requests) = 0;
};

} // namespace astra_sim
} // namespace evenkeel

#endif
