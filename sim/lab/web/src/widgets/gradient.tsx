// SPDX-License-Identifier: Apache-2.0
// A network of two inputs, two hidden neurons and one output, with every value and every gradient,
// and the graph that computes them.
import { useState } from "preact/hooks";

import { NumberField, SelectField } from "./controls";
import { useModel } from "./use_model";

interface Setting {
    x: number[];
    w1: number[];
    w2: number[];
    target: number;
    rate: string;
    gradients: boolean;
    results: boolean;
}

interface Answer {
    values: Record<string, number[]>;
    gradients: Record<string, number[]>;
    differences: { w1: number[]; w2: number[] };
    next: { w1: number[]; w2: number[]; loss: number };
    nodes: { name: string; op: string; inputs: string[]; shape: number[]; values: number[] | null; forward: boolean }[];
}

const kDefault: Setting = { x: [1, 2], w1: [1, 1, 1, -1], w2: [2, 3], target: 4, rate: "0.01", gradients: true, results: true };
const kRates = ["0.001", "0.01", "0.02", "0.05", "0.1"];

export function Gradient({ parameters }: { parameters: Record<string, unknown> }) {
    const [setting, setSetting] = useState<Setting>({ ...kDefault, ...parameters } as Setting);
    const [losses, setLosses] = useState<number[]>([]);
    const { x, w1, w2, target, rate } = setting;
    const { answer, error } = useModel<Answer>("gradient", { x, w1, w2, target: [target], rate: [Number(rate)] });
    const set = (change: Partial<Setting>) => {
        setSetting({ ...setting, ...change });
        setLosses([]);
    };
    const field = (label: string, name: "x" | "w1" | "w2", i: number) => (
        <NumberField
            label={label}
            value={Number(setting[name][i].toPrecision(4))}
            least={-9}
            most={9}
            change={(value) => set({ [name]: setting[name].map((old, j) => (j === i ? value : old)) })}
        />
    );
    const step = () => {
        if (!answer) return;
        setLosses([...(losses.length ? losses : answer.values.loss), answer.next.loss]);
        setSetting({ ...setting, w1: answer.next.w1, w2: answer.next.w2 });
    };
    return (
        <section class="widget" aria-label="Backpropagation by hand">
            <div class="controls">
                {field("x0", "x", 0)}
                {field("x1", "x", 1)}
                {field("W1: x0→h0", "w1", 0)}
                {field("x0→h1", "w1", 1)}
                {field("x1→h0", "w1", 2)}
                {field("x1→h1", "w1", 3)}
                {field("W2: a0→y", "w2", 0)}
                {field("a1→y", "w2", 1)}
                <NumberField label="target" value={target} least={-99} most={99} change={(value) => set({ target: value })} />
            </div>
            {error && <p class="wrong">{error}</p>}
            {answer && <Picture answer={answer} shows={setting.gradients && setting.results} results={setting.results} />}
            <div class="controls">
                {!setting.results && (
                    <button type="button" class="button" onClick={() => setSetting({ ...setting, results: true })}>
                        Show results
                    </button>
                )}
                <button type="button" class="button" aria-pressed={setting.gradients} onClick={() => setSetting({ ...setting, gradients: !setting.gradients, results: true })}>
                    {setting.gradients ? "Hide gradients" : "Show gradients"}
                </button>
                <SelectField label="rate" value={rate} options={kRates.map((value) => [value, value])} change={(value) => setSetting({ ...setting, rate: value })} />
                <button type="button" class="button" onClick={step}>
                    Step: w − rate × gradient
                </button>
                <button type="button" class="button" onClick={() => set({ ...kDefault, ...parameters, rate, results: setting.results } as Setting)}>
                    Begin again
                </button>
            </div>
            {answer && setting.results && (
                <p class="summary" role="status">
                    y = <b>{show(answer.values.y[0])}</b>, loss = (y − target)² = <b>{show(answer.values.loss[0])}</b>
                    {losses.length > 0 && <span class="muted">; losses so far: {losses.map(show).join(", ")}</span>}
                </p>
            )}
            {answer && setting.gradients && setting.results && <Tables answer={answer} />}
        </section>
    );
}

const show = (value: number) => String(Number(value.toPrecision(5))).replace("-", "−");

