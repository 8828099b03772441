// SPDX-License-Identifier: Apache-2.0
// The lanes of a warp over its instructions, with the control bits that the compiler gave each, and
// what the warp waited for. From traces of the cycle model.
import { useEffect, useRef, useState } from "preact/hooks";

import { NumberField, Scrubber, SelectField } from "./controls";
import { useModel } from "./use_model";

interface Setting {
    kernel: string;
    split: number;
    work: number;
    warp: number;
    machine: string;
}

interface Control {
    stall: number;
    yield: boolean;
    write: number | null;
    read: number | null;
    wait: number;
    reuse: number;
}

interface Issue {
    cycle: number;
    address: number;
    text: string;
    lanes: number;
    waits: [string, number][];
    control?: Control;
}

interface Run {
    kernel: string;
    machine: string;
    issues: Issue[];
    metrics: Record<string, number>;
}

const kDefault: Setting = { kernel: "sides", split: 16, work: 4, warp: 0, machine: "a100" };

export function Warp({ parameters }: { parameters: Record<string, unknown> }) {
    const [setting, setSetting] = useState<Setting>({ ...kDefault, ...parameters } as Setting);
    const [at, setAt] = useState(0);
    const { answer: run, error } = useModel<Run>("warp", { ...setting });
    const set = (change: Partial<Setting>) => setSetting({ ...setting, ...change });
    return (
        <section class="widget" aria-label="A warp's lanes over time">
            <div class="controls">
                <SelectField
                    label="kernel"
                    value={setting.kernel}
                    options={[
                        ["sides", "divergence_sides"],
                        ["warps", "divergence_warps"],
                        ["loop", "divergence_loop"],
                        ["nested", "divergence_nested"],
                    ]}
                    change={(kernel) => set({ kernel })}
                />
                <NumberField label="split" value={setting.split} least={1} most={32} change={(split) => set({ split })} />
                <NumberField label="work" value={setting.work} least={1} most={64} change={(work) => set({ work })} />
                <NumberField label="warp (of 4)" value={setting.warp} least={0} most={3} change={(warp) => set({ warp })} />
                <SelectField
                    label="machine"
                    value={setting.machine}
                    options={[
                        ["a100", "a100"],
                        ["h200", "h200"],
                    ]}
                    change={(machine) => set({ machine })}
                />
            </div>
            {error && <p class="wrong">{error}</p>}
            {run && <View run={run} at={Math.min(at, run.issues.length - 1)} setAt={setAt} />}
        </section>
    );
}

const countOf = (lanes: number) => Array.from({ length: 32 }, (_, lane) => (lanes >>> lane) & 1).reduce((sum, bit) => sum + bit, 0);
const hex = (address: number) => address.toString(16).padStart(4, "0");

/// The lanes in words: "all 32 lanes", "lanes 0-15".
function rangesOf(lanes: number): string {
    if (lanes >>> 0 === 0xffffffff) return "all 32 lanes";
    if (lanes === 0) return "no lane";
    const ranges: string[] = [];
    for (let lane = 0; lane < 32; lane++) {
        if (!((lanes >>> lane) & 1)) continue;
        const first = lane;
        while (lane < 31 && (lanes >>> (lane + 1)) & 1) lane++;
        ranges.push(first === lane ? String(first) : `${first}-${lane}`);
    }
    return ranges.length > 4 ? `${countOf(lanes)} lanes` : `lanes ${ranges.join(", ")}`;
}

const waitsOf = (issue: Issue) => issue.waits.map(([state, cycles]) => `${state} ${cycles}`).join(", ");

function barriersOf(mask: number): string {
    return Array.from({ length: 6 }, (_, i) => i)
        .filter((i) => (mask >> i) & 1)
        .join(", ");
}

