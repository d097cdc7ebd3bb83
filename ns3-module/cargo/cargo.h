// SPDX-License-Identifier: GPL-2.0-only
//
// What the Rust package asks of ns-3 when both are in one process: declared to it in
// rust/bridge/ns3.rs. There is no ns-3 in this header, which is compiled as C++11.

#ifndef EVENKEEL_CARGO_H
#define EVENKEEL_CARGO_H

#include "rust/cxx.h"

#include <cstdint>

namespace evenkeel
{
namespace ns3way
{

/// Runs a test suite of the module by ns-3's own test runner, which prints its report; 0 if all is
/// well. ns-3's simulator is one a process: calls must not overlap.
std::int32_t run_test_suite(rust::Str suite);

/// The kinds of ns-3 objects of the group that the module's classes are in, by name, one a line.
rust::String type_names(rust::Str group);

} // namespace ns3way
} // namespace evenkeel

#endif // EVENKEEL_CARGO_H