function Picture({ answer, shows, results }: { answer: Answer; shows: boolean; results: boolean }) {
    const result = (value: number) => (results ? show(value) : "?");
    const { values, gradients } = answer;
    const at: Record<string, [number, number]> = { x0: [60, 60], x1: [60, 190], h0: [280, 60], h1: [280, 190], y: [500, 125], loss: [640, 125] };
    const edges: [string, string, number, number, number][] = [
        ["x0", "h0", values.w1[0], gradients.w1[0], 0.5],
        ["x0", "h1", values.w1[1], gradients.w1[1], 0.28],
        ["x1", "h0", values.w1[2], gradients.w1[2], 0.28],
        ["x1", "h1", values.w1[3], gradients.w1[3], 0.5],
        ["h0", "y", values.w2[0], gradients.w2[0], 0.45],
        ["h1", "y", values.w2[1], gradients.w2[1], 0.45],
    ];
    const neuron = (name: string, lines: string[], gradient?: string) => (
        <g key={name} transform={`translate(${at[name][0]} ${at[name][1]})`}>
            <circle class="neuron" r={38} />
            {lines.map((line, i) => (
                <text key={line} y={(i - (lines.length - 1) / 2) * 16 + 4}>
                    {line}
                </text>
            ))}
            {shows && gradient && (
                <text class="gradient" y={55}>
                    {gradient}
                </text>
            )}
        </g>
    );
    return (
        <div class="picture" tabIndex={0} role="group" aria-label="The network">
            <svg role="img" aria-label="The network; the tables below have its numbers" viewBox="0 0 700 260" style="min-width: 640px; max-width: 700px">
                {edges.map(([from, to, weight, gradient, share]) => {
                    const [ax, ay] = at[from];
                    const [bx, by] = at[to];
                    const x = ax + (bx - ax) * share;
                    const y = ay + (by - ay) * share;
                    return (
                        <g key={from + to}>
                            <line class="edge" x1={ax + 38} y1={ay} x2={bx - 38} y2={by} />
                            <text class="weight" x={x} y={y - 4}>
                                {show(weight)}
                            </text>
                            {shows && (
                                <text class="gradient" x={x} y={y + 13}>
                                    {show(gradient)}
                                </text>
                            )}
                        </g>
                    );
                })}
                <line class="edge" x1={538} y1={125} x2={602} y2={125} />
                {neuron("x0", ["x0", show(values.x[0])])}
                {neuron("x1", ["x1", show(values.x[1])])}
                {neuron("h0", [`h0 ${result(values.h[0])}`, `a0 ${result(values.a[0])}`], `dh ${show(gradients.h[0])}, da ${show(gradients.a[0])}`)}
                {neuron("h1", [`h1 ${result(values.h[1])}`, `a1 ${result(values.a[1])}`], `dh ${show(gradients.h[1])}, da ${show(gradients.a[1])}`)}
                {neuron("y", ["y", result(values.y[0])], `dy ${show(gradients.y[0])}`)}
                {neuron("loss", ["loss", result(values.loss[0])])}
            </svg>
        </div>
    );
}

function Tables({ answer }: { answer: Answer }) {
    const rows = (["w1", "w2"] as const).flatMap((name) =>
        answer.values[name].map((value, i) => ({
            name: name === "w1" ? `x${i >> 1}→h${i & 1}` : `a${i}→y`,
            value,
            gradient: answer.gradients[name][i],
            difference: answer.differences[name][i],
            next: answer.next[name][i],
        })),
    );
    return (
        <>
            <div class="scroll" tabIndex={0} role="region" aria-label="Weights and their gradients">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">weight</th>
                            <th scope="col">value</th>
                            <th scope="col">gradient</th>
                            <th scope="col">by differences</th>
                            <th scope="col">after a step</th>
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map((row) => (
                            <tr key={row.name}>
                                <th scope="row">{row.name}</th>
                                <td>{show(row.value)}</td>
                                <td>{show(row.gradient)}</td>
                                <td>{show(row.difference)}</td>
                                <td>{show(row.next)}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            <details>
                <summary>The graph that computes it ({answer.nodes.length} nodes)</summary>
                <div class="scroll" tabIndex={0} role="region" aria-label="Nodes of the graph">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">node</th>
                                <th scope="col">operator</th>
                                <th scope="col">reads</th>
                                <th scope="col">values</th>
                            </tr>
                        </thead>
                        <tbody>
                            {answer.nodes.map((node) => (
                                <tr key={node.name}>
                                    <th scope="row">{node.name}</th>
                                    <td>{node.op}</td>
                                    <td>{node.inputs.join(", ")}</td>
                                    <td>{node.values ? node.values.map(show).join(", ") : "true or false"}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            </details>
        </>
    );
}
