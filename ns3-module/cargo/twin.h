// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// ns-3 runs started by the Rust package, declared to Rust in rust/bridge/world/contract.rs. This
// header is compiled as C++11 and includes no ns-3 header.

#ifndef EVENKEEL_TWIN_H
#define EVENKEEL_TWIN_H

#include "rust/cxx.h"

namespace evenkeel
{
namespace contract
{

struct Core;
struct Experiment;
struct LateFailures;

/// Runs an experiment in ns-3 until its core reports the end. Returns the core with the
/// measurements. A process has one ns-3 simulator: calls must not overlap.
rust::Box<Core> run_in_ns3(const Experiment& experiment, rust::Box<Core> core);

/// Does the same with failures that a script adds during the run.
rust::Box<Core> run_in_ns3_with_late_failures(const Experiment& experiment,
                                              rust::Box<Core> core,
                                              rust::Slice<const LateFailures> late);

} // namespace contract
} // namespace evenkeel

#endif // EVENKEEL_TWIN_H
