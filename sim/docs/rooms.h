// SPDX-License-Identifier: Apache-2.0
// How the site's pages are grouped and ordered: by what a reader wants to know, not by folder.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/docs/page.h"

namespace lockstep::docs {

struct Room {
    std::string name;
    std::vector<const Page*> pages;
};

/// Every page in its room, rooms in their order. A page that no row of the table names stands in
/// the last one.
std::vector<Room> rooms_of(std::span<const Page> pages);

}  // namespace lockstep::docs
