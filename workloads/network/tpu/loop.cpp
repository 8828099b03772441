// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/loop.h"

#include <algorithm>

namespace lockstep::network::lowering {

using tpu::Broadcast;
using tpu::DataType;
using tpu::Field;
using tpu::Function;
using tpu::Opcode;
using tpu::Taken;

void Loop::apply(Function function, Function then) {
    operations_.push_back({.function = function, .then = then});
}

void Loop::apply(Function function, float immediate, Function then) {
    operations_.push_back({.function = function,
                           .then = then,
                           .broadcast = Broadcast::kImmediate,
                           .immediate = immediate});
}

void Loop::apply(Function function, const BufferRows& b, Broadcast broadcast, Function then,
                 bool flows_second) {
    operations_.push_back({.function = function,
                           .then = then,
                           .broadcast = broadcast,
                           .b = b,
                           .flows_second = flows_second});
}

bool Loop::Operation::holds_constant() const {
    return broadcast == Broadcast::kImmediate ||
           (broadcast == Broadcast::kColumn && b && b->pitch == 0);
}

bool Loop::fills_half(const BufferRows& out) const {
    const auto lies_dense = [&](const BufferRows& rows) {
        return rows.pitch == static_cast<std::uint64_t>(columns_) * tpu::size_of(rows.type);
    };
    bool is_half = first_.half_tiles || out.half_tiles,
         is_dense = lies_dense(first_) && lies_dense(out);
    for (const Operation& operation : operations_) {
        if (!operation.b || operation.holds_constant()) continue;
        is_half |= operation.b->half_tiles;
        is_dense &= operation.broadcast == Broadcast::kNone && lies_dense(*operation.b);
    }
    return is_half && is_dense && columns_ % kHalfLanes == 0;
}

void Loop::store(const BufferRows& to) {
    BufferRows out = to;
    if (operations_.empty()) apply(Function::kIdentity);
    if (fills_half(out)) {
        const auto narrow = [](BufferRows& rows) {
            rows.pitch = kHalfLanes * tpu::size_of(rows.type);
        };
        narrow(first_);
        narrow(out);
        for (Operation& operation : operations_)
            if (operation.b && !operation.holds_constant()) narrow(*operation.b);
        rows_ *= columns_ / kHalfLanes;
        columns_ = kHalfLanes;
    }
    emit(&out);
}

void Loop::reduce(tpu::Reduction reduction, const BufferRows& out, tpu::Axis axis) {
    if (operations_.empty())
        return lowering::reduce(c_, reduction, first_, out, rows_, columns_, axis);
    emit(nullptr);
    c_.builder.emit(Opcode::kReduce, {{Field::kReduction, reduction},
                                      {Field::kAxis, axis},
                                      {Field::kTakes, Taken::kA},
                                      {Field::kAType, DataType::kFp32},
                                      {Field::kAScale, 1.0f},
                                      {Field::kDestination, out.address},
                                      {Field::kPitch, out.pitch},
                                      {Field::kType, out.type},
                                      {Field::kOutScale, 1.0f},
                                      {Field::kRows, rows_},
                                      {Field::kColumns, columns_}});
}

void Loop::emit(const BufferRows* out) {
    c_.staging.check_held(first_);
    for (const Operation& operation : operations_)
        if (operation.b) c_.staging.check_held(*operation.b);
    // What flows and what joins it, of each element that a round works on; and constants, which
    // stay.
    const std::uint32_t flows = 2 * c_.target.loop_registers;
    std::uint32_t constants = 0;
    std::optional<BufferRows> from = first_;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        constants += operations_[i].holds_constant() ? 1 : 0;
        std::optional<BufferRows> to;
        if (i + 1 == operations_.size()) {
            if (out != nullptr) to = *out;
        } else if (c_.target.generation == 1 ||
                   flows + constants + (operations_[i + 1].holds_constant() ? 1 : 0) >
                       c_.target.vector_registers) {
            to = c_.staging.temporary(rows_, columns_, DataType::kFp32);
            constants = 0;
        }
        emit(operations_[i], from ? &*from : nullptr, to ? &*to : nullptr);
        from = to;
    }
}

void Loop::emit(const Operation& operation, const BufferRows* from, const BufferRows* to) {
    tpu::Instruction i(Opcode::kVector, {{Field::kFunction, operation.function},
                                         {Field::kThen, operation.then},
                                         {Field::kBroadcast, operation.broadcast},
                                         {Field::kImmediate, operation.immediate},
                                         {Field::kAType, DataType::kFp32},
                                         {Field::kAScale, 1.0f},
                                         {Field::kBScale, 1.0f},
                                         {Field::kType, DataType::kFp32},
                                         {Field::kOutScale, 1.0f},
                                         {Field::kRows, rows_},
                                         {Field::kColumns, columns_}});
    const auto set = [&](const BufferRows& rows, Field address, Field pitch, Field type) {
        i.set(address, rows.address);
        i.set(pitch, rows.pitch);
        i.set(type, rows.type);
    };
    const bool swaps = operation.flows_second;
    if (operation.b)
        set(*operation.b, swaps ? Field::kA : Field::kB, swaps ? Field::kAPitch : Field::kBPitch,
            swaps ? Field::kAType : Field::kBType);
    if (from == nullptr)
        i.set(Field::kTakes, swaps ? Taken::kB : Taken::kA);
    else
        set(*from, swaps ? Field::kB : Field::kA, swaps ? Field::kBPitch : Field::kAPitch,
            swaps ? Field::kBType : Field::kAType);
    if (to == nullptr)
        i.set(Field::kKeeps, true);
    else
        set(*to, Field::kDestination, Field::kPitch, Field::kType);
    c_.builder.emit(std::move(i));
}

}  // namespace lockstep::network::lowering
