// SPDX-License-Identifier: Apache-2.0
// The rules of legalise.h, by family. Each writes the nodes that stand for one, or gives false.
#pragma once

#include "workloads/network/decompose/node_writer.h"

namespace lockstep::network::legalising {

/// A weight or another constant.
bool is_given(const Value& value);
/// The same constant in another shape.
ValueId given_as(Graph& graph, ValueId id, const Shape& shape);

/// A mean over the pixels of an image: GlobalAveragePool.
bool write_image_mean(NodeWriter& w, const Graph& graph, const Node& node);
/// BatchNormalization by itself: a 1x1 convolution in as many groups as channels on generation 1,
/// else a product and a sum.
bool write_batch_normalisation(NodeWriter& w, Graph& graph, const Node& node, int generation);
/// Reductions, softmax and normalisation along axes that are not the last.
bool write_along_last_axis(NodeWriter& w, Graph& graph, const Node& node);
/// What the vector unit has no function for.
bool write_on_vector_unit(NodeWriter& w, Graph& graph, const Node& node);

}  // namespace lockstep::network::legalising
