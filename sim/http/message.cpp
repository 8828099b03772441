// SPDX-License-Identifier: Apache-2.0
#include "sim/http/message.h"

#include <fmt/format.h>

#include <utility>

namespace lockstep::http {

bool is_own_host(const Request& request, unsigned short port) {
    for (const char* name : {"127.0.0.1", "localhost"})
        if (request.host == fmt::format("{}:{}", name, port) ||
            (port == 80 && request.host == name))
            return true;
    return false;
}

bool is_own_page(const Request& request) {
    if (!request.origin.empty() && request.origin != "http://" + request.host) return false;
    return request.site.empty() || request.site == "same-origin" || request.site == "none";
}

const char* type_of(std::string_view path) {
    const std::pair<const char*, const char*> types[] = {{".html", "text/html; charset=utf-8"},
                                                         {".js", "text/javascript; charset=utf-8"},
                                                         {".css", "text/css; charset=utf-8"},
                                                         {".svg", "image/svg+xml"}};
    for (const auto& [ending, type] : types)
        if (path.ends_with(ending)) return type;
    return "application/octet-stream";
}

}  // namespace lockstep::http
