// SPDX-License-Identifier: Apache-2.0
// Controls that widgets share.
import { useEffect, useId, useState } from "preact/hooks";

interface NumberProps {
    label: string;
    value: number;
    least: number;
    most: number;
    change: (value: number) => void;
}

export function NumberField({ label, value, least, most, change }: NumberProps) {
    const id = useId();
    const [text, setText] = useState(String(value));
    useEffect(() => setText(String(value)), [value]);
    return (
        <span class="control">
            <label for={id}>{label}</label>
            <input
                id={id}
                type="number"
                min={least}
                max={most}
                value={text}
                onInput={(event) => {
                    setText(event.currentTarget.value);
                    const number = Number(event.currentTarget.value);
                    if (Number.isInteger(number) && number >= least && number <= most) change(number);
                }}
            />
        </span>
    );
}

interface SelectProps {
    label: string;
    value: string;
    options: [string, string][];
    change: (value: string) => void;
}

export function SelectField({ label, value, options, change }: SelectProps) {
    const id = useId();
    return (
        <span class="control">
            <label for={id}>{label}</label>
            <select id={id} value={value} onChange={(event) => change(event.currentTarget.value)}>
                {options.map(([name, text]) => (
                    <option key={name} value={name}>
                        {text}
                    </option>
                ))}
            </select>
        </span>
    );
}

interface ScrubberProps {
    label: string;
    value: number;
    last: number;
    text: string;
    change: (value: number) => void;
    milliseconds?: number;
}

/// Steps, plays and scrubs from 0 to `last`. Arrow keys on the slider step.
export function Scrubber({ label, value, last, text, change, milliseconds = 450 }: ScrubberProps) {
    const [isPlaying, setPlaying] = useState(false);
    useEffect(() => {
        if (!isPlaying) return;
        if (value >= last) {
            setPlaying(false);
            return;
        }
        const timer = setTimeout(() => change(value + 1), milliseconds);
        return () => clearTimeout(timer);
    }, [isPlaying, value, last]);
    const play = () => {
        if (value >= last) change(0);
        setPlaying(!isPlaying);
    };
    return (
        <div class="scrubber">
            <button type="button" class="button" onClick={play} aria-pressed={isPlaying}>
                {isPlaying ? "Pause" : "Play"}
            </button>
            <button type="button" class="button" aria-label={`${label} before`} disabled={value <= 0} onClick={() => change(value - 1)}>
                ‹
            </button>
            <input
                type="range"
                min={0}
                max={last}
                value={value}
                aria-label={label}
                aria-valuetext={text}
                onInput={(event) => change(Number(event.currentTarget.value))}
            />
            <button type="button" class="button" aria-label={`${label} after`} disabled={value >= last} onClick={() => change(value + 1)}>
                ›
            </button>
            <output>
                {label} {value} <span class="of">of {last}</span>
            </output>
        </div>
    );
}
