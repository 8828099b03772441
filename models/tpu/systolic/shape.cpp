// SPDX-License-Identifier: Apache-2.0
// A product that is larger than the array is computed in folds. Names of the dataflows and the
// assignment of m, n and k to rows, columns and time are SCALE-Sim's (Samajdar et al., ISPASS
// 2020).
#include "models/tpu/systolic/shape.h"

#include "sim/error/error.h"

namespace lockstep::tpu {

Dataflow parse_dataflow(std::string_view text) {
    for (const Dataflow dataflow :
         {Dataflow::kWeightStationary, Dataflow::kOutputStationary, Dataflow::kInputStationary})
        if (text == dataflow_name(dataflow)) return dataflow;
    throw InputError(fmt::format(
        "array.dataflow: '{}' is none of ws, os and is (weight-, output-, input-stationary)",
        text));
}

std::string_view dataflow_name(Dataflow dataflow) {
    switch (dataflow) {
        case Dataflow::kWeightStationary:
            return "ws";
        case Dataflow::kOutputStationary:
            return "os";
        case Dataflow::kInputStationary:
            return "is";
    }
    internal_error(__FILE__, __LINE__, "no such dataflow");
}

Folding fold(const ArrayShape& array, const GemmShape& gemm) {
    Folding result;
    switch (array.dataflow) {
        case Dataflow::kWeightStationary:
            result = {gemm.k, gemm.n, gemm.m};
            break;
        case Dataflow::kOutputStationary:
            result = {gemm.m, gemm.n, gemm.k};
            break;
        case Dataflow::kInputStationary:
            result = {gemm.k, gemm.m, gemm.n};
            break;
    }
    result.row_folds = (result.rows + array.rows - 1) / array.rows;
    result.column_folds = (result.columns + array.columns - 1) / array.columns;
    return result;
}

}  // namespace lockstep::tpu
