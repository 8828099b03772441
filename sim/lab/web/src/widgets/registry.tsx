// SPDX-License-Identifier: Apache-2.0
// The pictures by the names that labs give them. A new one is a row here.
import type { ComponentType } from "preact";

import { Systolic } from "./systolic";

export interface WidgetProps {
    parameters: Record<string, unknown>;
}

const widgets: Record<string, ComponentType<WidgetProps>> = {
    systolic: Systolic,
};

export function WidgetView({ name, parameters }: WidgetProps & { name: string }) {
    const Widget = widgets[name];
    if (!Widget) return <p class="wrong">No picture named {name}.</p>;
    return <Widget parameters={parameters} />;
}
