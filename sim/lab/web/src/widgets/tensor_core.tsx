// SPDX-License-Identifier: Apache-2.0
// A dot product of the Tensor Core, bit by bit: terms aligned to the largest exponent, what falls
// off below the last bit, the exact sum, the result. Generations side by side.
import { useState } from "preact/hooks";

import { post } from "../api";
import { Scrubber, SelectField } from "./controls";
import { BitPicture, power } from "./tensor_core_bits";
import type { WidgetProps } from "./registry";
import { useModel } from "./use_model";

export interface Term {
    value: number;
    significand: number;
    point: number;
    exponent: number;
    aligned: number;
}

export interface Group {
    largest: number;
    terms: Term[];
    sum: number;
    result: number | string;
    bits: string;
}

export interface Generation {
    sm: number;
    name: string;
    group: number;
    fraction_bits: number;
    result: number | string;
    bits: string;
    groups: Group[];
}

interface Dot {
    a: number[];
    b: number[];
    c: number;
    fp64: number;
    once: number;
    fused: number;
    generations: Generation[];
}

interface Setting {
    type: string;
    accumulate: string;
    a: string[];
    b: string[];
    c: string;
}

const texts = (list: unknown, fallback: string[]) => (Array.isArray(list) ? list.map(String) : fallback);

/// "0.1", "2^-24", "3*2^10"
function numberOf(text: string): number {
    const match = text.trim().match(/^(-?[\d.eE+-]*?)\*?2\^(-?\d+)$/);
    if (!match) return text.trim() === "" ? 0 : Number(text);
    const factor = match[1] === "" ? 1 : match[1] === "-" ? -1 : Number(match[1]);
    return factor * 2 ** Number(match[2]);
}

export const shown = (value: number | string) => (typeof value === "number" ? String(Number(value.toPrecision(9))) : value);

export function TensorCore({ parameters }: WidgetProps) {
    const [setting, setSetting] = useState<Setting>({
        type: String(parameters.type ?? "fp16"),
        accumulate: String(parameters.accumulate ?? "fp32"),
        a: texts(parameters.a, ["1", "2", "3", "4"]),
        b: texts(parameters.b, ["1", "1", "1", "1"]),
        c: String(parameters.c ?? "0"),
    });
    const [sm, setSm] = useState(Number(parameters.sm ?? 80));
    const [group, setGroup] = useState(0);
    const set = (change: Partial<Setting>) => setSetting({ ...setting, ...change });
    const request = {
        type: setting.type,
        accumulate: setting.type === "fp16" ? setting.accumulate : "fp32",
        a: setting.a.map(numberOf),
        b: setting.b.map(numberOf),
        c: [numberOf(setting.c)],
    };
    const isNumbers = [...request.a, ...request.b, ...request.c].every(Number.isFinite);
    const { answer: dot, error } = useModel<Dot>("tensor_core", isNumbers ? request : { type: setting.type });
    const generation = dot?.generations.find((one) => one.sm === sm) ?? dot?.generations[0];
    const groupIndex = Math.min(group, (generation?.groups.length ?? 1) - 1);
    return (
        <section class="widget" aria-label="A dot product of the Tensor Core">
            <div class="controls">
                <SelectField
                    label="numbers"
                    value={setting.type}
                    options={[
                        ["fp16", "fp16"],
                        ["bf16", "bf16"],
                        ["tf32", "tf32"],
                    ]}
                    change={(type) => set({ type })}
                />
                {setting.type === "fp16" && (
                    <SelectField
                        label="sums"
                        value={setting.accumulate}
                        options={[
                            ["fp32", "fp32"],
                            ["fp16", "fp16"],
                        ]}
                        change={(accumulate) => set({ accumulate })}
                    />
                )}
                <SelectField
                    label="products"
                    value={String(setting.a.length)}
                    options={[
                        ["4", "4"],
                        ["8", "8"],
                        ["16", "16"],
                    ]}
                    change={(text) => {
                        const resized = (list: string[]) => Array.from({ length: Number(text) }, (_, i) => list[i] ?? "0");
                        set({ a: resized(setting.a), b: resized(setting.b) });
                    }}
                />
                <SelectField
                    label="generation"
                    value={String(generation?.sm ?? sm)}
                    options={(dot?.generations ?? []).map((one) => [String(one.sm), one.name])}
                    change={(value) => setSm(Number(value))}
                />
            </div>
            <Operands setting={setting} set={set} />
            {!isNumbers && <p class="wrong">Write numbers as 0.1, 3e4 or 2^-24.</p>}
            {error && <p class="wrong">{error}</p>}
            {dot && generation && (
                <>
                    <BitPicture generation={generation} index={groupIndex} />
                    {generation.groups.length > 1 && (
                        <Scrubber
                            label="group"
                            value={groupIndex}
                            last={generation.groups.length - 1}
                            text={`group ${groupIndex}`}
                            change={setGroup}
                            milliseconds={1200}
                        />
                    )}
                    <Results dot={dot} chosen={generation.sm} />
                    <Terms generation={generation} index={groupIndex} />
                    <SaveVcd request={{ ...request, sm: generation.sm }} />
                </>
            )}
        </section>
    );
}

