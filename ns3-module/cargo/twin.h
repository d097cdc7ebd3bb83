// SPDX-License-Identifier: GPL-2.0-only
//
// Runs of ns-3 that the Rust package asks for: declared to it in rust/bridge/world.rs. There is no
// ns-3 in this header, which is compiled as C++11.

#ifndef EVENKEEL_TWIN_H
#define EVENKEEL_TWIN_H

#include "rust/cxx.h"

namespace evenkeel
{
namespace contract
{

struct Core;
struct Experiment;

/// Runs an experiment in ns-3, from the start to where its core says that it ends, and gives the
/// core back with what was measured. ns-3's simulator is one a process: calls must not overlap.
rust::Box<Core> run_in_ns3(const Experiment& experiment, rust::Box<Core> core);

/// The same for an experiment of the HPCC family, whose files are written into a folder.
rust::Box<Core>
run_hpcc_in_ns3(const Experiment& experiment, rust::Box<Core> core, rust::Str folder);

} // namespace contract
} // namespace evenkeel

#endif // EVENKEEL_TWIN_H
