// SPDX-License-Identifier: Apache-2.0
// The pictures by the names that labs give them. A new one is a row here.
import type { ComponentType } from "preact";

import { Gradient } from "./gradient";
import { Npu } from "./npu";
import { Parallel } from "./parallel";
import { Systolic } from "./systolic";
import { Warp } from "./warp";
import { WarpAccess } from "./warp_access";

export interface WidgetProps {
    parameters: Record<string, unknown>;
}

const widgets: Record<string, ComponentType<WidgetProps>> = {
    gradient: Gradient,
    npu: Npu,
    parallel: Parallel,
    systolic: Systolic,
    warp: Warp,
    warp_access: WarpAccess,
};

export function WidgetView({ name, parameters }: WidgetProps & { name: string }) {
    const Widget = widgets[name];
    if (!Widget) return <p class="wrong">No picture named {name}.</p>;
    return <Widget parameters={parameters} />;
}