function Operands({ setting, set }: { setting: Setting; set: (change: Partial<Setting>) => void }) {
    const field = (name: "a" | "b", k: number) => (
        <td key={k}>
            <input
                aria-label={`${name}${k}`}
                value={setting[name][k]}
                autocomplete="off"
                onInput={(event) => set({ [name]: setting[name].map((old, i) => (i === k ? event.currentTarget.value : old)) })}
            />
        </td>
    );
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label="Operands">
            <table class="operands">
                <tbody>
                    <tr>
                        <th scope="row">a</th>
                        {setting.a.map((_, k) => field("a", k))}
                    </tr>
                    <tr>
                        <th scope="row">b</th>
                        {setting.b.map((_, k) => field("b", k))}
                    </tr>
                    <tr>
                        <th scope="row">c</th>
                        <td>
                            <input aria-label="c" value={setting.c} autocomplete="off" onInput={(event) => set({ c: event.currentTarget.value })} />
                        </td>
                    </tr>
                </tbody>
            </table>
        </div>
    );
}

function Results({ dot, chosen }: { dot: Dot; chosen: number }) {
    return (
        <div class="scroll tall" tabIndex={0} role="region" aria-label="Results">
            <table aria-live="polite">
                <thead>
                    <tr>
                        <th scope="col">c + Σ a·b</th>
                        <th scope="col">group</th>
                        <th scope="col">bits kept</th>
                        <th scope="col">result</th>
                        <th scope="col">bits</th>
                    </tr>
                </thead>
                <tbody>
                    {dot.generations.map((one) => (
                        <tr key={one.sm} class={one.sm === chosen ? "chosen" : ""}>
                            <th scope="row">{one.name}</th>
                            <td>{one.group}</td>
                            <td>{one.fraction_bits}</td>
                            <td>
                                <b>{shown(one.result)}</b>
                            </td>
                            <td>
                                <code>{one.bits}</code>
                            </td>
                        </tr>
                    ))}
                    <tr>
                        <th scope="row">fp32 FMAs, one by one</th>
                        <td />
                        <td />
                        <td>{shown(dot.fused)}</td>
                        <td />
                    </tr>
                    <tr>
                        <th scope="row">fp64, rounded once to fp32</th>
                        <td />
                        <td />
                        <td>{shown(dot.once)}</td>
                        <td />
                    </tr>
                </tbody>
            </table>
        </div>
    );
}

function Terms({ generation, index }: { generation: Generation; index: number }) {
    const group = generation.groups[index];
    const unit = 2 ** (group.largest - generation.fraction_bits);
    return (
        <details>
            <summary>These terms as a table</summary>
            <p class="note">
                All are aligned to {power(group.largest)}; the last bit is {power(group.largest - generation.fraction_bits)}.
            </p>
            <div class="scroll" tabIndex={0} role="region" aria-label="Terms">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">term</th>
                            <th scope="col">exact</th>
                            <th scope="col">kept, in last bits</th>
                            <th scope="col">lost</th>
                        </tr>
                    </thead>
                    <tbody>
                        {group.terms.map((term, i) => (
                            <tr key={i}>
                                <th scope="row">{labelOf(generation, index, i)}</th>
                                <td>{shown(term.value)}</td>
                                <td>{term.aligned}</td>
                                <td>{shown(term.value - term.aligned * unit)}</td>
                            </tr>
                        ))}
                        <tr>
                            <th scope="row">sum</th>
                            <td>{shown(group.sum * unit)}</td>
                            <td>{group.sum}</td>
                            <td />
                        </tr>
                    </tbody>
                </table>
            </div>
        </details>
    );
}

export function labelOf(generation: Generation, group: number, term: number): string {
    const products = generation.groups[group].terms.length - 1;
    if (term === products) return group === 0 ? "c" : "sum before";
    const k = group * products + term;
    return `a${k}·b${k}`;
}

function SaveVcd({ request }: { request: Record<string, unknown> }) {
    const [error, setError] = useState("");
    const save = async () => {
        try {
            const { vcd } = await post<{ vcd: string }>("/api/widget/tensor_core_vcd", request);
            const link = document.createElement("a");
            link.href = URL.createObjectURL(new Blob([vcd], { type: "text/plain" }));
            link.download = "tensor_core_step.vcd";
            link.click();
            setTimeout(() => URL.revokeObjectURL(link.href), 1000);
            setError("");
        } catch (problem) {
            setError((problem as Error).message);
        }
    };
    return (
        <p class="save">
            <button type="button" class="button" onClick={save}>
                Save the 4 × 4 step's waveform (.vcd)
            </button>
            {error && <span class="wrong">{error}</span>}
        </p>
    );
}
