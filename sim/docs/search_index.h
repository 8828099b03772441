// SPDX-License-Identifier: Apache-2.0
// The index that the browser searches: an inverted index over the sections of all pages, as a
// script, for a page that was opened from a file can load one but cannot fetch data.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/docs/rooms.h"

namespace lockstep::docs {

/// The words of a text in small letters: runs of ASCII letters, digits and underscores, and the
/// parts between underscores. site/search.js cuts queries by the same rule.
std::vector<std::string> words_of(std::string_view text);

/// `lockstepIndex = {...}`: pages [url, title, room]; sections [page, anchor, title, text]; terms,
/// sorted; postings, one list a term: section, weight, section, weight, ...
std::string search_index(std::span<const Room> rooms);

}  // namespace lockstep::docs
