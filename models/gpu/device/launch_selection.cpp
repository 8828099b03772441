// SPDX-License-Identifier: Apache-2.0
// Perl's syntax, as profilers take it; a match may lie anywhere in the name. Boost's expressions
// are used because their errors say where they are.
#include "models/gpu/device/launch_selection.h"

#include <boost/regex.hpp>

#include "isa/cubin/demangle.h"

namespace lockstep::gpu {

struct LaunchSelection::Pattern {
    boost::regex regex;
};

LaunchSelection::LaunchSelection(const LaunchFilter& filter) : filter_(filter) {
    if (filter.kernel.empty()) return;
    try {
        pattern_ = std::make_unique<Pattern>(Pattern{boost::regex(filter.kernel)});
    } catch (const boost::regex_error& error) {
        std::string what = error.what();
        what = what.substr(0, what.find("  The error occurred"));
        throw InputError(fmt::format("--kernel {}: no regular expression: at character {}: {}",
                                     filter.kernel, error.position() + 1, what));
    }
}

LaunchSelection::~LaunchSelection() = default;

bool LaunchSelection::matches(const std::string& kernel) const {
    return pattern_ == nullptr || boost::regex_search(cubin::demangled(kernel), pattern_->regex);
}

bool LaunchSelection::takes(const std::string& kernel) {
    if (!matches(kernel)) return false;
    const std::uint64_t index = matched_++;
    return index >= filter_.skip && index - filter_.skip < filter_.count;
}

}  // namespace lockstep::gpu

void lockstep::check_filter(const LaunchFilter& filter) {
    gpu::LaunchSelection{filter};
}
