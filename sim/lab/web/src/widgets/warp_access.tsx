// SPDX-License-Identifier: Apache-2.0
// The addresses of a warp's lanes: which sectors of which lines they take in global memory, which
// banks in shared memory. Counts are the memory unit's.
import { useState } from "preact/hooks";

import { NumberField, SelectField } from "./controls";
import { useModel } from "./use_model";

interface Setting {
    space: string;
    pattern: string;
    width: string;
    stride: number;
    offset: number;
    column: number;
    pitch: number;
    range: number;
    swizzle: string;
    lanes: number;
}

interface Access {
    width: number;
    line_bytes: number;
    sector_bytes: number;
    addresses: number[];
    global: {
        lines: { address: number; sectors: number }[];
        sectors: number;
        least_sectors: number;
        bytes_moved: number;
        bytes_used: number;
        tag_cycles: number;
    };
    shared: { banks: number[]; wavefronts: number; least_wavefronts: number };
}

const kDefault: Setting = {
    space: "global",
    pattern: "linear",
    width: "4",
    stride: 1,
    offset: 0,
    column: 0,
    pitch: 32,
    range: 1024,
    swizzle: "0",
    lanes: 32,
};

export function WarpAccess({ parameters }: { parameters: Record<string, unknown> }) {
    const [setting, setSetting] = useState<Setting>({ ...kDefault, ...parameters } as Setting);
    const { space, ...request } = setting;
    const { answer, error } = useModel<Access>("warp_access", request);
    const set = (change: Partial<Setting>) => setSetting({ ...setting, ...change });
    const field = (label: string, name: "stride" | "offset" | "column" | "pitch" | "range" | "lanes", least: number, most: number) => (
        <NumberField label={label} value={setting[name]} least={least} most={most} change={(value) => set({ [name]: value })} />
    );
    const select = (label: string, name: "space" | "pattern" | "width" | "swizzle", options: [string, string][]) => (
        <SelectField label={label} value={setting[name]} options={options} change={(value) => set({ [name]: value })} />
    );
    return (
        <section class="widget" aria-label="The addresses of a warp">
            <div class="controls">
                {select("memory", "space", [
                    ["global", "global"],
                    ["shared", "shared"],
                ])}
                {select("lane l reads", "pattern", [
                    ["linear", "element l × stride"],
                    ["column", "row l of a column"],
                    ["random", "at random"],
                ])}
                {select(
                    "bytes a lane",
                    "width",
                    ["1", "2", "4", "8", "16"].map((width) => [width, width]),
                )}
                {setting.pattern === "linear" && field("stride", "stride", 0, 1024)}
                {setting.pattern === "column" && field("column", "column", 0, 255)}
                {setting.pattern === "column" && field("elements a row", "pitch", 1, 256)}
                {setting.pattern === "column" &&
                    select("swizzle", "swizzle", [
                        ["0", "none"],
                        ["32", "32 B"],
                        ["64", "64 B"],
                        ["128", "128 B"],
                    ])}
                {setting.pattern === "random" && field("of elements", "range", 1, 1 << 20)}
                {field("first byte", "offset", 0, 1024)}
                {field("lanes", "lanes", 1, 32)}
            </div>
            {error && <p class="wrong">{error}</p>}
            {answer && (space === "global" ? <Lines access={answer} /> : <Banks access={answer} />)}
            {answer && <Addresses access={answer} />}
        </section>
    );
}

const hex = (address: number) => `0x${address.toString(16)}`;

/// Lanes by the 4-byte word that they touch.
function lanesByWord(access: Access): Map<number, number[]> {
    const words = new Map<number, number[]>();
    access.addresses.forEach((address, lane) => {
        for (let at = address - (address % 4); at < address + access.width; at += 4) words.set(at / 4, [...(words.get(at / 4) ?? []), lane]);
    });
    return words;
}

/// A lane, several lanes that follow each other, or how many.
function nameOf(lanes: number[]): string {
    return lanes.length === 1 ? String(lanes[0]) : `${lanes.length}×`;
}

