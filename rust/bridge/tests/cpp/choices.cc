// SPDX-License-Identifier: GPL-2.0-only
//
// Prints the version, the ports of 64 entropy values, those of a second chooser and of one of
// another switch, and the shortest of some queues. Then prints the exceptions for rejected
// policies.

#include "evenkeel.h"

#include <iostream>
#include <stdexcept>

static const std::uint32_t PORTS[] = {0, 1, 2, 3, 4, 5, 6, 7};

static void
print(evenkeel::SwitchChooser chooser)
{
    evenkeel::Candidates candidates;
    candidates.ports = PORTS;
    candidates.count = 8;
    for (int entropy = 0; entropy < 64; entropy++)
    {
        evenkeel::Arrival arrival(0, 7, 1500);
        arrival.entropy = entropy;
        std::cout << chooser.choose(arrival, candidates) << (entropy < 63 ? " " : "\n");
    }
}

static void
refuse(const char* policy, const char* parameters)
{
    try
    {
        evenkeel::SwitchChooser(policy, parameters, evenkeel::Switch());
    }
    catch (const std::invalid_argument& error)
    {
        std::cout << error.what() << "\n";
    }
}

int
main()
{
    std::cout << evenkeel::version() << "\n";
    evenkeel::Switch facts;
    print(evenkeel::SwitchChooser("ecmp", "", facts));
    print(evenkeel::SwitchChooser("ecmp", "", facts));
    facts.id = 1;
    print(evenkeel::SwitchChooser("ecmp", "", facts));

    evenkeel::SwitchChooser shortest("jsq", "", facts);
    const std::uint64_t bytes[] = {3000, 2000, 1000, 2000};
    evenkeel::Candidates candidates;
    candidates.ports = PORTS;
    candidates.count = 4;
    candidates.queueBytes = shortest.looksAtQueues() ? bytes : nullptr;
    for (int i = 0; i < 4; i++)
    {
        std::cout << shortest.choose(evenkeel::Arrival(0, i, 1500), candidates)
                  << (i < 3 ? " " : "\n");
    }

    refuse("conga", "");
    refuse("flowlet", "gapp = \"50us\"");
    refuse("reps", "");
}
