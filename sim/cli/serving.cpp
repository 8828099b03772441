// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/serving.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace lockstep::cli {

namespace {

/// With whatever the desktop opens pages with.
void open_page(const std::string& address) {
    const std::string command = fmt::format("xdg-open {} >/dev/null 2>&1 &", address);
    if (std::system(command.c_str()) != 0)
        fmt::print(stderr, "lockstep: --open: no program that opens pages\n");
}

}  // namespace

std::function<void(unsigned short)> announce(std::string what, bool opens) {
    return [what = std::move(what), opens](unsigned short port) {
        const std::string address = fmt::format("http://127.0.0.1:{}/", port);
        fmt::print("{}: {} (Ctrl-C ends)\n", what, address);
        std::fflush(stdout);
        if (opens) open_page(address);
    };
}

}  // namespace lockstep::cli
