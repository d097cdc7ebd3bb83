// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EVENKEEL_ABORTS_H
#define EVENKEEL_ABORTS_H

#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace ns3
{

class FabricHelper;

namespace tests
{

/// A call that must abort.
struct Refused
{
    std::string what;                        //!< name of the call, part of the message
    std::string reason;                      //!< another part of the message
    std::function<void(FabricHelper&)> call; //!< the call
};

/// Counts the occurrences of a part in a text.
inline std::size_t
CountOf(const std::string& part, const std::string& text)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    {
        ++count;
    }
    return count;
}

/**
 * @ingroup evenkeel-tests
 * @brief Calls a function in a copy of this process.
 * @param call the function
 * @return its standard error if it aborted, otherwise "it returned"
 */
inline std::string
AbortMessageOf(const std::function<void()>& call)
{
    int ends[2];
    if (pipe(ends) != 0)
    {
        return "no pipe";
    }
    const pid_t child = fork();
    if (child == 0)
    {
        std::signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        call();
        _exit(0);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof(buffer))) > 0;)
    {
        text.append(buffer, static_cast<std::size_t>(count));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? text : "it returned: " + text;
}

} // namespace tests
} // namespace ns3

#endif /* EVENKEEL_ABORTS_H */
