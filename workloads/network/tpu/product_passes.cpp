// SPDX-License-Identifier: Apache-2.0
// One pass: rows of a block and a tile of weights meet in the array, into or onto sums. And the way
// out of the accumulators, with the epilogue.
#include "workloads/network/tpu/product.h"

namespace lockstep::network::lowering {

void ProductLowering::pass(const Block& block, const Job& job, const Weights& weights,
                           std::optional<std::uint64_t> panel, std::int64_t k, std::int64_t lanes,
                           bool switch_inputs) {
    const auto size = tpu::size_of(weights.type);
    const ColumnTile& tile = *job.tile;
    const GroupSet& set = sets_[tile.set];
    const std::int64_t at = k - job.k_begin;
    const bool unload =
        c_.target.limits.dataflow == tpu::Dataflow::kOutputStationary && k + lanes == set.k;
    // A panel holds each tile's columns (or, transposed, rows) one after the other.
    std::uint64_t address = 0;
    std::int64_t pitch = 0;
    if (panel) {
        pitch = weights.transposed ? job.k_count : tile.columns;
        address = *panel + static_cast<std::uint64_t>(
                               job.element + (weights.transposed ? at : at * tile.columns)) *
                               size;
    } else {
        pitch = weights.pitch != 0 ? weights.pitch : set.columns;
        address =
            weights.address + static_cast<std::uint64_t>(
                                  set.weights + (weights.transposed ? tile.first * pitch + k
                                                                    : k * pitch + tile.first)) *
                                  size;
    }
    c_.builder.emit(Opcode::kReadWeights,
                    {{Field::kUnit, job.unit},
                     {Field::kFrom, panel || weights.space == tpu::Space::kUnifiedBuffer
                                        ? tpu::WeightSource::kUnifiedBuffer
                                        : tpu::WeightSource::kMemory},
                     {Field::kAddress, address},
                     {Field::kPitch, static_cast<std::uint64_t>(pitch) * size},
                     {Field::kLanes, lanes},
                     {Field::kColumns, tile.columns},
                     {Field::kTransposed, weights.transposed},
                     {Field::kWeightType, weights.type}});
    count_use(c_, job.rows, lanes, tile.columns);
    const tpu::DataType type = block.source.type;
    tpu::Instruction product(conv_ ? Opcode::kConvolve : Opcode::kMatrixMultiply,
                             {{Field::kUnit, job.unit},
                              {Field::kRows, job.rows},
                              {Field::kLanes, lanes},
                              {Field::kColumns, tile.columns},
                              {Field::kAccumulator, job.accumulator},
                              {Field::kAccumulate, k != 0},
                              {Field::kSwitchWeights, true},
                              {Field::kType, type},
                              {Field::kWeightType, weights.type}});
    if (conv_) {
        slide(block, job, k, product);
    } else {
        product.set(Field::kSource,
                    block.source.address +
                        static_cast<std::uint64_t>(job.first) * block.source.pitch +
                        static_cast<std::uint64_t>(k - job.source_begin) * tpu::size_of(type));
        product.set(Field::kPitch, block.source.pitch);
    }
    multiply(switch_inputs, unload, std::move(product));
}

void ProductLowering::slide(const Block& block, const Job& job, std::int64_t k,
                            tpu::Instruction& product) const {
    const GroupSet& set = sets_[job.tile->set];
    const SlidingWindow& w = conv_->window;
    const std::uint64_t bytes = tpu::size_of(block.source.type);
    const tpu::Instruction::Fields fields = {
        {Field::kSource,
         block.source.address + static_cast<std::uint64_t>(set.first_channel) * bytes},
        {Field::kPixelPitch, static_cast<std::uint64_t>(conv_->channels) * bytes},
        {Field::kFirstRow, block.first_row + job.first},
        {Field::kFirstLane, k},
        {Field::kHeight, block.height},
        {Field::kWidth, conv_->width},
        {Field::kChannels, set.channels},
        {Field::kOutHeight, block.out_height},
        {Field::kOutWidth, conv_->out_width()},
        {Field::kKernelHeight, w.kernel[0]},
        {Field::kKernelWidth, w.kernel[1]},
        {Field::kStrideHeight, w.stride[0]},
        {Field::kStrideWidth, w.stride[1]},
        {Field::kPadTop, block.pad_top},
        {Field::kPadLeft, w.pad_begin[1]},
        {Field::kDilationHeight, w.dilation[0]},
        {Field::kDilationWidth, w.dilation[1]},
        {Field::kPadValue, integer_ ? input_zero_ : 0}};
    for (const auto& [field, value] : fields) product.set(field, value);
}

void ProductLowering::multiply(bool switch_inputs, bool unload, tpu::Instruction instruction) {
    instruction.set(Field::kDataflow, c_.target.limits.dataflow);
    instruction.set(Field::kSwitchInputs, switch_inputs);
    instruction.set(Field::kUnload, unload);
    if (input_) {
        c_.builder.wait_for_writes(instruction, input_->space, input_->begin, input_->end);
        input_.reset();
    }
    if (begins_window_ != 0) {
        --begins_window_;
        c_.builder.wait_for_queue(instruction, static_cast<std::size_t>(tpu::Queue::kVector));
    }
    c_.builder.emit(std::move(instruction));
}

void count_use(Compilation& c, std::int64_t rows, std::int64_t lanes, std::int64_t columns) {
    // Which of the three fill the array's rows and columns.
    const tpu::CoreLimits& limits = c.target.limits;
    const tpu::Dataflow dataflow = limits.dataflow;
    TpuLayer& layer = c.steps.layer();
    ++layer.weight_tiles;
    layer.lane_use +=
        static_cast<double>(dataflow == tpu::Dataflow::kOutputStationary ? rows : lanes) /
        limits.array_rows;
    layer.column_use +=
        static_cast<double>(dataflow == tpu::Dataflow::kInputStationary ? rows : columns) /
        limits.array_columns;
}

void ProductLowering::finish(const Job& job, std::uint64_t parameters, const BufferRows& out,
                             const BufferRows* addend, const Block* pooled) {
    const ColumnTile& tile = *job.tile;
    const std::int64_t words = epilogue_.parameter_words();
    tpu::Instruction activate(
        Opcode::kActivate,
        {{Field::kAccumulator, job.accumulator},
         {Field::kAccumulatorType, integer_ ? tpu::DataType::kInt32 : tpu::DataType::kFp32},
         {Field::kRows, job.rows},
         {Field::kColumns, tile.columns},
         {Field::kDestination, out.address + static_cast<std::uint64_t>(job.first) * out.pitch +
                                   static_cast<std::uint64_t>(job.column) * tpu::size_of(out.type)},
         {Field::kPitch, out.pitch},
         {Field::kType, out.type},
         {Field::kFunction, epilogue_.function},
         {Field::kParameters, parameters + static_cast<std::uint64_t>(job.column * words * 4)},
         {Field::kHasBias, epilogue_.has_bias},
         {Field::kHasScales, !epilogue_.scales.empty()},
         {Field::kScale, epilogue_.scale},
         {Field::kOutScale, 1.0f},
         {Field::kZeroPoint, integer_ ? epilogue_.out.zero : 0},
         {Field::kTransposed, c_.target.limits.dataflow == tpu::Dataflow::kInputStationary}});
    if (addend != nullptr) {
        activate.set(Field::kHasAddend, true);
        activate.set(Field::kAddend,
                     addend->address + static_cast<std::uint64_t>(job.first) * addend->pitch +
                         static_cast<std::uint64_t>(job.column) * tpu::size_of(addend->type));
        activate.set(Field::kAddendPitch, addend->pitch);
        activate.set(Field::kAddendType, addend->type);
        activate.set(Field::kAddendScale, 1.0f);
    }
    if (!epilogue_.fixed.empty()) round_in_integers(activate);
    if (pooled != nullptr) return pool_on_the_way(*pooled, activate);
    c_.builder.emit(activate);
}

}  // namespace lockstep::network::lowering
