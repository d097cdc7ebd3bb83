// SPDX-License-Identifier: MIT
//
// What Rust calls: the ranks of ASTRA-sim, as rust/bridge/astra_sim/contract.rs declares them. C++11,
// and nothing of ASTRA-sim.

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

    /// Starts every rank, and appends what they ask for.
    virtual void start(rust::Vec<Request>& requests) = 0;

    /// Calls the handler of a ticket at a time in picoseconds, and appends what ranks ask for
    /// meanwhile.
    virtual void call(std::uint64_t now_ps, std::uint64_t ticket, rust::Vec<Request>& requests) = 0;

    /// Called when nothing is left to do while ranks have not finished; appends the end of those
    /// whose work is done.
    virtual void idle(rust::Vec<Request>& requests) = 0;
};

} // namespace astra_sim
} // namespace evenkeel

#endif
