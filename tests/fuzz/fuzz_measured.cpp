// SPDX-License-Identifier: Apache-2.0
// Any bytes at all are read as each kind of file that a measurement leaves: JSON, Nsight Compute's
// CSV, a table of results. Only InputError may come out, and what was read must survive being
// written.
#include <cstdlib>

#include "sim/error/error.h"
#include "validation/measure/ncu_csv.h"
#include "validation/measure/record.h"
#include "validation/measure/tables.h"

using namespace lockstep;
using namespace lockstep::validation;

namespace {

template <typename Read>
void allow_input_errors(const Read& read) {
    try {
        read();
    } catch (const InputError&) {
    }
}

/// Reads twice: what to_text() writes is read, and is the same.
template <typename Read>
void check_text(const Read& read, const std::string& text) {
    const std::string again = to_text(read(text, "x"));
    try {
        if (to_text(read(again, "y")) == again) return;
    } catch (const InputError&) {
    }
    std::abort();
}

void read_json(const std::string& text) {
    const std::string kind = kind_of(text, "x");
    if (kind == "counters")
        check_text(read_counters, text);
    else if (kind == "tables")
        check_text(read_table_index, text);
    else
        check_text(read_measurements, text);
}

void read_csv(const std::string& text) {
    CounterFile manifest;
    manifest.metrics = available_metrics(text, "x");
    manifest.pairs.push_back({"w", {{"k", {1, 1, 1}, {32, 1, 1}, {}}}});
    add_counters(manifest, text, "x");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (text.starts_with("{")) {
        allow_input_errors([&] { read_json(text); });
    } else if (text.starts_with("\x28\xb5\x2f\xfd")) {  // zstd
        allow_input_errors([&] { expand_table(table_ranges()[0], text, "x"); });
    } else {
        allow_input_errors([&] { read_csv(text); });
    }
    return 0;
}
