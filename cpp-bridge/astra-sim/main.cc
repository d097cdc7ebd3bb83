// SPDX-License-Identifier: MIT
//
// ASTRA-sim with evenkeel as its network. The options have the names of ASTRA-sim's other networks,
// and the network configuration is an evenkeel scenario.

#include "inputs.h"
#include "rank-network.h"

#include "astra-sim/common/Logging.hh"
#include "astra-sim/system/Sys.hh"

#include <cxxopts/cxxopts.hpp>
#include <remote_memory_backend/analytical/AnalyticalRemoteMemory.hh>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

using evenkeel::astra_sim::CheckSystem;
using evenkeel::astra_sim::CheckTraces;
using evenkeel::astra_sim::LogicalDims;
using evenkeel::astra_sim::NetworkOptions;
using evenkeel::astra_sim::RankNetwork;
using evenkeel::astra_sim::Simulation;

/// Exit status for invalid input.
constexpr int INVALID = 2;

/// True once the exit status is known.
bool g_ended = false;

/// Runs at every exit, including exits by ASTRA-sim itself. Completes ASTRA-sim's log. ASTRA-sim
/// exits for invalid input only, so such exits get that status.
void
AtExit()
{
    AstraSim::LoggerFactory::shutdown();
    if (!g_ended)
    {
        std::cerr << "evenkeel: error: ASTRA-sim exited; see its last lines of output"
                  << std::endl;
        std::fflush(nullptr);
        std::_Exit(INVALID);
    }
}

cxxopts::Options
Options()
{
    using cxxopts::value;
    cxxopts::Options options("evenkeel-astra-sim", "ASTRA-sim with evenkeel's network");
    const auto text = [] { return value<std::string>(); };
    const auto none = [] { return value<std::string>()->default_value(""); };
    const auto empty = [] { return value<std::string>()->default_value("empty"); };
    const auto scale = [] { return value<double>()->default_value("1"); };
    options.set_width(100).add_options()
        ("workload-configuration", "traces: the PREFIX of PREFIX.RANK.et", text())
        ("comm-group-configuration", "communicator groups (JSON), or empty", empty())
        ("system-configuration", "system (JSON)", text())
        ("remote-memory-configuration", "remote memory (JSON)", text())
        ("network-configuration", "evenkeel scenario (TOML); its workload is ignored", text())
        ("logical-topology-configuration",
         "logical dimensions (JSON): {\"logical-dims\": [\"8\", \"2\"]}; by default "
         "one, of all hosts", none())
        ("logging-configuration", "loggers (TOML), or empty", empty())
        ("logging-folder", "folder for log files", value<std::string>()->default_value("log"))
        ("num-queues-per-dim", "queues per dimension", value<int>()->default_value("1"))
        ("compute-scale", "only 1: ASTRA-sim ignores it", scale())
        ("comm-scale", "only 1: ASTRA-sim ignores it", scale())
        ("injection-scale", "scales the delay before a message (endpoint-delay)", scale())
        ("rendezvous-protocol", "receives request their sends; messages must be below 2 GiB",
         value<bool>()->default_value("false"))
        ("policy", "overrides the scenario's policy", none())
        ("seed", "overrides the scenario's seed", none())
        ("results-folder", "folder for results: flows.csv, links.csv, summary.json", none())
        ("help", "print this text");
    return options;
}

/// Returns the options that only the network reads.
NetworkOptions
OfNetwork(const cxxopts::ParseResult& parsed)
{
    NetworkOptions options;
    options.scenario = parsed["network-configuration"].as<std::string>();
    options.policy = parsed["policy"].as<std::string>();
    options.seed = parsed["seed"].as<std::string>();
    options.results_folder = parsed["results-folder"].as<std::string>();
    return options;
}

/// Rejects numbers that are meaningless or have no effect.
void
CheckNumbers(const cxxopts::ParseResult& parsed)
{
    const auto wrong = [](const std::string& name, const auto& value, const std::string& right) {
        std::ostringstream reason;
        reason << "--" << name << '=' << value << ": " << right;
        throw std::runtime_error(reason.str());
    };
    for (const char* name : {"comm-scale", "compute-scale"})
    {
        const double factor = parsed[name].as<double>();
        if (factor != 1)
        {
            wrong(name, factor, "ASTRA-sim ignores it; scale the sizes or times of the traces");
        }
    }
    const double injection = parsed["injection-scale"].as<double>();
    if (!(injection >= 0) || std::isinf(injection))
    {
        wrong("injection-scale", injection, "expected a factor of 0 or more");
    }
    const int queues = parsed["num-queues-per-dim"].as<int>();
    if (queues < 1)
    {
        wrong("num-queues-per-dim", queues, "expected 1 or more");
    }
}

