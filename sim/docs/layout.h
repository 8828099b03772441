// SPDX-License-Identifier: Apache-2.0
// A page of the site around its text: search, rooms, way back, table of contents, next page.
#pragma once

#include <span>
#include <string>

#include "sim/docs/links.h"
#include "sim/docs/rooms.h"

namespace lockstep::docs {

/// What all pages share.
struct Surroundings {
    std::span<const Room> rooms;
    const PagesByPath& pages;
    std::string version;
};

std::string layout(const Page& page, const Surroundings& site);

}  // namespace lockstep::docs
