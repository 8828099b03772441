// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";

import { type Run, entersNorth, entersWest, isBusy, isLoading, isMoving, kNorth, kSpare, kWest, leavesSouth, stateOf, weightOf } from "./systolic_run";

interface Props {
    run: Run;
    cycle: number;
    chosen: number;
    choose: (pe: number) => void;
    summary: string;
}

const kQueueStep = 22; // between numbers that wait above the array

/// Sizes by how many PEs there are to draw: with all wires, with sums, or as dots.
function layoutOf(side: number) {
    if (side <= 4) return { pe: 74, gap: 52, queue: 3, step: 46 };
    if (side <= 8) return { pe: 50, gap: 26, queue: 2, step: 34 };
    return { pe: 26, gap: 6, queue: 0, step: 0 };
}

export function ArrayPicture({ run, cycle, chosen, choose, summary }: Props) {
    const { pe, gap, queue, step } = layoutOf(Math.max(run.rows, run.columns));
    const pitch = pe + gap;
    const margin = queue * step + 30;
    const top = queue > 0 ? gap + 6 + queue * kQueueStep : 34;
    const width = margin + run.columns * pitch + 10;
    const height = top + run.rows * pitch + (queue > 0 ? 26 : 4);
    const x = (column: number) => margin + column * pitch;
    const y = (row: number) => top + row * pitch;
    const isOs = run.dataflow === "os";
    const cells: ComponentChildren[] = [];
    for (let row = 0; row < run.rows; row++)
        for (let column = 0; column < run.columns; column++) {
            const index = row * run.columns + column;
            const wires = run.frames[cycle][index];
            cells.push(
                <g
                    key={index}
                    class={`pe ${stateOf(run, wires)} ${index === chosen ? "chosen" : ""}`}
                    transform={`translate(${x(column)} ${y(row)})`}
                    onClick={() => choose(index)}
                >
                    <rect width={pe} height={pe} rx={queue > 0 ? 9 : 5} />
                    {queue > 0 && (
                        <text class="held" x={pe / 2} y={pe / 2 + 5}>
                            {!isOs && isMoving(wires) && !isBusy(wires) ? wires[kSpare] : weightOf(wires)}
                        </text>
                    )}
                    {queue === 3 && (
                        <text class="name" x={8} y={15}>
                            {row},{column}
                        </text>
                    )}
                    {queue > 0 && (
                        <Flows
                            key={cycle}
                            west={isBusy(wires) ? wires[kWest] : undefined}
                            north={(isOs ? isBusy(wires) : isLoading(wires)) ? wires[kNorth] : undefined}
                            south={leavesSouth(run, cycle, row, column)}
                            pe={pe}
                            gap={gap}
                        />
                    )}
                </g>,
            );
        }
    const queues: ComponentChildren[] = [];
    for (let ahead = 1; ahead <= queue; ahead++) {
        for (let row = 0; row < run.rows; row++) {
            const value = entersWest(run, cycle, row, ahead);
            if (value !== undefined)
                queues.push(
                    <text key={`w${row}-${ahead}`} class={`queued q${ahead}`} x={x(0) - 24 - ahead * step} y={y(row) + pe / 2 + 5}>
                        {value}
                    </text>,
                );
        }
        for (let column = 0; column < run.columns; column++) {
            const value = entersNorth(run, cycle, column, ahead);
            if (value !== undefined)
                queues.push(
                    <text key={`n${column}-${ahead}`} class={`queued q${ahead}`} x={x(column) + pe / 2} y={y(0) - gap - 4 - (ahead - 1) * kQueueStep}>
                        {value}
                    </text>,
                );
        }
    }
    return (
        <div class="picture" tabIndex={0} role="group" aria-label="The array; it may be wider than the page">
            <svg viewBox={`0 0 ${width} ${height}`} style={{ minWidth: `${Math.min(width * 0.72, 560)}px`, maxWidth: `${width * 1.25}px` }} role="img" aria-label={`${summary}. The table below has all wires.`}>
                <defs>
                    <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" orient="auto-start-reverse">
                        <path d="M0 0L8 4L0 8z" class="head" />
                    </marker>
                </defs>
                {queue > 0 && <Grid run={run} x={x} y={y} pe={pe} gap={gap} />}
                {queues}
                {cells}
            </svg>
        </div>
    );
}

interface FlowProps {
    west?: number;
    north?: number;
    south?: number;
    pe: number;
    gap: number;
}

/// Numbers on the wires of a PE; each slides in from where it comes.
function Flows({ west, north, south, pe, gap }: FlowProps) {
    return (
        <>
            {west !== undefined && (
                <text class="flow east" x={-gap / 2} y={pe / 2 - 5}>
                    {west}
                </text>
            )}
            {north !== undefined && (
                <text class="flow down" x={pe / 2 + 6} y={-gap / 2 + 5} text-anchor="start">
                    {north}
                </text>
            )}
            {south !== undefined && (
                <text class="flow down sum" x={pe / 2 - 6} y={pe + gap / 2 + 3}>
                    {south}
                </text>
            )}
        </>
    );
}

function Grid({ run, x, y, pe, gap }: { run: Run; x: (c: number) => number; y: (r: number) => number; pe: number; gap: number }) {
    const lines: ComponentChildren[] = [];
    for (let row = 0; row < run.rows; row++)
        for (let column = 0; column < run.columns; column++) {
            const west = x(column),
                north = y(row);
            lines.push(
                <line key={`w${row}-${column}`} x1={west - gap + 2} y1={north + pe / 2} x2={west - 2} y2={north + pe / 2} marker-end="url(#arrow)" />,
                <line key={`n${row}-${column}`} x1={west + pe / 2} y1={north - gap + 2} x2={west + pe / 2} y2={north - 2} marker-end="url(#arrow)" />,
            );
            if (row === run.rows - 1)
                lines.push(
                    <line key={`s${column}`} x1={west + pe / 2} y1={north + pe + 2} x2={west + pe / 2} y2={north + pe + gap - 4} marker-end="url(#arrow)" />,
                );
        }
    return <g class="wires">{lines}</g>;
}
