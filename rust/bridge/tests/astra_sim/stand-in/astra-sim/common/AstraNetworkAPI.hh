// SPDX-License-Identifier: MIT
//
// A stand-in for ASTRA-sim's header of this name, so that tests do not need ASTRA-sim. It declares
// only the names and signatures that a network implements, as of commit 518bd51.

#ifndef EVENKEEL_STAND_IN_ASTRA_NETWORK_API_HH
#define EVENKEEL_STAND_IN_ASTRA_NETWORK_API_HH

#include <cstdint>

namespace AstraSim
{

enum time_type_e
{
    SE = 0,
    MS,
    US,
    NS,
    FS
};

struct timespec_t
{
    time_type_e time_res;
    long double time_val;
};

struct sim_request;

class AstraNetworkAPI
{
  public:
    explicit AstraNetworkAPI(int of_rank)
        : rank(of_rank)
    {
    }

    virtual ~AstraNetworkAPI() = default;

    virtual int sim_send(void* buffer,
                         uint64_t count,
                         int type,
                         int dst,
                         int tag,
                         sim_request* request,
                         void (*msg_handler)(void* fun_arg),
                         void* fun_arg) = 0;
    virtual int sim_recv(void* buffer,
                         uint64_t count,
                         int type,
                         int src,
                         int tag,
                         sim_request* request,
                         void (*msg_handler)(void* fun_arg),
                         void* fun_arg) = 0;
    virtual void sim_schedule(timespec_t delta,
                              void (*fun_ptr)(void* fun_arg),
                              void* fun_arg) = 0;
    virtual timespec_t sim_get_time() = 0;

    virtual double get_BW_at_dimension(int)
    {
        return -1;
    }

    virtual void sim_notify_finished()
    {
    }

    int rank;
};

} // namespace AstraSim

#endif