function View({ run, at, setAt }: { run: Run; at: number; setAt: (at: number) => void }) {
    const issue = run.issues[at];
    const executed = run.issues.length;
    const active = run.issues.reduce((sum, { lanes }) => sum + countOf(lanes), 0);
    const span = run.issues[executed - 1].cycle - run.issues[0].cycle + 1;
    const summary = `Cycle ${issue.cycle}: ${issue.text}, ${rangesOf(issue.lanes)}`;
    return (
        <>
            <Lanes run={run} at={at} setAt={setAt} />
            <Scrubber label="instruction" value={at} last={executed - 1} text={summary} change={setAt} milliseconds={300} />
            <p class="summary" role="status">
                {summary}.{" "}
                <span class="muted">
                    This warp: {executed} instructions in {span} cycles, {((100 * active) / executed / 32).toFixed(1)} % of their lanes active. All
                    warps: {run.metrics["smsp__inst_executed.sum"]} instructions,{" "}
                    {run.metrics["smsp__thread_inst_executed_per_inst_executed.ratio"]?.toFixed(2)} lanes an instruction.
                </span>
            </p>
            <Listing run={run} at={at} setAt={setAt} />
        </>
    );
}

/// A column an instruction, a row a lane.
function Lanes({ run, at, setAt }: { run: Run; at: number; setAt: (at: number) => void }) {
    const size = Math.max(5, Math.min(13, 720 / run.issues.length));
    const height = 7;
    const left = 30;
    const width = left + run.issues.length * size + 2;
    return (
        <div class="picture" tabIndex={0} role="group" aria-label="Lanes by instruction">
            <svg
                role="img"
                aria-label={`Lanes of ${run.issues.length} instructions; the table below has them`}
                viewBox={`0 0 ${width} ${32 * height + 4}`}
                style={`min-width: ${Math.min(width, 900)}px; max-width: ${width}px`}
            >
                {[0, 8, 16, 24, 31].map((lane) => (
                    <text key={lane} class="address small" x={left - 6} y={lane * height + 8}>
                        {lane}
                    </text>
                ))}
                {run.issues.map((issue, i) => (
                    <g key={i} class={i === at ? "column now" : "column"} transform={`translate(${left + i * size} 2)`} onClick={() => setAt(i)}>
                        <rect class="hit" width={size} height={32 * height} />
                        {Array.from(
                            { length: 32 },
                            (_, lane) =>
                                ((issue.lanes >>> lane) & 1) === 1 && (
                                    <rect key={lane} class="lane-on" x={0.5} y={lane * height + 0.5} width={size - 1} height={height - 1} rx={1} />
                                ),
                        )}
                    </g>
                ))}
            </svg>
        </div>
    );
}

function Listing({ run, at, setAt }: { run: Run; at: number; setAt: (at: number) => void }) {
    const now = useRef<HTMLTableRowElement>(null);
    const box = useRef<HTMLDivElement>(null);
    useEffect(() => {
        if (!now.current || !box.current) return;
        box.current.scrollTop = now.current.offsetTop - box.current.clientHeight / 2;
    }, [at, run]);
    return (
        <div class="scroll listing" ref={box} tabIndex={0} role="region" aria-label="Instructions with their control bits">
            <table>
                <thead>
                    <tr>
                        <th scope="col">cycle</th>
                        <th scope="col">waited for</th>
                        <th scope="col">lanes</th>
                        <th scope="col">instruction</th>
                        <th scope="col">stall</th>
                        <th scope="col">sets</th>
                        <th scope="col">waits on</th>
                    </tr>
                </thead>
                <tbody>
                    {run.issues.map((issue, i) => (
                        <tr key={i} ref={i === at ? now : undefined} class={i === at ? "now" : undefined} onClick={() => setAt(i)}>
                            <td>{issue.cycle}</td>
                            <td>{waitsOf(issue)}</td>
                            <td>{countOf(issue.lanes)}</td>
                            <td>
                                <code>
                                    {hex(issue.address)} {issue.text}
                                </code>
                            </td>
                            <td>{issue.control?.stall}</td>
                            <td>{[issue.control?.write, issue.control?.read].filter((barrier) => barrier != null).join(", ")}</td>
                            <td>{issue.control && barriersOf(issue.control.wait)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
