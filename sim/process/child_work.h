// SPDX-License-Identifier: Apache-2.0
// What a child process does, whoever takes its text.
#pragma once

#include <signal.h>
#include <sys/prctl.h>

#include <functional>
#include <string>

#include "sim/error/error.h"

namespace lockstep::process {

/// In a child: ends with its parent; `text` gets what `work` gives, or what was wrong. The exit
/// status.
inline int do_in_child(const std::function<std::string()>& work, std::string& text) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        text = work();
        return 0;
    } catch (const Error& error) {
        text = error.what();
        return static_cast<int>(error.status());
    } catch (const std::exception& error) {
        text = error.what();
        return static_cast<int>(ExitStatus::kInternalError);
    }
}

}  // namespace lockstep::process
