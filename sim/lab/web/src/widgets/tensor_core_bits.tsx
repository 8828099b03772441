// SPDX-License-Identifier: Apache-2.0
// Terms of a group under each other, a column a power of two.
import type { ComponentChildren } from "preact";

import { type Generation, labelOf, shown } from "./tensor_core";

const kCell = 13;
const kRow = 24;
const kLabel = 108;
const kDigits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
export const power = (n: number) => "2" + String(n).replace(/-/, "⁻").replace(/\d/g, (digit) => kDigits[Number(digit)]);
const kBelow = 7; // columns shown below the last bit

/// The bit of |significand| * 2^lowest at 2^weight; undefined: above or below what it has.
function bitOf(significand: number, lowest: number, weight: number): number | undefined {
    const position = weight - lowest;
    const magnitude = Math.abs(significand);
    if (magnitude === 0 || position < 0 || magnitude < 2 ** position) return undefined;
    return Math.floor(magnitude / 2 ** position) % 2;
}

export function BitPicture({ generation, index }: { generation: Generation; index: number }) {
    const group = generation.groups[index];
    const last = group.largest - generation.fraction_bits;
    const top = Math.max(group.largest + 1, last + (group.sum === 0 ? 0 : Math.floor(Math.log2(Math.abs(group.sum)))));
    const columns = top - last + 1 + kBelow;
    const x = (weight: number) => kLabel + (top - weight) * kCell;
    const rows = group.terms.length + 1;
    const width = kLabel + columns * kCell + 8;
    const height = 26 + rows * kRow + 10;
    const row = (y: number, label: string, sign: number, significand: number, lowest: number, kind: string) => {
        const cells: ComponentChildren[] = [];
        for (let weight = top; weight > top - columns; weight--) {
            const bit = bitOf(significand, lowest, weight);
            if (bit === undefined) continue;
            const isLost = weight < last;
            cells.push(
                <g key={weight}>
                    <rect
                        x={x(weight) + 0.75}
                        y={y + 2}
                        width={kCell - 1.5}
                        height={kRow - 7}
                        rx={2.5}
                        class={`bit ${kind} ${isLost ? "lost" : ""} ${bit ? "one" : "zero"}`}
                    />
                    <text x={x(weight) + kCell / 2} y={y + 15} class={`digit ${isLost ? "lost" : ""} ${bit ? "one" : "zero"}`}>
                        {bit}
                    </text>
                </g>,
            );
        }
        return (
            <g key={label}>
                <text x={kLabel - 22} y={y + 15} class="term">
                    {label}
                </text>
                <text x={kLabel - 10} y={y + 15}>
                    {sign < 0 ? "−" : ""}
                </text>
                {cells}
            </g>
        );
    };
    const summary = `Terms aligned to 2^${group.largest}, cut below 2^${last}; the sum becomes ${shown(group.result)}. The table below has them.`;
    return (
        <div class="picture" tabIndex={0} role="group" aria-label="Bits; they may be wider than the page">
            <svg class="bits" viewBox={`0 0 ${width} ${height}`} style={{ minWidth: `${width * 0.8}px`, maxWidth: `${width * 1.15}px` }} role="img" aria-label={summary}>
                <text x={x(group.largest) + kCell / 2} y={13} class="scale">
                    {power(group.largest)}
                </text>
                <text x={x(last) + kCell / 2} y={13} class="scale">
                    {power(last)}
                </text>
                {group.terms.map((term, i) =>
                    row(22 + i * kRow, labelOf(generation, index, i), term.value, term.significand, term.exponent - term.point, "term"),
                )}
                <line class="rule" x1={kLabel - 76} x2={width - 8} y1={22 + group.terms.length * kRow} y2={22 + group.terms.length * kRow} />
                {row(24 + group.terms.length * kRow, "sum", group.sum, group.sum, last, "sum")}
                <line class="cut" x1={x(last) + kCell} x2={x(last) + kCell} y1={18} y2={height - 4} />
            </svg>
        </div>
    );
}
