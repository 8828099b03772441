// SPDX-License-Identifier: Apache-2.0
// A request and what is answered, and what any server on loopback has to refuse.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::http {

struct Request {
    std::string method, target;                    ///< GET, HEAD or POST; "/api/labs"
    std::string host, origin, site, content_type;  ///< headers Host, Origin, Sec-Fetch-Site
    std::string body;

    bool is_get() const { return method == "GET" || method == "HEAD"; }
};

struct Response {
    int status = 200;
    std::string type = "application/json";
    std::string body;
};

/// False where a page of another site, whose name leads to this computer, has that name in Host.
bool is_own_host(const Request& request, unsigned short port);

/// False where another site's page asks.
bool is_own_page(const Request& request);

/// The content type by a file's ending.
const char* type_of(std::string_view path);

}  // namespace lockstep::http
