// SPDX-License-Identifier: Apache-2.0
// What /api/widget/systolic answers, and what of it means something in a cycle.

/// west, north, sum_in, sum_out, held, spare, control bits
export type Wires = number[];

export interface Run {
    rows: number;
    columns: number;
    dataflow: string;
    cycles: number;
    folds: { rows: number; columns: number };
    tile: { load: number; stream: number; unload: number; skew: number; interval: number };
    use: { stream: number; load: number; skew: number; utilization: number; fold_fill: number };
    a: number[][];
    b: number[][];
    c: number[][];
    wires: string[];
    frames: Wires[][];
}

export const kWest = 0,
    kNorth = 1,
    kSumIn = 2,
    kSumOut = 3,
    kHeld = 4,
    kSpare = 5;
const kControl = 6;
const kMultiply = 1,
    kShift = 2,
    kSwap = 4,
    kUnload = 32;

const has = (wires: Wires | undefined, bit: number) => wires !== undefined && (wires[kControl] & bit) !== 0;

export const isBusy = (wires: Wires) => has(wires, kMultiply);
export const isLoading = (wires: Wires) => has(wires, kShift);
export const isMoving = (wires: Wires) => has(wires, kShift) || has(wires, kUnload);

export function stateOf(_: Run, wires: Wires): "multiply" | "load" | "idle" {
    if (isBusy(wires)) return "multiply";
    return isMoving(wires) ? "load" : "idle";
}

/// What the PE multiplies with: where the swap wire is set, what was spare until now.
export const weightOf = (wires: Wires) => (has(wires, kSwap) ? wires[kSpare] : wires[kHeld]);

/// In words.
export function workOf(run: Run, wires: Wires): string {
    const [west, north, sumIn] = wires;
    const held = weightOf(wires);
    if (!isBusy(wires)) return isMoving(wires) ? (run.dataflow === "os" ? "passes a result on" : "loads") : "does nothing";
    return run.dataflow === "os" ? `adds ${west} × ${north}` : `${sumIn} + ${west} × ${held} = ${sumIn + west * held}`;
}

const pe = (run: Run, cycle: number, row: number, column: number): Wires | undefined => run.frames[cycle]?.[row * run.columns + column];

/// What is on the wire into row `row` from the west, `ahead` cycles from now; undefined: nothing.
export function entersWest(run: Run, cycle: number, row: number, ahead: number): number | undefined {
    const wires = pe(run, cycle + ahead, row, 0);
    return has(wires, kMultiply) ? wires![kWest] : undefined;
}

export function entersNorth(run: Run, cycle: number, column: number, ahead: number): number | undefined {
    const wires = pe(run, cycle + ahead, 0, column);
    return has(wires, run.dataflow === "os" ? kMultiply : kShift) ? wires![kNorth] : undefined;
}

/// The sum that left a PE with its last work, or (os) the result on its way down.
export function leavesSouth(run: Run, cycle: number, row: number, column: number): number | undefined {
    const before = pe(run, cycle - 1, row, column);
    const now = pe(run, cycle, row, column);
    return has(before, run.dataflow === "os" ? kUnload : kMultiply) ? now?.[kSumOut] : undefined;
}
