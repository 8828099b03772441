// SPDX-License-Identifier: Apache-2.0
// Who holds what when a warp multiplies: lanes and registers of A, B and C, as the simulated
// instructions read them.
import { useState } from "preact/hooks";

import { Scrubber, SelectField } from "./controls";
import type { WidgetProps } from "./registry";
import { useModel } from "./use_model";

/// lane, register, part of it
type Owner = [number, number, number];

interface Fragments {
    shape: [number, number, number];
    elements: number;
    a: Owner[][];
    b: Owner[][];
    c: Owner[][];
}

const kCell = 15;

export function FragmentView({ parameters }: WidgetProps) {
    const [type, setType] = useState(String(parameters.type ?? "fp16"));
    const [lane, setLane] = useState(Number(parameters.lane ?? 0));
    const { answer: map, error } = useModel<Fragments>("fragments", { type });
    return (
        <section class="widget" aria-label="Fragments of a warp's matrices">
            <div class="controls">
                <SelectField
                    label="mma.sync"
                    value={type}
                    options={[
                        ["fp16", "m16n8k16, fp16"],
                        ["tf32", "m16n8k8, tf32"],
                        ["int8", "m16n8k32, int8"],
                    ]}
                    change={setType}
                />
            </div>
            {error && <p class="wrong">{error}</p>}
            {map && (
                <>
                    <Picture map={map} lane={lane} choose={setLane} />
                    <Scrubber label="lane" value={lane} last={31} text={`lane ${lane}`} change={setLane} />
                    <p class="summary" role="status">
                        Lane {lane} holds {sentence(map.a, "A", lane)}; {sentence(map.b, "B", lane)}; {sentence(map.c, "C", lane)}.
                    </p>
                </>
            )}
        </section>
    );
}

/// "A[0][0..1] in register 0, ..."
function sentence(matrix: Owner[][], name: string, lane: number): string {
    const places = new Map<number, string[]>();
    matrix.forEach((row, i) =>
        row.forEach(([owner, register], j) => {
            if (owner === lane) places.set(register, [...(places.get(register) ?? []), `${name}[${i}][${j}]`]);
        }),
    );
    return [...places.entries()].sort(([a], [b]) => a - b).map(([register, list]) => `${list.join(", ")} in register ${register}`).join("; ");
}

function Picture({ map, lane, choose }: { map: Fragments; lane: number; choose: (lane: number) => void }) {
    const [m, n, k] = map.shape;
    const gap = 26;
    const left = 8 + k * kCell + gap;
    const top = 20 + k * kCell + gap;
    const width = left + n * kCell + 8;
    const height = top + m * kCell + 8;
    const grid = (matrix: Owner[][], name: string, x0: number, y0: number) => (
        <g>
            <text x={x0} y={y0 - 6} class="matrix">
                {name}
            </text>
            {matrix.map((row, i) =>
                row.map(([owner, register], j) => (
                    <g key={`${i}-${j}`} class={`cell ${owner === lane ? "mine" : ""}`} onClick={() => choose(owner)}>
                        <rect x={x0 + j * kCell + 0.5} y={y0 + i * kCell + 0.5} width={kCell - 1} height={kCell - 1} rx={2} />
                        {owner === lane && (
                            <text x={x0 + j * kCell + kCell / 2} y={y0 + i * kCell + 11}>
                                {register}
                            </text>
                        )}
                    </g>
                )),
            )}
        </g>
    );
    return (
        <div class="picture" tabIndex={0} role="group" aria-label="Matrices; they may be wider than the page">
            <svg viewBox={`0 0 ${width} ${height}`} style={{ maxWidth: `${width * 1.3}px`, minWidth: `${Math.min(width, 320)}px` }} role="img" aria-label={`What lane ${lane} holds; the text below says it. Numbers are registers.`}>
                {grid(map.b, `B, ${k} × ${n}`, left, 20)}
                {grid(map.a, `A, ${m} × ${k}`, 8, top)}
                {grid(map.c, `C, ${m} × ${n}`, left, top)}
            </svg>
        </div>
    );
}
