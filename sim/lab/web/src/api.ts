// SPDX-License-Identifier: Apache-2.0
// The program's answers (sim/lab/README.md documents them).

export interface LabHead {
    name: string;
    title: string;
    goal: string;
    minutes: number;
    steps: number;
    questions: string[];
}

export interface Choice {
    id: string;
    text: string;
}

export interface Question {
    id: string;
    kind: "number" | "choice" | "several" | "text";
    ask: string;
    unit?: string;
    tolerance?: { relative: number; absolute: number; because: string };
    choices?: Choice[];
}

export interface Command {
    text: string;
    editable: boolean;
}

export interface Step {
    title: string;
    text: string;
    widget?: { name: string; parameters: Record<string, unknown> };
    commands: Command[];
    questions: Question[];
}

export interface Lab {
    name: string;
    title: string;
    goal: string;
    minutes: number;
    sheet: string;
    steps: Step[];
}

export interface Verdict {
    right: boolean;
    text: string;
}

export type Answer = string | string[];

async function answerOf<T>(request: Promise<Response>): Promise<T> {
    let response: Response;
    try {
        response = await request;
    } catch {
        throw new Error("The program does not answer. Is ./lockstep lab still running?");
    }
    const value = await response.json().catch(() => ({ error: response.statusText }));
    if (!response.ok) throw new Error(value.error ?? response.statusText);
    return value as T;
}

export function get<T>(path: string): Promise<T> {
    return answerOf<T>(fetch(path));
}

export function post<T>(path: string, body: unknown): Promise<T> {
    const headers = { "Content-Type": "application/json" };
    return answerOf<T>(fetch(path, { method: "POST", headers, body: JSON.stringify(body) }));
}

const labs = new Map<string, Promise<Lab>>();

export function getLab(name: string): Promise<Lab> {
    let lab = labs.get(name);
    if (!lab) {
        lab = get<Lab>(`/api/labs/${name}`);
        lab.catch(() => labs.delete(name));
        labs.set(name, lab);
    }
    return lab;
}

export const getLabs = () => get<LabHead[]>("/api/labs");

export const check = (lab: string, question: string, answer: Answer) =>
    post<Verdict>(`/api/labs/${lab}/check`, { question, answer });

export const widget = <T>(name: string, parameters: Record<string, unknown>) =>
    post<T>(`/api/widget/${name}`, parameters);
