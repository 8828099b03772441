// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/server.h"

#include "sim/http/server.h"

namespace lockstep::lab {

void serve(const Library& library, Service& service, unsigned short port,
           const std::function<void(unsigned short)>& begun) {
    const Api api(library, service);
    http::serve(
        [&](const Request& request, unsigned short own) { return api.answer(request, own); }, port,
        begun, [&] { service.stop(); });
}

}  // namespace lockstep::lab
