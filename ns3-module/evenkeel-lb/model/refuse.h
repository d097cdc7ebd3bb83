// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef REFUSE_H
#define REFUSE_H

#include "ns3/fatal-error.h"

/**
 * @ingroup evenkeel
 * @brief Aborts because of a call that cannot take effect. The module has no other way to abort.
 * @param call the call, such as "FabricHelper::Install"
 * @param cure what is wrong and how to fix it
 */
#define EVENKEEL_REFUSE(call, cure) NS_FATAL_ERROR("evenkeel: " << call << ": " << cure)

/**
 * @ingroup evenkeel
 * @brief Does the same if a condition is true.
 * @param condition the condition
 * @param call the call
 * @param cure what is wrong and how to fix it
 */
#define EVENKEEL_REFUSE_IF(condition, call, cure)                                                  \
    do                                                                                             \
    {                                                                                              \
        if (condition)                                                                             \
        {                                                                                          \
            EVENKEEL_REFUSE(call, cure);                                                           \
        }                                                                                          \
    } while (false)

#endif /* REFUSE_H */
