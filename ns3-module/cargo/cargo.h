// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// Calls from the Rust package into ns-3 in the same process, declared to Rust in
// rust/bridge/ns3.rs. This header is compiled as C++11 and includes no ns-3 header.

#ifndef EVENKEEL_CARGO_H
#define EVENKEEL_CARGO_H

#include "rust/cxx.h"

#include <cstdint>

namespace evenkeel
{
namespace ns3way
{

/// Runs a test suite of the module with ns-3's own test runner, which prints its report. Returns 0
/// if it passes. A process has one ns-3 simulator: calls must not overlap.
std::int32_t run_test_suite(rust::Str suite);

/// Returns the names of the TypeIds registered in a group, one per line.
rust::String type_names(rust::Str group);

} // namespace ns3way
} // namespace evenkeel

#endif // EVENKEEL_CARGO_H
