// SPDX-License-Identifier: Apache-2.0
// `lockstep demo`: the main job.
#include "sim/cli/verbs.h"
#include "sim/error/error.h"

namespace lockstep::cli {

void add_demo(CLI::App& app, int&) {
    CLI::App* verb = app.add_subcommand("demo", "Train two small networks on drawn digits");
    verb->callback([] { throw InputError("the demo is not there yet"); });
}

}  // namespace lockstep::cli
