// SPDX-License-Identifier: Apache-2.0
// Nodes are lowered one after the other, each together with what can be computed on its way out of
// the accumulators. On generation 1 values stay in the unified buffer (24 MiB) as long as they fit,
// weights stream from their memory; later generations keep values in memory (HBM) and stream rows
// and weights through the unified buffer, as compilers for them do between fusions.
#include "workloads/network/tpu/lowering.h"

#include "sim/error/error.h"
#include "workloads/network/quantisation.h"

#include <algorithm>

namespace lockstep::network::lowering {

namespace {

constexpr uint64_t kRingOfV1 = 3 << 20;

uint64_t ring_bytes(const TpuTarget& target) {
    // Later generations keep values between kernels in a part of VMEM where they fit, as XLA's
    // assignment of memory spaces does; how large a part is assumed.
    if (target.generation >= 2) return target.limits.unified_buffer / 8 * 5;
    return std::min(kRingOfV1, target.limits.unified_buffer / 4);
}

}  // namespace

Scaling scaling_of(const Value& value) {
    if (!value.quantisation) return {};
    return {value.quantisation->scale.at(0), value.quantisation->zero_point.at(0)};
}

bool slides_over(const Node* node) {
    const OperatorInfo& info = info_of(node->op);
    return info.role == LayerRole::kPooling || info.product == ProductForm::kConvolution;
}

std::optional<float> scalar_of(const Value& value) {
    if (value.kind != ValueKind::kConstant && value.kind != ValueKind::kParameter)
        return std::nullopt;
    if (element_count(*value.shape) != 1) return std::nullopt;
    if (!value.is_known()) return 1.0f;
    return static_cast<float>(to_doubles(*value.data)[0]);
}

Lowering::Lowering(const Graph& graph, const TpuTarget& target, const Refused& refused)
    : graph_(graph),
      target_(target),
      groups_(target.generation >= 2 ? std::vector<NodeGroup>{{false, topological_order(graph)}}
                                     : partition(graph, refused)),
      builder_(target.generation),
      heap_end_(target.limits.unified_buffer - ring_bytes(target)),
      heap_(0, heap_end_),
      ring_(heap_end_, ring_bytes(target)),
      places_(graph.values.size()),
      readers_(graph.values.size()),
      host_has_(graph.values.size()),
      refused_before_(refused) {
    for (const NodeGroup& group : groups_)
        for (const size_t n : group.nodes)
            if (group.on_host) host_nodes_.insert(&graph.nodes[n]);
    for (const Node& node : graph.nodes)
        for (const ValueId input : node.inputs)
            if (input != kNoValue) readers_[input].push_back(&node);
}

tpu::DataType Lowering::type_of(ValueId id) const {
    switch (value(id).type) {
        case ElementType::kInt8:
            return tpu::DataType::kInt8;
        case ElementType::kBool:
        case ElementType::kUint8:
            return tpu::DataType::kUint8;
        case ElementType::kInt16:
            return tpu::DataType::kInt16;
        case ElementType::kInt32:
        case ElementType::kInt64:
            return tpu::DataType::kInt32;
        case ElementType::kBf16:
            return tpu::DataType::kBf16;
        case ElementType::kFp32:
            return tpu::DataType::kFp32;
        default:
            throw InputError(fmt::format("{} is of type {}, which a TPU does not have",
                                         value(id).name, name_of(value(id).type)));
    }
}

uint32_t Lowering::add_buffer(std::string name, tpu::Space space, tpu::Role role,
                              tpu::DataType type, uint64_t bytes) {
    return builder_.add_buffer({.name = std::move(name),
                                .space = space,
                                .role = role,
                                .type = type,
                                .shape = {},
                                .bytes = bytes});
}

uint64_t Lowering::add_constant(const std::string& name, tpu::Space space, tpu::DataType type,
                                uint64_t size, std::span<const uint8_t> bytes) {
    const uint32_t buffer = add_buffer(name, space, tpu::Role::kConstant, type, size);
    if (!bytes.empty()) builder_.add_data(buffer, 0, bytes);
    return builder_.address(buffer);
}

const Place& Lowering::place(ValueId id) {
    std::optional<Place>& found = places_.at(id);
    if (found) return *found;
    const Value& v = value(id);
    LOCKSTEP_CHECK(v.kind == ValueKind::kConstant || v.kind == ValueKind::kParameter,
                   "{} is not computed yet", v.name);
    Place made;
    made.space = backing();
    made.type = type_of(id);
    made.shape = *v.shape;
    made.strides = dense_strides(made.shape);
    const uint64_t bytes = made.bytes_of(element_count(made.shape));
    std::vector<uint8_t> contents;
    if (v.is_known()) {
        if (v.type == ElementType::kInt64)
            for (const int64_t x : to_integers(*v.data))
                if (x != static_cast<int32_t>(x))
                    throw InputError(
                        fmt::format("{} holds {}; integers of a TPU have 32 bits", v.name, x));
        contents.resize(bytes);
        const TpuPort port{id, 0, 0, made.type, made.shape, made.strides, {}};
        write_port(port, *v.data, contents);
    }
    made.address = add_constant(v.name, made.space, made.type, bytes, contents);
    found = std::move(made);
    return *found;
}

void Lowering::set_place(ValueId id, Place made) {
    LOCKSTEP_CHECK(!places_.at(id), "{} is computed twice", value(id).name);
    places_[id] = std::move(made);
}

Place Lowering::new_place(ValueId id, std::vector<int64_t> strides) {
    Place made;
    made.type = type_of(id);
    made.shape = shape(id);
    made.strides = std::move(strides);
    const uint64_t bytes = made.bytes_of(element_count(made.shape));
    const bool is_output =
        std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
    if (!has_memory() || !is_output) made.owner = heap_.allocate(bytes, made.address);
    if (made.owner) {
        made.space = tpu::Space::kUnifiedBuffer;
        return made;
    }
    made.space = backing();
    made.address = builder_.address(add_buffer(value(id).name, made.space,
                                               is_output ? tpu::Role::kOutput : tpu::Role::kScratch,
                                               made.type, bytes));
    return made;
}

Place Lowering::place_over(ValueId id, ValueId operand, std::vector<int64_t> strides) {
    const std::optional<Place>& old = places_[operand];
    // One owner here: no view of it is left.
    const bool reuse = old && old->owner.use_count() == 1 && uses_[operand] == 1 &&
                       old->type == type_of(id) && old->shape == shape(id) &&
                       old->strides == strides;
    if (!reuse) return new_place(id, std::move(strides));
    Place made = *old;
    made.image.clear();
    return made;
}

Tile Lowering::temporary(int64_t rows, int64_t columns, tpu::DataType type) {
    const uint64_t pitch = static_cast<uint64_t>(columns) * tpu::size_of(type);
    return in_ring(static_cast<uint64_t>(rows) * pitch, pitch, type);
}

Tile Lowering::in_ring(uint64_t bytes, uint64_t pitch, tpu::DataType type) {
    const uint64_t address = ring_.allocate(bytes);
    return {address, pitch, type, ring_.serial()};
}

void Lowering::check_held(const Tile& tile) const {
    if (!ring_.holds(tile.serial))
        throw InputError("the unified buffer is too small for the operands and results of a step");
}

void Lowering::begin_step(const std::string& name, int64_t macs, bool prefetch) {
    const bool waits = has_memory() && builder_.size() != 0;
    if (waits && !prefetch) wait_for_all();
    prefetches_ = waits && prefetch;
    const uint32_t step = builder_.begin_step(name, static_cast<uint64_t>(macs));
    result_.layers.push_back({.name = name, .step = step});
}

void Lowering::end_prefetch() {
    if (prefetches_) wait_for_all();
    prefetches_ = false;
}

void Lowering::wait_for_all() {
    tpu::Instruction sync(Opcode::kSync);
    for (size_t queue = 0; queue < tpu::kQueues; ++queue) sync.set(static_cast<Field>(queue), 1);
    builder_.emit(sync);
}

void Lowering::begin_kernel() {
    wait_for_all();
    emit(Opcode::kTag, {{Field::kStep, layer().step}});
}

const Node* Lowering::only_reader(ValueId id) const {
    if (readers_[id].size() != 1 || is_output(id) || !chip_reads(id)) return nullptr;
    return readers_[id][0];
}

void Lowering::place_inputs() {
    for (const ValueId id : graph_.inputs) {
        const Shape& s = shape(id);
        // An image that a window slides over lies as NHWC.
        const bool image =
            s.size() == 4 && std::any_of(readers_[id].begin(), readers_[id].end(), slides_over);
        Place from;
        from.space = backing();
        const bool transfers = !has_memory() && chip_reads(id);
        from.type = transfers ? type_of(id) : host_type_of(id);
        from.shape = s;
        from.strides = image ? image_strides(s) : dense_strides(s);
        const uint64_t bytes = from.bytes_of(element_count(s));
        const uint32_t buffer =
            add_buffer(value(id).name, from.space, tpu::Role::kInput, from.type, bytes);
        from.address = builder_.address(buffer);
        result_.inputs.push_back({id, buffer, 0, from.type, from.shape, from.strides, {}});
        Place to = from;
        if (transfers) to.owner = heap_.allocate(bytes, to.address);
        if (to.owner) {
            to.space = tpu::Space::kUnifiedBuffer;
            begin_step("read " + value(id).name);
            copy(from, to);
        }
        set_place(id, std::move(to));
    }
}

void Lowering::take_outputs() {
    for (const ValueId id : graph_.outputs) {
        if (const auto found = host_outputs_.find(id); found != host_outputs_.end()) {
            result_.outputs.push_back(found->second);
            continue;
        }
        Place at = place(id);
        if (at.space == tpu::Space::kUnifiedBuffer) {
            Place to = at;
            to.owner = nullptr;
            if (!is_dense(at)) to.strides = dense_strides(to.shape);
            to.space = backing();
            to.address =
                builder_.address(add_buffer(value(id).name, to.space, tpu::Role::kOutput, to.type,
                                            to.bytes_of(element_count(to.shape))));
            begin_step("write " + value(id).name);
            copy(at, to);
            at = to;
        }
        result_.outputs.push_back(port_of(id, at));
    }
}

void Lowering::lower(const Node& node) {
    using enum Operator;
    switch (node.op) {
        case kConv:
        case kGemm:
        case kMatMul:
            return lower_product(node);
        case kAdd:
        case kSub:
        case kMul:
        case kDiv:
        case kEqual:
        case kLess:
        case kPow:
        case kMax:
        case kMin:
            return lower_binary(node);
        case kClip:
            return lower_clip(node);
        case kMaxPool:
        case kAveragePool:
        case kGlobalAveragePool:
            return lower_pool(node);
        case kSoftmax:
            return lower_softmax(node);
        case kLayerNormalization:
            return lower_layer_normalisation(node);
        case kReduceMean:
        case kReduceSum:
        case kReduceMax:
            return lower_reduce(node);
        case kGather:
            return lower_gather(node);
        case kConcat:
            return lower_concat(node);
        case kWhere:
            return lower_where(node);
        case kPad:
            return lower_pad(node);
        case kExpand:
            return lower_expand(node);
        case kFlatten:
        case kReshape:
        case kSqueeze:
        case kUnsqueeze:
        case kIdentity:
        case kTranspose:
        case kSlice:
        case kSplit:
            return lower_movement(node);
        default:
            return lower_unary(node);
    }
}

void Lowering::place_nowhere(ValueId id) {
    if (places_[id]) return;
    Place nowhere;
    nowhere.space = backing();
    nowhere.type = host_type_of(id);
    nowhere.shape = shape(id);
    nowhere.strides =
        nowhere.shape.size() == 4 ? image_strides(nowhere.shape) : dense_strides(nowhere.shape);
    places_[id] = nowhere;
}

TpuCompiled Lowering::run() {
    place_inputs();
    uses_.assign(graph_.values.size(), 0);
    for (ValueId id = 0; id < readers_.size(); ++id) uses_[id] = readers_[id].size();
    for (const ValueId id : graph_.outputs) ++uses_[id];
    std::string wrong;
    const auto release = [&](const Node& node) {
        for (const ValueId id : node.inputs)
            if (id != kNoValue && --uses_[id] == 0 && value(id).kind != ValueKind::kConstant &&
                value(id).kind != ValueKind::kParameter)
                places_[id].reset();
    };
    for (const NodeGroup& group : groups_) {
        if (group.on_host) {
            lower_on_host(group.nodes);
            for (const size_t index : group.nodes) release(graph_.nodes[index]);
            continue;
        }
        for (const size_t index : group.nodes) {
            const Node& node = graph_.nodes[index];
            try {
                if (!is_done(node)) lower(node);
            } catch (const InputError& error) {
                if (has_memory())
                    wrong +=
                        fmt::format("\n  {} ({}): {}", node.name, name_of(node.op), error.what());
                else
                    refused_.emplace(index, error.what());
                close_ring();
            }
            for (const ValueId id : node.outputs)
                if (id != kNoValue && (!wrong.empty() || !refused_.empty())) place_nowhere(id);
            release(node);
        }
    }
    if (!refused_.empty()) return {};
    if (!wrong.empty())
        throw InputError(fmt::format("{} cannot be compiled for a TPU of generation {}:{}",
                                     graph_.name, target_.generation, wrong));
    take_outputs();
    result_.dataflow = target_.limits.dataflow;
    result_.fixed_point = target_.fixed_point;
    result_.resident_bytes = heap_.most_used();
    places_.clear();
    result_.program = builder_.finish();
    return std::move(result_);
}

}  // namespace lockstep::network::lowering

namespace lockstep::network {

TpuCompiled compile_for_tpu(const Graph& graph, const TpuTarget& target) {
    Refused refused;
    for (;;) {
        lowering::Lowering lowering(graph, target, refused);
        TpuCompiled compiled = lowering.run();
        if (lowering.refused().empty()) return compiled;
        refused.insert(lowering.refused().begin(), lowering.refused().end());
    }
}

}  // namespace lockstep::network
