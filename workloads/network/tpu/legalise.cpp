// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/legalise.h"

#include "workloads/network/compile/legalise.h"
#include "workloads/network/tpu/operators.h"

namespace lockstep::network {

namespace {

/// Softmax along the rows of a matrix has kernels of its own: the vector unit joins rows.
bool write_along_columns(NodeWriter& w, Graph& graph, const Node& node) {
    return !lowering::is_along_rows(graph, node) && compile::write_along_last_axis(w, graph, node);
}

}  // namespace

void legalise_for_tpu(Graph& graph, int generation) {
    using namespace compile;
    static constexpr Rule kFirst[] = {
        write_in_two_dimensions, write_flat_pool, write_copy,       write_chain,
        write_vector_product,    write_gemm,      write_image_mean, write_normalising_convolution};
    static constexpr Rule kLater[] = {write_in_two_dimensions,
                                      write_flat_pool,
                                      write_copy,
                                      write_chain,
                                      write_vector_product,
                                      write_gemm,
                                      write_image_mean,
                                      write_normalising_product,
                                      write_along_columns,
                                      write_max_pool_gradient,
                                      write_computed_bias,
                                      write_scattered_sum,
                                      write_elements};
    compile::legalise(graph, generation == 1 ? std::span<const Rule>(kFirst) : kLater);
}

}  // namespace lockstep::network
