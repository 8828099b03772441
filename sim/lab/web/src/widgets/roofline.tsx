// SPDX-License-Identifier: Apache-2.0
// Roofs of machines from their parameters, and runs under them.
import { useState } from "preact/hooks";

import { post } from "../api";
import type { WidgetProps } from "./registry";
import { RoofPicture } from "./roofline_picture";
import { useModel } from "./use_model";

export interface Roof {
    machine: string;
    set: string[];
    description: string;
    peaks: Record<string, number>;
    bandwidth: number;
}

export interface Point {
    roof: Roof;
    workload: string;
    precision: string;
    operations: number;
    bytes: number;
    l2_bytes: number;
    seconds: number;
    cycles: number;
}

interface Choice {
    label: string;
    command: string;
}

export interface Placed {
    label: string;
    point: Point;
}

const kPrefixes: [number, string][] = [
    [1e15, "P"],
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
];

export function scaled(value: number, unit: string): string {
    const found = kPrefixes.find(([size]) => value >= size);
    return found ? `${(value / found[0]).toPrecision(3)} ${found[1]}${unit}` : `${value.toPrecision(3)} ${unit}`;
}

export const nameOf = (roof: Roof) => (roof.set.length > 0 ? `${roof.machine}, ${roof.set.join(", ")}` : roof.machine);

/// The ceiling that a run's operations have.
export function ceilingOf(point: Point): number {
    const { peaks } = point.roof;
    if (point.precision === "tensor") return peaks.fp16 ?? peaks.bf16;
    return peaks[point.precision] ?? Math.max(...Object.values(peaks));
}

export function Roofline({ parameters }: WidgetProps) {
    const machines = (parameters.machines as string[] | undefined) ?? ["a100"];
    const ceilings = (parameters.ceilings as string[] | undefined) ?? ["fp32", "fp16"];
    const choices = (parameters.runs as Choice[] | undefined) ?? [];
    const { answer, error } = useModel<{ roofs: Roof[] }>("roofline", { machines });
    const [points, setPoints] = useState<Placed[]>([]);
    const [text, setText] = useState(choices[0]?.command ?? "");
    const [running, setRunning] = useState("");
    const [problem, setProblem] = useState("");

    const add = async (label: string, command: string) => {
        setRunning(label);
        setProblem("");
        try {
            const point = await post<Point>("/api/point", { command });
            if (point.bytes <= 0 || point.operations <= 0) throw new Error("This run has no operations, or no bytes cross to memory: it has no place here.");
            setPoints((before) => [...before.filter((one) => one.label !== label), { label, point }]);
        } catch (failure) {
            setProblem((failure as Error).message);
        }
        setRunning("");
    };

    return (
        <section class="widget" aria-label="Roofline">
            {error && <p class="wrong">{error}</p>}
            {answer && <RoofPicture roofs={answer.roofs} ceilings={ceilings} points={points} />}
            <div class="runs">
                {choices.map((choice) => (
                    <button key={choice.label} type="button" class="button" disabled={running !== ""} title={choice.command} onClick={() => add(choice.label, choice.command)}>
                        {running === choice.label ? "Running…" : `+ ${choice.label}`}
                    </button>
                ))}
            </div>
            <form
                class="own"
                onSubmit={(event) => {
                    event.preventDefault();
                    add(text.replace(/^run /, ""), text);
                }}
            >
                <label for="own-run">or a run of your own</label>
                <div class="line">
                    <input id="own-run" value={text} spellcheck={false} autocomplete="off" onInput={(event) => setText(event.currentTarget.value)} />
                    <button type="submit" class="button" disabled={running !== "" || text.trim() === ""}>
                        Add
                    </button>
                </div>
            </form>
            <div role="status" aria-live="polite">
                {problem && <p class="wrong">{problem}</p>}
                {points.length > 0 && <PointTable points={points} forget={() => setPoints([])} />}
            </div>
        </section>
    );
}

function PointTable({ points, forget }: { points: Placed[]; forget: () => void }) {
    return (
        <>
            <div class="scroll" tabIndex={0} role="region" aria-label="Runs">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">run</th>
                            <th scope="col">operations</th>
                            <th scope="col">bytes</th>
                            <th scope="col">op/B</th>
                            <th scope="col">reached</th>
                            <th scope="col">of the roof there</th>
                        </tr>
                    </thead>
                    <tbody>
                        {points.map(({ label, point }, i) => {
                            const intensity = point.operations / point.bytes;
                            const rate = point.operations / point.seconds;
                            const slope = intensity * point.roof.bandwidth;
                            const roof = Math.min(slope, ceilingOf(point));
                            return (
                                <tr key={label}>
                                    <th scope="row">
                                        {i + 1}. {label}
                                    </th>
                                    <td>{scaled(point.operations, "")}</td>
                                    <td>{scaled(point.bytes, "B")}</td>
                                    <td>{intensity.toPrecision(3)}</td>
                                    <td>{scaled(rate, "op/s")}</td>
                                    <td>
                                        {((100 * rate) / roof).toPrecision(2)} % ({slope < ceilingOf(point) ? "memory" : "compute"})
                                    </td>
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            </div>
            <p>
                <button type="button" class="link" onClick={forget}>
                    Remove all points
                </button>
            </p>
        </>
    );
}
