// SPDX-License-Identifier: Apache-2.0
// HTTP on 127.0.0.1 and nowhere else. Limits: 64 KiB a request, 8 KiB of headers, 64 connections,
// 60 s without a word.
#pragma once

#include <functional>

#include "sim/http/message.h"

namespace lockstep::http {

/// What a server answers; of any thread. `port`: its own.
using Answer = std::function<Response(const Request& request, unsigned short port)>;

/// Answers until SIGINT or SIGTERM, then calls `stop`, so that answers under way end. `port` 0: any
/// that is free. `begun` is told the port. Throws InputError where the port is taken.
void serve(const Answer& answer, unsigned short port,
           const std::function<void(unsigned short)>& begun, const std::function<void()>& stop);

}  // namespace lockstep::http
