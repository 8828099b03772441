// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";

import { widget } from "../api";

/// Asks the model for `request`, again when it changes, a moment after the last change. Keeps the
/// answer before until the next is there.
export function useModel<T>(name: string, request: Record<string, unknown>) {
    const [answer, setAnswer] = useState<T>();
    const [error, setError] = useState("");
    const text = JSON.stringify(request);
    useEffect(() => {
        let isCurrent = true;
        const timer = setTimeout(async () => {
            try {
                const value = await widget<T>(name, JSON.parse(text));
                if (!isCurrent) return;
                setAnswer(value);
                setError("");
            } catch (problem) {
                if (isCurrent) setError((problem as Error).message);
            }
        }, 120);
        return () => {
            isCurrent = false;
            clearTimeout(timer);
        };
    }, [name, text]);
    return { answer, error };
}
