// SPDX-License-Identifier: Apache-2.0
// The wires of a systolic array by cycle, from the SystemC netlist. What enters next waits at its
// edges, as the skewed queues that feed a real array.
import { useState } from "preact/hooks";

import { NumberField, Scrubber, SelectField } from "./controls";
import { ArrayPicture } from "./systolic_picture";
import { type Run, isBusy, stateOf, workOf } from "./systolic_run";
import { useModel } from "./use_model";

interface Setting {
    m: number;
    n: number;
    k: number;
    rows: number;
    columns: number;
    dataflow: string;
    overlap: string;
    values: string;
}

const kDefault: Setting = { m: 3, n: 2, k: 2, rows: 2, columns: 2, dataflow: "ws", overlap: "none", values: "small" };

export function Systolic({ parameters }: { parameters: Record<string, unknown> }) {
    const [setting, setSetting] = useState<Setting>({ ...kDefault, ...parameters });
    const [cycle, setCycle] = useState(0);
    const [chosen, setChosen] = useState(0);
    const { answer: run, error } = useModel<Run>("systolic", { ...setting });
    const set = (change: Partial<Setting>) => setSetting({ ...setting, ...change });
    const size = (label: string, name: "m" | "n" | "k" | "rows" | "columns", most: number) => (
        <NumberField label={label} value={setting[name]} least={1} most={most} change={(value) => set({ [name]: value })} />
    );
    return (
        <section class="widget" aria-label="Wires of a systolic array">
            <div class="controls">
                {size("m", "m", 64)}
                {size("n", "n", 64)}
                {size("k", "k", 64)}
                {size("rows", "rows", 16)}
                {size("columns", "columns", 16)}
                <SelectField
                    label="dataflow"
                    value={setting.dataflow}
                    options={[
                        ["ws", "weights stay"],
                        ["os", "outputs stay"],
                        ["is", "inputs stay"],
                    ]}
                    change={(dataflow) => set({ dataflow })}
                />
                <SelectField
                    label="overlap"
                    value={setting.overlap}
                    options={[
                        ["none", "none"],
                        ["drain", "drain"],
                        ["double", "double"],
                    ]}
                    change={(overlap) => set({ overlap })}
                />
                <SelectField
                    label="numbers"
                    value={setting.values}
                    options={[
                        ["small", "1 to 9"],
                        ["run", "as run has"],
                    ]}
                    change={(values) => set({ values })}
                />
            </div>
            {error && <p class="wrong">{error}</p>}
            {run && (
                <View
                    run={run}
                    cycle={Math.min(cycle, run.frames.length - 1)}
                    setCycle={setCycle}
                    chosen={Math.min(chosen, run.rows * run.columns - 1)}
                    setChosen={setChosen}
                />
            )}
        </section>
    );
}

interface ViewProps {
    run: Run;
    cycle: number;
    setCycle: (cycle: number) => void;
    chosen: number;
    setChosen: (pe: number) => void;
}

function View({ run, cycle, setCycle, chosen, setChosen }: ViewProps) {
    const busy = run.frames[cycle].filter(isBusy).length;
    const pes = run.rows * run.columns;
    const last = run.frames.length - 1;
    const summary =
        cycle >= run.cycles ? `Cycle ${cycle}: the last sums are on their wires` : `Cycle ${cycle}: ${busy} of ${pes} PEs multiply`;
    return (
        <>
            <ArrayPicture run={run} cycle={cycle} chosen={chosen} choose={setChosen} summary={summary} />
            <BusyChart run={run} cycle={cycle} choose={setCycle} />
            <Scrubber label="cycle" value={cycle} last={last} text={summary} change={setCycle} />
            <p class="summary" role="status">
                {summary}.{" "}
                <span class="muted">
                    {run.cycles} cycles: stream {run.use.stream}, load {run.use.load}, skew {run.use.skew}; utilization{" "}
                    {run.use.utilization.toFixed(2)} %; folds {run.folds.rows} × {run.folds.columns}.
                </span>
            </p>
            <div class="legend" aria-hidden="true">
                <span class="key multiply">multiplies</span>
                <span class="key load">{run.dataflow === "os" ? "passes results on" : "loads"}</span>
                <span class="key idle">idle</span>
            </div>
            <PeTable run={run} cycle={cycle} chosen={chosen} choose={setChosen} />
        </>
    );
}

/// PEs that multiply, by cycle: fill, stream and drain at a glance.
function BusyChart({ run, cycle, choose }: { run: Run; cycle: number; choose: (cycle: number) => void }) {
    const pes = run.rows * run.columns;
    const count = run.frames.length;
    const height = 44;
    return (
        <svg
            class="busy"
            viewBox={`0 0 ${count} ${height}`}
            preserveAspectRatio="none"
            aria-hidden="true"
            onClick={(event) => {
                const box = event.currentTarget.getBoundingClientRect();
                choose(Math.min(count - 1, Math.floor(((event.clientX - box.left) / box.width) * count)));
            }}
        >
            {run.frames.map((frame, i) => {
                const part = (frame.filter(isBusy).length / pes) * height;
                return (
                    <g key={i}>
                        <rect x={i} y={0} width={1} height={height} class="hit" />
                        <rect x={i + 0.06} y={height - part} width={0.88} height={part} class={i === cycle ? "bar now" : "bar"} />
                    </g>
                );
            })}
            <rect x={cycle} y={0} width={1} height={height} class="cursor" />
        </svg>
    );
}

/// The picture's alternative: all wires of a PE, or a row a PE.
function PeTable({ run, cycle, chosen, choose }: { run: Run; cycle: number; chosen: number; choose: (pe: number) => void }) {
    const pe = run.frames[cycle][chosen];
    const names = pe.length === 7 ? run.wires.slice(0, 6) : [];
    return (
        <>
            <p class="detail">
                <SelectField
                    label="PE"
                    value={String(chosen)}
                    options={run.frames[0].map((_, i) => [String(i), `(${Math.floor(i / run.columns)}, ${i % run.columns})`])}
                    change={(value) => choose(Number(value))}
                />
                {names.map((name, i) => (
                    <span key={name} class="wire">
                        <span class="muted">{name}</span> <b>{pe[i]}</b>
                    </span>
                ))}
                <span class="wire">{workOf(run, pe)}</span>
            </p>
            <details>
                <summary>This cycle as a table</summary>
                <div class="scroll" tabIndex={0} role="region" aria-label={`Wires in cycle ${cycle}`}>
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">PE</th>
                                {names.map((name) => (
                                    <th key={name} scope="col">
                                        {name}
                                    </th>
                                ))}
                                <th scope="col">does</th>
                            </tr>
                        </thead>
                        <tbody>
                            {run.frames[cycle].map((wires, i) => (
                                <tr key={i}>
                                    <th scope="row">
                                        {Math.floor(i / run.columns)}, {i % run.columns}
                                    </th>
                                    {wires.slice(0, 6).map((value, j) => (
                                        <td key={j}>{value}</td>
                                    ))}
                                    <td>{stateOf(run, wires)}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            </details>
        </>
    );
}
