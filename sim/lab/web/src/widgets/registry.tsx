// SPDX-License-Identifier: Apache-2.0
// The pictures by the names that labs give them. A new one is a row here.
import type { ComponentType } from "preact";

import { FragmentView } from "./fragments";
import { Gradient } from "./gradient";
import { Npu } from "./npu";
import { Parallel } from "./parallel";
import { Roofline } from "./roofline";
import { Systolic } from "./systolic";
import { TensorCore } from "./tensor_core";
import { Warp } from "./warp";
import { WarpAccess } from "./warp_access";

export interface WidgetProps {
    parameters: Record<string, unknown>;
}

const widgets: Record<string, ComponentType<WidgetProps>> = {
    fragments: FragmentView,
    gradient: Gradient,
    npu: Npu,
    parallel: Parallel,
    roofline: Roofline,
    systolic: Systolic,
    tensor_core: TensorCore,
    warp: Warp,
    warp_access: WarpAccess,
};

export function WidgetView({ name, parameters }: WidgetProps & { name: string }) {
    const Widget = widgets[name];
    if (!Widget) return <p class="wrong">No picture named {name}.</p>;
    return <Widget parameters={parameters} />;
}
