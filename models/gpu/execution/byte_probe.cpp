// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/execution/byte_probe.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/sass/cluster.h"
#include "isa/sass/effects.h"
#include "isa/sass/semantics/address.h"
#include "isa/sass/table/op.h"

namespace lockstep::gpu {

namespace {

/// Which memory an instruction writes; kNone: not simply bytes at each lane's address.
enum class Written : std::uint8_t { kNone, kGlobal, kGeneric, kShared, kLocal };

Written written_by(const sass::Word& word) {
    using sass::Op;
    switch (sass::op_of(word)) {
        case Op::kStg:
        case Op::kRed:
        case Op::kRedFloat:
        case Op::kAtomg:
        case Op::kAtomgCas:
        case Op::kAtomgFloat:
            return Written::kGlobal;
        case Op::kSt:
        case Op::kAtom:
        case Op::kAtomCas:
        case Op::kAtomFloat:
            return Written::kGeneric;
        case Op::kSts:
        case Op::kAtoms:
        case Op::kAtomsCas:
            return Written::kShared;
        case Op::kStl:
            return Written::kLocal;
        default:
            return Written::kNone;
    }
}

constexpr bool lies_in(std::uint64_t address, std::uint64_t window) {
    return address - window < sass::kWindowBytes;
}

}  // namespace

bool writes_memory(const sass::Instruction& in, const sass::Word& word) {
    return (in.effects & sass::kWritesMemory) != 0 || written_by(word) == Written::kLocal;
}

bool ByteProbe::add(std::byte* host, unsigned bytes) {
    if (bytes > kBytes) return false;
    Place& place = places_.emplace_back(Place{host, bytes, {}});
    std::memcpy(place.before, host, bytes);
    return true;
}

bool ByteProbe::add_global(const sass::Warp& warp, std::uint64_t address, unsigned bytes) {
    const sass::Extent extent = warp.cta->launch->memory->find(address);
    return extent.contains(address, bytes) && add(extent.at(address), bytes);
}

bool ByteProbe::add_shared(const sass::Warp& warp, std::uint64_t address, unsigned bytes) {
    const std::uint64_t offset =
        sass::own_shared_offset(*warp.cta, static_cast<std::uint32_t>(address));
    return offset + bytes <= warp.cta->launch->shared_bytes &&
           add(warp.cta->shared + offset, bytes);
}

bool ByteProbe::add_local(const sass::Warp& warp, unsigned lane, std::uint64_t offset,
                          unsigned bytes) {
    if (offset + bytes > warp.cta->launch->local_bytes) return false;
    constexpr unsigned kWord = 4;
    for (unsigned done = 0; done < bytes;) {
        const std::uint64_t at = offset + done;
        const unsigned part = std::min(bytes - done, kWord - static_cast<unsigned>(at % kWord));
        std::byte* const row = warp.local + at / kWord * sizeof(sass::Row);
        if (!add(row + lane * kWord + at % kWord, part)) return false;
        done += part;
    }
    return true;
}

bool ByteProbe::begin(const sass::Instruction& in, const sass::Word& word, sass::Warp& warp) {
    places_.clear();
    const Written written = written_by(word);
    if (written == Written::kNone) return false;
    sass::compute_addresses(in, warp);
    for (std::uint32_t lanes = warp.mask; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
        const std::uint64_t address = warp.access.address[lane];
        bool is_known = false;
        if (written == Written::kShared)
            is_known = add_shared(warp, address, in.width);
        else if (written == Written::kLocal)
            is_known = add_local(warp, lane, address, in.width);
        else if (written == Written::kGeneric && lies_in(address, sass::kSharedWindow))
            is_known = add_shared(warp, address - sass::kSharedWindow, in.width);
        else if (written == Written::kGeneric && lies_in(address, sass::kLocalWindow))
            is_known = add_local(warp, lane, address - sass::kLocalWindow, in.width);
        else
            is_known = add_global(warp, address, in.width);
        if (!is_known) return false;
    }
    return true;
}

bool ByteProbe::begin(const sass::Deferred& deferred) {
    places_.clear();
    if (deferred.perform_atomic == nullptr) return false;
    for (std::uint32_t lanes = deferred.lanes; lanes != 0; lanes &= lanes - 1) {
        const std::uint64_t host = deferred.host[std::countr_zero(lanes)];
        if (!add(reinterpret_cast<std::byte*>(host), deferred.instruction->width)) return false;
    }
    return true;
}

bool ByteProbe::has_changed() const {
    return std::any_of(places_.begin(), places_.end(), [](const Place& place) {
        return std::memcmp(place.host, place.before, place.bytes) != 0;
    });
}

void ByteProbe::undo() const {
    for (const Place& place : places_) std::memcpy(place.host, place.before, place.bytes);
}

}  // namespace lockstep::gpu
