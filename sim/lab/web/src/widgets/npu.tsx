// SPDX-License-Identifier: Apache-2.0
// A network on the NPU by command: cycles by what the array did, bytes, energy, and what the
// compiler decided. From a run with --schedule and --energy.
import { useEffect, useState } from "preact/hooks";

import { post } from "../api";
import { SelectField } from "./controls";

interface Setting {
    network: string;
    sram: number;
}

interface Step {
    name: string;
    metrics: Record<string, number>;
}

interface Answer {
    screen: string;
    statistics: { totals: Record<string, number>; steps: Step[] };
}

/// Parts of a step's core cycles. What is left is set-up and the pipeline's ends.
const parts: [string, string, string][] = [
    ["active", "the array works", "lockstep__array_active_cycles"],
    ["output", "output pipeline", "stall_cycles.output"],
    ["dma", "waits for transfers", "stall_cycles.dma"],
    ["decode", "weight decoder", "stall_cycles.decode"],
    ["core", "waits for other commands", "stall_cycles.core"],
];
const kCores = 2;
const kMostBars = 24;

function useRun(setting: Setting) {
    const [answer, setAnswer] = useState<Answer>();
    const [error, setError] = useState("");
    const { network, sram } = setting;
    useEffect(() => {
        let isCurrent = true;
        post<Answer>("/api/run", {
            x: network,
            on: "npu_mobile",
            set: [`sram.size=${sram}`],
            no_values: true,
            schedule: true,
            energy: true,
        })
            .then((value) => {
                if (!isCurrent) return;
                setAnswer(value);
                setError("");
            })
            .catch((problem: Error) => isCurrent && setError(problem.message));
        return () => {
            isCurrent = false;
        };
    }, [network, sram]);
    return { answer, error };
}

/// The compiler's lines, "; name: how", by name.
function decisionsOf(screen: string): Map<string, string> {
    const lines = new Map<string, string>();
    for (const line of screen.split("\n")) {
        const colon = line.indexOf(": ");
        if (line.startsWith("; ") && colon > 0) lines.set(line.slice(2, colon), line.slice(colon + 2));
    }
    return lines;
}

export function Npu({ parameters }: { parameters: Record<string, unknown> }) {
    const [setting, setSetting] = useState<Setting>({ network: "digits_cnn", sram: 1 << 20, ...parameters } as Setting);
    const { answer, error } = useRun(setting);
    const sizes = [128, 256, 512, 1024, 2048, 4096];
    return (
        <section class="widget" aria-label="A network on the NPU">
            <div class="controls">
                <SelectField
                    label="network"
                    value={setting.network}
                    options={[
                        ["digits_cnn", "digits_cnn"],
                        ["mobilenet_v2", "mobilenet_v2"],
                        ["resnet18", "resnet18"],
                    ]}
                    change={(network) => setSetting({ ...setting, network })}
                />
                <SelectField
                    label="SRAM"
                    value={String(setting.sram / 1024)}
                    options={sizes.map((size) => [String(size), size < 1024 ? `${size} KiB` : `${size / 1024} MiB`])}
                    change={(size) => setSetting({ ...setting, sram: Number(size) * 1024 })}
                />
            </div>
            {error && <p class="wrong">{error}</p>}
            {answer && <View answer={answer} />}
        </section>
    );
}

const format = (value: number) => Math.round(value).toLocaleString("en-US");
const kib = (bytes: number) => `${(bytes / 1024).toLocaleString("en-US", { maximumFractionDigits: 1 })} KiB`;

function View({ answer }: { answer: Answer }) {
    const { steps, totals } = answer.statistics;
    const [chosen, setChosen] = useState("");
    const longest = [...steps].sort((a, b) => b.metrics.cycles - a.metrics.cycles).slice(0, kMostBars);
    const shown = steps.filter((step) => longest.includes(step));
    const most = Math.max(...shown.map((step) => step.metrics.cycles));
    const step = steps.find(({ name }) => name === chosen) ?? longest[0];
    const sum = (metric: string) => steps.reduce((total, { metrics }) => total + (metrics[metric] ?? 0), 0);
    const energy = sum("energy.total");
    const share = (metric: string) => `${((100 * sum(metric)) / energy).toFixed(0)} %`;
    return (
        <>
            <ul class="bars" aria-label="Steps by cycles">
                {shown.map(({ name, metrics }) => (
                    <li key={name}>
                        <button type="button" class="bar-row" aria-pressed={name === step.name} onClick={() => setChosen(name)}>
                            <span class="bar-name">{name}</span>
                            <Bar metrics={metrics} most={most} />
                            <span class="bar-value">{format(metrics.cycles)}</span>
                        </button>
                    </li>
                ))}
            </ul>
            {steps.length > shown.length && <p class="note">and {steps.length - shown.length} shorter steps</p>}
            <div class="legend">
                {parts.map(([kind, label]) => (
                    <span key={kind} class={`key part-key ${kind}`}>
                        {label}
                    </span>
                ))}
            </div>
            <p class="summary" role="status">
                <b>{format(totals.cycles)} cycles</b>{" "}
                <span class="muted">
                    in {steps.length} steps; {kib(sum("dram_bytes_read"))} read from DRAM, {kib(sum("dram_bytes_write"))} written;{" "}
                    {(energy * 1e6).toPrecision(3)} µJ: DRAM {share("energy.dram")}, SRAM {share("energy.sram")}, multiplications{" "}
                    {share("energy.mac_array")}, leakage {share("energy.leakage")}.
                </span>
            </p>
            <Details step={step} decision={decisionsOf(answer.screen).get(step.name)} />
        </>
    );
}

/// The parts one after the other; the whole is the step's time in all cores.
function Bar({ metrics, most }: { metrics: Record<string, number>; most: number }) {
    const width = (100 * metrics.cycles) / most;
    // What a core waits for may be counted twice, where two things keep it: the bar stays the step's time.
    const counted = parts.reduce((sum, [, , metric]) => sum + (metrics[metric] ?? 0), 0);
    const whole = Math.max(counted, kCores * metrics.cycles);
    let at = 0;
    return (
        <svg class="bar-track" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <rect class="part rest" width={width} height={10} />
            {parts.map(([kind, , metric]) => {
                const part = (width * (metrics[metric] ?? 0)) / whole;
                const x = at;
                at += part;
                return <rect key={kind} class={`part ${kind}`} x={x} width={part} height={10} />;
            })}
        </svg>
    );
}

function Details({ step, decision }: { step: Step; decision?: string }) {
    const { metrics } = step;
    return (
        <div class="note details">
            <p>
                <b>{step.name}</b>
                {decision && <>: {decision}.</>}
            </p>
            <p>
                {format(metrics.macs)} multiply-adds, {metrics["array_utilization.pct"].toFixed(1)} % of what the array could do; array works{" "}
                {metrics["lockstep__array_active.pct"].toFixed(1)} % of the time; {kib(metrics.dram_bytes_read)} read from DRAM,{" "}
                {kib(metrics.dram_bytes_write)} written.
            </p>
        </div>
    );
}
