// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/serve.h"

#include <fmt/format.h>

#include "sim/html/plot.h"

namespace lockstep::docs {

namespace {

http::Response refused(int status, const std::string& why) {
    return {
        status, "text/html; charset=utf-8",
        fmt::format("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title>"
                    "<h1>{0}</h1><p><a href=\"/\">The documentation</a>",
                    html::escape(why))};
}

}  // namespace

http::Response answer(const Site& site, const http::Request& request, unsigned short port) {
    constexpr int kForbidden = 403, kNotFound = 404, kMethodNotAllowed = 405;
    if (!http::is_own_host(request, port))
        return refused(kForbidden, fmt::format("This server answers to 127.0.0.1:{} only", port));
    if (!request.is_get()) return refused(kMethodNotAllowed, "Only GET and HEAD are answered");
    std::string path = request.target.substr(0, request.target.find('?'));
    path.erase(0, 1);
    if (path.empty() || path.ends_with('/')) path += "index.html";
    const auto file = site.files.find(path);
    if (file == site.files.end()) return refused(kNotFound, fmt::format("No page /{}", path));
    return {200, http::type_of(path), file->second};
}

}  // namespace lockstep::docs
