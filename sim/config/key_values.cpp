// SPDX-License-Identifier: Apache-2.0
#include "sim/config/key_values.h"

#include <algorithm>

namespace lockstep::config {

std::vector<KeyValue> key_values(std::string_view list) {
    std::vector<KeyValue> items;
    if (list.empty()) return items;
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size());
        KeyValue item{.text = list.substr(at, end - at), .key = {}, .value = {}, .at = at};
        if (const std::size_t equals = item.text.find('='); equals != std::string_view::npos) {
            item.key = item.text.substr(0, equals);
            item.value = item.text.substr(equals + 1);
        }
        items.push_back(item);
        at = end + 1;
    }
    return items;
}

}  // namespace lockstep::config
