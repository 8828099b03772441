// SPDX-License-Identifier: Apache-2.0
// Texts of labs, which are the program's own.
import { Marked } from "marked";

const marked = new Marked({ gfm: true });

marked.use({
    renderer: {
        // A heading of the text stands below the step's; tables scroll by themselves when narrow.
        heading({ tokens, depth }) {
            return `<h${depth + 2}>${this.parser.parseInline(tokens)}</h${depth + 2}>`;
        },
        link({ href, tokens }) {
            return `<a href="${href}" target="_blank" rel="noopener noreferrer">${this.parser.parseInline(tokens)}</a>`;
        },
    },
});

export function Markdown({ text, inline }: { text: string; inline?: boolean }) {
    const html = inline ? (marked.parseInline(text) as string) : (marked.parse(text) as string);
    const content = { __html: html };
    return inline ? <span dangerouslySetInnerHTML={content} /> : <div class="text" dangerouslySetInnerHTML={content} />;
}
