// SPDX-License-Identifier: Apache-2.0
// What the files of the asynchronous copy family share.
#pragma once

#include "isa/sass/binder.h"

namespace lockstep::sass {

bool bind_ldsm(Binder& binder);
bool bind_stsm(Binder& binder);
bool bind_syncs_transaction(Binder& binder);  ///< arrive, phase check
bool bind_syncs_access(Binder& binder);       ///< load, cache control
bool bind_syncs_uniform(Binder& binder);      ///< exchange, load
bool bind_arrives(Binder& binder);
// tensor_copy.cpp and bulk_copy.cpp: what TMA does.
bool bind_utmaldg(Binder& binder);
bool bind_utmastg(Binder& binder);
bool bind_utmaredg(Binder& binder);
bool bind_utmapf(Binder& binder);
bool bind_utmacctl(Binder& binder);
bool bind_utmacmdflush(Binder& binder);
bool bind_ublkcp(Binder& binder);
bool bind_ublkred(Binder& binder);
bool bind_ublkpf(Binder& binder);
bool bind_depbar(Binder& binder);

/// Global memory that a UBLKCP reads or writes; no bytes: none.
struct GlobalRange {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
};
GlobalRange bulk_copy_range(const Instruction& in, const Warp& warp);

}  // namespace lockstep::sass
