// SPDX-License-Identifier: GPL-2.0-only
//
// A program of the fork that includes switch-node.h and is compiled without the folder of
// evenkeel.h. Prints the ports of eight packets of one flow, and of eight more
// after port 5 failed.

#include "switch-node.h"

#include <iostream>

int
main()
{
    SwitchNode node;
    Packet packet;
    std::cout << "ports:";
    for (int i = 0; i < 16; i++)
    {
        node.m_failed = i < 8 ? -1 : 5;
        CustomHeader header = {1, 9, 0x11, {10000, 100}};
        std::cout << " " << node.GetOutDev(Ptr<const Packet>{&packet}, header);
    }
    std::cout << "\n";
}
