// SPDX-License-Identifier: Apache-2.0
// A command line of the program: as in a terminal, and run here.
import { useState } from "preact/hooks";

import { type Command, post } from "../api";

interface Props {
    lab: string;
    step: number;
    index: number;
    command: Command;
}

async function outputOf(props: Props, text: string): Promise<string> {
    if (props.command.editable) {
        const run = await post<{ screen: string }>("/api/run", { command: text });
        return run.screen;
    }
    const { lab, step, index } = props;
    const run = await post<{ output: string }>(`/api/labs/${lab}/command`, { step, command: index });
    return run.output;
}

export function CommandLine(props: Props) {
    const { command, lab, step, index } = props;
    const [text, setText] = useState(command.text);
    const [output, setOutput] = useState("");
    const [error, setError] = useState("");
    const [isRunning, setRunning] = useState(false);
    const id = `command-${lab}-${step}-${index}`;

    const submit = async (event: Event) => {
        event.preventDefault();
        if (isRunning) return;
        setRunning(true);
        setError("");
        try {
            setOutput(await outputOf(props, text));
        } catch (problem) {
            setOutput("");
            setError((problem as Error).message);
        }
        setRunning(false);
    };

    return (
        <form class="command" onSubmit={submit}>
            <div class="line">
                <label for={id}>./lockstep</label>
                {command.editable ? (
                    <textarea
                        id={id}
                        rows={1}
                        spellcheck={false}
                        autocapitalize="off"
                        value={text}
                        onInput={(event) => setText(event.currentTarget.value.replace(/\n/g, " "))}
                        onKeyDown={(event) => {
                            if (event.key === "Enter") submit(event);
                        }}
                    />
                ) : (
                    <output id={id}>{text}</output>
                )}
                <button type="submit" class="button" disabled={isRunning}>
                    {isRunning ? "Running…" : "Run"}
                </button>
            </div>
            <div role="status" aria-live="polite">
                {output && (
                    <pre tabIndex={0} aria-label="What the program prints">
                        {output}
                    </pre>
                )}
                {error && <p class="wrong">{error}</p>}
            </div>
        </form>
    );
}
