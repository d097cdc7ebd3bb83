// SPDX-License-Identifier: MIT
//
// Cases of the contract between ASTRA-sim and its network, with a stand-in for ASTRA-sim:
//
//     cases CASE SCENARIO [RESULTS]
//
// The program prints the calls of handlers and exits with the status of the run.

#include "stand-in/sys.h"

namespace
{

using evenkeel::astra_sim::NetworkOptions;
using evenkeel::astra_sim::Simulation;

constexpr int TAG = 500'000'000;

/// All ranks of a run.
struct Ranks
{
    std::vector<std::unique_ptr<Sys>> all;

    Sys& operator[](std::size_t rank)
    {
        return *all.at(rank);
    }

    void FinishAll()
    {
        for (const auto& sys : all)
        {
            sys->Finish();
        }
    }
};

/// Prints a name and the time in picoseconds.
Action
Print(const Sys& sys, const std::string& name, Action then = [] {})
{
    return [&sys, name, then] {
        std::cout << name << ' ' << sys.Now() << '\n';
        then();
    };
}

void
InOrder(Ranks& ranks)
{
    ranks[1].Receive(0, 64, TAG, Print(ranks[1], "first"));
    ranks[1].Receive(0, 64, TAG, Print(ranks[1], "second", [&ranks] { ranks.FinishAll(); }));
    ranks[0].SendAndForget(1, 64, TAG);
    ranks[0].SendAndForget(1, 64, TAG);
}

void
Sizes(Ranks& ranks)
{
    ranks[1].Receive(0, 64, TAG, Print(ranks[1], "short", [&ranks] { ranks.FinishAll(); }));
    ranks[1].Receive(0, 9'000, TAG, Print(ranks[1], "long"));
    ranks[0].SendAndForget(1, 9'000, TAG);
    ranks[0].SendAndForget(1, 64, TAG);
}

void
Large(Ranks& ranks)
{
    const std::uint64_t bytes = 3'221'225'472;
    ranks[1].Receive(0, bytes, TAG, Print(ranks[1], "received"));
    ranks[0].Send(1, bytes, TAG, Print(ranks[0], "sent", [&ranks] { ranks.FinishAll(); }));
}

void
WaitsForEver(Ranks& ranks)
{
    ranks[1].Receive(0, 64, TAG, [] {});
    ranks[0].Finish();
}

void
NeverReceived(Ranks& ranks)
{
    ranks[0].SendAndForget(1, 64, TAG);
    ranks.FinishAll();
}

/// One message; also used with a cut link.
void
OneMessage(Ranks& ranks)
{
    ranks[1].Receive(0, 100'000, TAG, Print(ranks[1], "received", [&ranks] { ranks[1].Finish(); }));
    ranks[0].Send(1, 100'000, TAG, Print(ranks[0], "sent", [&ranks] { ranks[0].Finish(); }));
}

void
PingPong(Ranks& ranks)
{
    ranks[1].Receive(0, 64, TAG, Print(ranks[1], "ping", [&ranks] {
        ranks[1].SendAndForget(0, 64, TAG);
    }));
    ranks[0].Receive(1, 64, TAG, Print(ranks[0], "pong", [&ranks] { ranks.FinishAll(); }));
    ranks[0].SendAndForget(1, 64, TAG);
}

/// The receive is posted when its message has already arrived.
void
Early(Ranks& ranks)
{
    ranks[0].SendAndForget(1, 64, TAG);
    ranks[1].After(9'000, [&ranks] {
        ranks[1].After(0, Print(ranks[1], "before"));
        ranks[1].Receive(0, 64, TAG, Print(ranks[1], "received", [&ranks] { ranks.FinishAll(); }));
        ranks[1].After(0, Print(ranks[1], "after"));
    });
}

/// A chain of events that starts at a fraction of a nanosecond.
void
Chain(Ranks& ranks, int left)
{
    if (left == 0)
    {
        std::cout << "lost " << ranks[1].Lost() << '\n';
        ranks.FinishAll();
        return;
    }
    ranks[1].After(static_cast<std::uint64_t>(left % 3), [&ranks, left] { Chain(ranks, left - 1); });
}

void
Fractions(Ranks& ranks)
{
    // The wire time of this length is not a whole number of nanoseconds.
    ranks[1].Receive(0, 65, TAG, Print(ranks[1], "received", [&ranks] { Chain(ranks, 10'000); }));
    ranks[0].SendAndForget(1, 65, TAG);
}

/// Nothing crosses the network.
void
Local(Ranks& ranks)
{
    ranks[0].Receive(0, 64, TAG, Print(ranks[0], "from oneself"));
    ranks[0].Send(0, 64, TAG, Print(ranks[0], "to oneself"));
    ranks[1].Receive(0, 0, TAG, Print(ranks[1], "nothing", [&ranks] { ranks.FinishAll(); }));
    ranks[0].SendAndForget(1, 0, TAG);
}

void
NoHost(Ranks& ranks)
{
    ranks[0].SendAndForget(99, 64, TAG);
}

/// The size that ASTRA-sim requests where it stores 2 GiB in an `int`.
void
Negative(Ranks& ranks)
{
    ranks[0].SendAndForget(1, static_cast<std::uint64_t>(-2'147'483'647 - 1), TAG);
}

void
Throws(Ranks& ranks)
{
    ranks[0].After(5, [] { throw std::runtime_error("the trace has a node of no type"); });
}

/// All ranks send to their next rank at the same time, like the scenario workload `shift`.
void
Shift(Ranks& ranks)
{
    const std::size_t count = ranks.all.size();
    for (std::size_t rank = 0; rank < count; ++rank)
    {
        const auto number = [](std::size_t of) { return static_cast<int>(of); };
        Sys& sys = ranks[rank];
        const int next = number((rank + 1) % count);
        const int last = number((rank + count - 1) % count);
        sys.Receive(last, 100'000, TAG, Print(sys, "delivered " + std::to_string(last)));
        const std::string name = "completed " + std::to_string(rank);
        sys.Send(next, 100'000, TAG, Print(sys, name, [&sys] { sys.Finish(); }));
    }
}

/// Lines that loggers hold until they are shut down, as in ASTRA-sim. They would be lost if the
/// network exited the process inside a handler.
std::vector<std::string> logged;

/// All-gather by a ring: each rank forwards what it received from its predecessor, 3 GiB at a time.
void
AllGather(Ranks& ranks, std::size_t rank, std::size_t left)
{
    const std::size_t count = ranks.all.size();
    const std::uint64_t bytes = 3'221'225'472;
    const int last = static_cast<int>((rank + count - 1) % count);
    const int next = static_cast<int>((rank + 1) % count);
    ranks[rank].Receive(last, bytes, TAG, [&ranks, rank, left] {
        Sys& sys = ranks[rank];
        if (left > 1)
        {
            AllGather(ranks, rank, left - 1);
            return;
        }
        logged.push_back("sys[" + std::to_string(rank) + "] finished " + std::to_string(sys.Now()));
        sys.Finish();
    });
    ranks[rank].SendAndForget(next, bytes, TAG);
}

void
AllGatherOfAll(Ranks& ranks)
{
    for (std::size_t rank = 0; rank < ranks.all.size(); ++rank)
    {
        AllGather(ranks, rank, ranks.all.size() - 1);
    }
}

/// A ring of many small steps; each waits for the previous one.
void
Ring(Ranks& ranks, std::size_t rank, int left)
{
    const std::size_t count = ranks.all.size();
    if (left == 0)
    {
        ranks[rank].Finish();
        return;
    }
    const int last = static_cast<int>((rank + count - 1) % count);
    const int next = static_cast<int>((rank + 1) % count);
    ranks[rank].Receive(last, 64, TAG, [&ranks, rank, left] { Ring(ranks, rank, left - 1); });
    ranks[rank].SendAndForget(next, 64, TAG);
}

void
RingOfAll(Ranks& ranks)
{
    for (std::size_t rank = 0; rank < ranks.all.size(); ++rank)
    {
        Ring(ranks, rank, 40);
    }
}

/// No rank reports its end before nothing is left to do.
void
Silent(Ranks& ranks)
{
    ranks[1].Receive(0, 64, TAG, Print(ranks[1], "received"));
    ranks[0].SendAndForget(1, 64, TAG);
}

const std::map<std::string, void (*)(Ranks&)> CASES = {
    {"silent", Silent},
    {"half-silent", Silent},
    {"in-order", InOrder},
    {"sizes", Sizes},
    {"large", Large},
    {"waits-for-ever", WaitsForEver},
    {"never-received", NeverReceived},
    {"one-message", OneMessage},
    {"ping-pong", PingPong},
    {"early", Early},
    {"fractions", Fractions},
    {"local", Local},
    {"no-host", NoHost},
    {"negative", Negative},
    {"throws", Throws},
    {"shift", Shift},
    {"ring", RingOfAll},
    {"all-gather", AllGatherOfAll},
};

int
Run(const std::vector<std::string>& arguments)
{
    const auto run = CASES.at(arguments.at(0));
    NetworkOptions options;
    options.scenario = arguments.at(1);
    options.results_folder = arguments.size() > 2 ? arguments[2] : "";
    Simulation simulation(options);
    Ranks ranks;
    for (std::uint32_t rank = 0; rank < simulation.Hosts(); ++rank)
    {
        ranks.all.push_back(std::make_unique<Sys>(static_cast<int>(rank), simulation));
    }
    const auto fire = [&ranks, run] { run(ranks); };
    const auto idle = [&ranks, &arguments] {
        if (arguments[0] == "silent")
        {
            ranks.FinishAll();
        }
        else if (arguments[0] == "half-silent")
        {
            ranks[1].Finish();
        }
    };
    const int status = simulation.Run(simulation.Hosts(), fire, idle);
    for (const std::string& line : logged)
    {
        std::cout << line << '\n';
    }
    std::cout << "rate " << ranks[0].network.get_BW_at_dimension(0) << '\n';
    return status;
}

} // namespace

int
main(int argc, char* argv[])
{
    try
    {
        return Run({argv + 1, argv + argc});
    }
    catch (const std::exception& error)
    {
        std::cerr << "evenkeel: error: " << error.what() << std::endl;
        return 2;
    }
}