/// True if a rank has nothing left to do, by ASTRA-sim's own conditions.
bool
IsOver(const AstraSim::Workload& workload)
{
    auto& nodes = workload.et_feeder->getDependancyResolver();
    const auto& hardware = *workload.hw_resource;
    return nodes.get_dependancy_free_nodes().empty() && nodes.get_ongoing_nodes().empty() &&
           hardware.num_in_flight_cpu_ops == 0 && hardware.num_in_flight_gpu_comp_ops == 0 &&
           hardware.num_in_flight_gpu_comm_ops == 0;
}

int
Simulate(const cxxopts::ParseResult& parsed)
{
    const auto text = [&parsed](const char* name) { return parsed[name].as<std::string>(); };
    const auto number = [&parsed](const char* name) { return parsed[name].as<double>(); };
    CheckNumbers(parsed);
    for (const char* name : {"workload-configuration", "system-configuration",
                             "remote-memory-configuration", "network-configuration"})
    {
        if (parsed.count(name) == 0)
        {
            throw std::runtime_error(std::string("--") + name + " is missing; see --help");
        }
    }
    AstraSim::LoggerFactory::init(text("logging-configuration"), text("logging-folder"));
    std::atexit(AtExit);
    Simulation simulation(OfNetwork(parsed));
    const auto dims = LogicalDims(text("logical-topology-configuration"), simulation.Hosts());
    std::size_t ranks = 1;
    for (const int dim : dims)
    {
        ranks *= static_cast<std::size_t>(dim);
    }
    CheckSystem(text("system-configuration"), dims.size());
    CheckTraces(text("workload-configuration"), ranks);
    Analytical::AnalyticalRemoteMemory memory(text("remote-memory-configuration"));
    const std::vector<int> queues(dims.size(), parsed["num-queues-per-dim"].as<int>());
    std::vector<std::unique_ptr<RankNetwork>> networks;
    std::vector<std::unique_ptr<AstraSim::Sys>> systems;
    for (std::size_t rank = 0; rank < ranks; ++rank)
    {
        const int id = static_cast<int>(rank);
        networks.push_back(std::make_unique<RankNetwork>(id, simulation));
        try
        {
            systems.push_back(std::make_unique<AstraSim::Sys>(
                id, text("workload-configuration"), text("comm-group-configuration"),
                text("system-configuration"), &memory, networks.back().get(), dims, queues,
                number("injection-scale"), number("comm-scale"),
                parsed["rendezvous-protocol"].as<bool>()));
        }
        catch (const std::exception& error)
        {
            throw std::runtime_error("rank " + std::to_string(rank) +
                                     ", by its trace and the system: " + error.what());
        }
    }
    const auto fire = [&systems] {
        for (const auto& system : systems)
        {
            system->workload->fire();
        }
    };
    // ASTRA-sim's statistics fail for a trace with CPU or remote-memory nodes, and then it never
    // reports that the rank has finished. Report it here.
    const auto idle = [&systems, &networks] {
        std::size_t over = 0;
        for (std::size_t rank = 0; rank < systems.size(); ++rank)
        {
            const auto& workload = *systems[rank]->workload;
            if (!workload.is_finished && IsOver(workload))
            {
                networks[rank]->sim_notify_finished();
                ++over;
            }
        }
        if (over > 0)
        {
            std::cerr << "evenkeel: warning: " << over << " of " << systems.size()
                      << " ranks finished without statistics: ASTRA-sim has none for CPU or "
                      << "remote-memory nodes" << std::endl;
        }
    };
    return simulation.Run(static_cast<std::uint32_t>(ranks), fire, idle);
}

} // namespace

int
main(int argc, char* argv[])
{
    int status = INVALID;
    try
    {
        auto options = Options();
        const auto parsed = options.parse(argc, argv);
        if (parsed.count("help") > 0)
        {
            std::cout << options.help() << std::endl;
            return 0;
        }
        status = Simulate(parsed);
    }
    catch (const std::exception& error)
    {
        std::cerr << "evenkeel: error: " << error.what() << std::endl;
    }
    g_ended = true;
    return status;
}
