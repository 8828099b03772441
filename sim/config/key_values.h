// SPDX-License-Identifier: Apache-2.0
// Lists of settings as a user types them: `m=512,n=512,dtype=int8`.
#pragma once

#include <string_view>
#include <vector>

namespace lockstep::config {

struct KeyValue {
    std::string_view text;  ///< the whole item
    std::string_view key;   ///< empty where the item is not key=value
    std::string_view value;
    std::size_t at = 0;  ///< characters of the list before the item
};

/// The items between the commas, in order: none of an empty list, an empty one after a last comma.
/// They refer to the list's characters.
std::vector<KeyValue> key_values(std::string_view list);

}  // namespace lockstep::config
