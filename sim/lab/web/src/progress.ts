// SPDX-License-Identifier: Apache-2.0
// What was answered, in this browser.
import type { Answer, Verdict } from "./api";

export interface Kept extends Verdict {
    answer: Answer;
}

const prefix = "lockstep-lab:";
const listeners = new Set<() => void>();

export function kept(lab: string): Record<string, Kept> {
    try {
        return JSON.parse(localStorage.getItem(prefix + lab) ?? "{}");
    } catch {
        return {};
    }
}

export function keep(lab: string, question: string, value: Kept) {
    localStorage.setItem(prefix + lab, JSON.stringify({ ...kept(lab), [question]: value }));
    listeners.forEach((listener) => listener());
}

export function forget(lab: string) {
    localStorage.removeItem(prefix + lab);
    listeners.forEach((listener) => listener());
}

export function rightOf(lab: string, questions: string[]): number {
    const answers = kept(lab);
    return questions.filter((question) => answers[question]?.right).length;
}

/// Calls `listener` at each change, until the function that it returns is called.
export function onProgress(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
}
