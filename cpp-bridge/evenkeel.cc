// SPDX-License-Identifier: GPL-2.0-only
//
// Glue between evenkeel.h and the contract in rust/bridge/chooser.rs. No protocol state lives here.

#include "evenkeel.h"

#include "evenkeel/rust/bridge/chooser.rs.h"
#include "rust/cxx.h"

#include <stdexcept>
#include <utility>

namespace evenkeel
{

namespace
{

// rust::Error is cxx's own; callers get an exception that they know.
rust::Box<contract::SwitchChooser>
makeChooser(const std::string& policy, std::uint64_t seed, std::uint32_t switchId)
{
    try
    {
        return contract::switch_chooser(policy, seed, switchId);
    }
    catch (const rust::Error& error)
    {
        throw std::invalid_argument(error.what());
    }
}

} // namespace

std::string
version()
{
    return std::string(contract::version());
}

struct SwitchChooser::Impl
{
    explicit Impl(rust::Box<contract::SwitchChooser> made)
        : chooser(std::move(made))
    {
    }

    rust::Box<contract::SwitchChooser> chooser;
};

SwitchChooser::SwitchChooser(const std::string& policy,
                             std::uint64_t seed,
                             std::uint32_t switchId)
    : m_impl(new Impl(makeChooser(policy, seed, switchId)))
{
}

SwitchChooser::~SwitchChooser() = default;
SwitchChooser::SwitchChooser(SwitchChooser&& other) noexcept = default;
SwitchChooser& SwitchChooser::operator=(SwitchChooser&& other) noexcept = default;

std::uint32_t
SwitchChooser::choose(std::uint32_t label, std::uint16_t entropy, std::uint32_t candidates)
{
    return m_impl->chooser->choose(label, entropy, candidates);
}

} // namespace evenkeel
