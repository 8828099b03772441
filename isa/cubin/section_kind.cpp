// SPDX-License-Identifier: Apache-2.0
// ptxas names sections .<what>[.<function>]; a function's own name may hold dots.
// Source: cubins of ptxas 11.8 and 13.0.
#include "isa/cubin/section_kind.h"

#include <charconv>

namespace lockstep::cubin {

namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

SectionName classify(std::string_view name) {
    const auto owner = [&](size_t prefix) {
        return name.size() > prefix && name[prefix] == '.' ? name.substr(prefix + 1)
                                                           : std::string_view();
    };
    const auto is = [&](std::string_view prefix) {
        return starts_with(name, prefix) &&
               (name.size() == prefix.size() || name[prefix.size()] == '.');
    };
    if (is(".text")) return {SectionKind::kText, 0, owner(5)};
    if (is(".nv.info")) return {SectionKind::kInfo, 0, owner(8)};
    if (is(".nv.shared")) return {SectionKind::kShared, 0, owner(10)};
    if (is(".nv.local")) return {SectionKind::kLocal, 0, owner(9)};
    if (name == ".nv.global") return {SectionKind::kGlobal, 0, {}};
    if (is(".nv.global.init")) return {SectionKind::kGlobalInit, 0, {}};
    if (is(".nv.global")) return {SectionKind::kGlobal, 0, {}};
    if (starts_with(name, ".nv.constant")) {
        uint32_t bank = 0;
        const char* begin = name.data() + 12;
        const auto [end, error] = std::from_chars(begin, name.data() + name.size(), bank);
        const size_t length = 12 + static_cast<size_t>(end - begin);
        if (error == std::errc() && (length == name.size() || name[length] == '.'))
            return {SectionKind::kConstant, bank, owner(length)};
    }
    if (starts_with(name, ".debug") || starts_with(name, ".nv_debug") || starts_with(name, ".line"))
        return {SectionKind::kDebug, 0, {}};
    return {};
}

}  // namespace lockstep::cubin