function Lines({ access }: { access: Access }) {
    const { global } = access;
    const words = lanesByWord(access);
    const cell = 22;
    const left = 62;
    const row = 28;
    const width = left + 32 * cell + 4;
    const summary = `${global.lines.length} lines, ${global.sectors} sectors: ${global.bytes_moved} bytes move for ${global.bytes_used} that are used`;
    return (
        <>
            <div class="picture" tabIndex={0} role="group" aria-label="Lines and sectors">
                <svg
                    role="img"
                    aria-label={summary}
                    viewBox={`0 0 ${width} ${global.lines.length * row + 4}`}
                    style={`min-width: ${width}px; max-width: ${width}px`}
                >
                    {global.lines.map((line, i) => (
                        <g key={line.address} transform={`translate(0 ${i * row + 2})`}>
                            <text class="address" x={left - 8} y={17}>
                                {hex(line.address)}
                            </text>
                            {[0, 1, 2, 3].map((sector) => (
                                <rect
                                    key={sector}
                                    class={(line.sectors >> sector) & 1 ? "sector taken" : "sector"}
                                    x={left + sector * 8 * cell}
                                    width={8 * cell - 3}
                                    height={row - 4}
                                    rx={4}
                                />
                            ))}
                            {Array.from({ length: 32 }, (_, word) => {
                                const lanes = words.get(line.address / 4 + word);
                                return (
                                    lanes && (
                                        <g key={word} transform={`translate(${left + word * cell} 0)`}>
                                            <rect class="used" x={1.5} y={2.5} width={cell - 5} height={row - 9} rx={3} />
                                            <text class="lane" x={cell / 2 - 1} y={16}>
                                                {nameOf(lanes)}
                                            </text>
                                        </g>
                                    )
                                );
                            })}
                        </g>
                    ))}
                </svg>
            </div>
            <p class="summary" role="status">
                <b>{global.sectors} sectors</b> in {global.lines.length} {global.lines.length === 1 ? "line" : "lines"}{" "}
                <span class="muted">
                    (at least {global.least_sectors}); {global.bytes_moved} bytes move for {global.bytes_used} that are used,{" "}
                    {Math.round((100 * global.bytes_used) / global.bytes_moved)} %; {global.tag_cycles}{" "}
                    {global.tag_cycles === 1 ? "cycle" : "cycles"} of the tag stage.
                </span>
            </p>
        </>
    );
}

function Banks({ access }: { access: Access }) {
    const { shared } = access;
    // Different words of a bank stand above each other.
    const columns: { word: number; lanes: number[] }[][] = Array.from({ length: 32 }, () => []);
    for (const [word, lanes] of lanesByWord(access)) columns[word % 32].push({ word, lanes });
    const most = Math.max(...columns.map((words) => words.length));
    const cell = 23;
    const row = most > 16 ? 12 : 20;
    const height = most * row + 24;
    const summary = `${shared.wavefronts} wavefronts, at least ${shared.least_wavefronts}`;
    return (
        <>
            <div class="picture" tabIndex={0} role="group" aria-label="Banks">
                <svg role="img" aria-label={summary} viewBox={`0 0 ${32 * cell} ${height}`} style={`min-width: ${32 * cell}px; max-width: ${32 * cell}px`}>
                    {columns.map((words, bank) => (
                        <g key={bank} transform={`translate(${bank * cell} 0)`}>
                            {words.map(({ word, lanes }, i) => (
                                <g key={word} transform={`translate(0 ${(most - 1 - i) * row})`}>
                                    <rect class={i < shared.least_wavefronts ? "used" : "used conflict"} x={1} width={cell - 3} height={row - 2} rx={3} />
                                    <text class="lane" x={cell / 2} y={row / 2 + 2.5}>
                                        {nameOf(lanes)}
                                    </text>
                                </g>
                            ))}
                            <text class="bank" x={cell / 2} y={height - 6}>
                                {bank}
                            </text>
                        </g>
                    ))}
                </svg>
            </div>
            <p class="summary" role="status">
                <b>
                    {shared.wavefronts} {shared.wavefronts === 1 ? "wavefront" : "wavefronts"}
                </b>{" "}
                <span class="muted">
                    (at least {shared.least_wavefronts} for {access.addresses.length} lanes of {access.width} bytes). Columns are banks; boxes above
                    each other are different words of one bank, red where they are more than the least; numbers are lanes, and 2× stands for two that share a word.
                </span>
            </p>
        </>
    );
}

function Addresses({ access }: { access: Access }) {
    return (
        <details>
            <summary>Addresses as a table</summary>
            <div class="scroll" tabIndex={0} role="region" aria-label="Addresses by lane">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">lane</th>
                            <th scope="col">address</th>
                            <th scope="col">line</th>
                            <th scope="col">sector</th>
                            <th scope="col">bank</th>
                        </tr>
                    </thead>
                    <tbody>
                        {access.addresses.map((address, lane) => (
                            <tr key={lane}>
                                <th scope="row">{lane}</th>
                                <td>{hex(address)}</td>
                                <td>{hex(address - (address % access.line_bytes))}</td>
                                <td>{Math.floor((address % access.line_bytes) / access.sector_bytes)}</td>
                                <td>{access.shared.banks[lane]}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </details>
    );
}
