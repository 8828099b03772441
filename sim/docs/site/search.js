// SPDX-License-Identifier: Apache-2.0
// Search in the browser over site/index.js, which is loaded when the field is first used. A section
// is found if it has every word of the query, each as the beginning of a word of its own.
'use strict';
const lockstepSearch = (() => {
    const kMost = 20;

    // The words of a text, as words_of() of search_index.cpp finds them (the parts between
    // underscores are in the index).
    const wordsOf = text => text.toLowerCase().match(/[a-z0-9_]+/g) || [];

    // The first term that is not before `word`; terms are sorted by bytes, and so by UTF-16 units.
    const firstFrom = (terms, word) => {
        let low = 0, high = terms.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (terms[middle] < word) low = middle + 1;
            else high = middle;
        }
        return low;
    };

    // Section -> score of one word: a whole word counts most, a long rest behind it less.
    const scoresOf = (index, word) => {
        const scores = new Map();
        const count = index.sections.length;
        for (let i = firstFrom(index.terms, word); i < index.terms.length; ++i) {
            const term = index.terms[i];
            if (!term.startsWith(word)) break;
            const list = index.postings[i];
            const rarity = Math.log(1 + count / (list.length / 2));
            const share = term === word ? 1 : 0.6 * word.length / term.length;
            for (let j = 0; j < list.length; j += 2) {
                const score = list[j + 1] * rarity * share;
                if (score > (scores.get(list[j]) || 0)) scores.set(list[j], score);
            }
        }
        return scores;
    };

    // The sections that have all words, best first; equal ones in the order of the site.
    const find = (index, query) => {
        const words = [...new Set(wordsOf(query))];
        if (words.length === 0) return [];
        const scores = words.map(word => scoresOf(index, word)).sort((a, b) => a.size - b.size);
        const found = [];
        for (const [section, score] of scores[0]) {
            let total = score;
            const has = scores.slice(1).every(other => {
                total += other.get(section) || 0;
                return other.has(section);
            });
            if (has) found.push([section, total]);
        }
        return found.sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([section]) => section);
    };

    // The part of a text around the first of the words, cut between words.
    const excerpt = (text, words) => {
        const lower = text.toLowerCase();
        const places = words.map(word => lower.search(new RegExp('(^|[^a-z0-9])' + word))).filter(at => at >= 0);
        const at = places.length ? Math.min(...places) : 0;
        let from = Math.max(0, at - 50), to = Math.min(text.length, from + 170);
        if (from > 0) from = text.indexOf(' ', from) + 1 || from;
        if (to < text.length) to = Math.max(text.lastIndexOf(' ', to), from + 60);
        return (from > 0 ? '… ' : '') + text.slice(from, to) + (to < text.length ? ' …' : '');
    };

    return {wordsOf, find, excerpt, kMost};
})();

if (typeof document !== 'undefined') document.addEventListener('DOMContentLoaded', () => {
    const {wordsOf, find, excerpt, kMost} = lockstepSearch;
    const root = document.documentElement.dataset.root;
    const form = document.querySelector('.search'), input = form.querySelector('input');
    const list = document.getElementById('results'), status = form.querySelector('.status');
    let chosen = -1, loading = null;

    const load = () => loading = loading || new Promise((resolve, reject) => {
        const script = document.createElement('script');
        script.src = root + 'site/index.js';
        script.onload = () => resolve(window.lockstepIndex);
        script.onerror = () => reject(new Error('site/index.js'));
        document.head.append(script);
    });

    const close = () => {
        list.hidden = true;
        chosen = -1;
        input.setAttribute('aria-expanded', 'false');
        input.removeAttribute('aria-activedescendant');
    };

    // Text with the words marked that begin as one of the query's does.
    const marked = (element, text, words) => {
        const pattern = new RegExp('(?<![a-z0-9])(' + words.join('|') + ')', 'gi');
        let at = 0;
        for (const match of text.matchAll(pattern)) {
            element.append(text.slice(at, match.index));
            const mark = document.createElement('mark');
            mark.textContent = match[0];
            element.append(mark);
            at = match.index + match[0].length;
        }
        element.append(text.slice(at));
        return element;
    };

    const resultOf = (index, number, i, words) => {
        const [page, anchor, title, text] = index.sections[number];
        const [url, pageTitle, room] = index.pages[page];
        const link = document.createElement('a');
        link.href = root + url + '#' + anchor;
        link.id = 'result' + i;
        link.tabIndex = -1;
        link.setAttribute('role', 'option');
        link.setAttribute('aria-selected', 'false');
        const place = document.createElement('small');
        place.textContent = room + (title === pageTitle ? '' : ' › ' + pageTitle);
        link.append(place, marked(document.createElement('b'), title, words),
                    marked(document.createElement('span'), excerpt(text, words), words));
        link.addEventListener('mousemove', () => choose(i));
        link.addEventListener('click', close);
        return link;
    };

    const choose = to => {
        const links = list.querySelectorAll('a');
        if (links.length === 0) return;
        if (chosen >= 0) links[chosen].setAttribute('aria-selected', 'false');
        chosen = (to + links.length) % links.length;
        links[chosen].setAttribute('aria-selected', 'true');
        links[chosen].scrollIntoView({block: 'nearest'});
        input.setAttribute('aria-activedescendant', links[chosen].id);
    };

    const say = text => {
        const line = document.createElement('div');
        line.className = 'none';
        line.textContent = text;
        list.append(line);
    };

    const show = async () => {
        const query = input.value, words = [...new Set(wordsOf(query))];
        if (words.length === 0) return close();
        let index;
        try {
            index = await load();
        } catch (error) {
            list.replaceChildren();
            say(error.message + ' cannot be loaded');
            list.hidden = false;
            return;
        }
        if (query !== input.value) return;  // typed on while the index came
        const found = find(index, query);
        close();
        list.replaceChildren(...found.slice(0, kMost).map((section, i) => resultOf(index, section, i, words)));
        if (found.length === 0) say('No page has ' + (words.length > 1 ? 'all of ' : '') + words.join(', '));
        if (found.length > kMost) say(`and ${found.length - kMost} more: add a word`);
        status.textContent = `${found.length} result${found.length === 1 ? '' : 's'}`;
        list.hidden = false;
        input.setAttribute('aria-expanded', 'true');
        choose(0);
    };

    form.addEventListener('submit', event => event.preventDefault());
    input.addEventListener('focus', () => load().catch(() => {}));
    input.addEventListener('input', show);
    input.addEventListener('keydown', event => {
        if (event.key === 'Escape') {
            if (list.hidden) input.blur();
            close();
        } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            if (list.hidden) show();
            else choose(chosen + (event.key === 'ArrowDown' ? 1 : -1));
        } else if (event.key === 'Enter') {  // may come before the index has
            (chosen >= 0 ? Promise.resolve() : show()).then(() => { if (chosen >= 0) list.querySelectorAll('a')[chosen].click(); });
        } else {
            return;
        }
        event.preventDefault();
    });
    document.addEventListener('click', event => { if (!form.contains(event.target)) close(); });
    document.addEventListener('keydown', event => {
        const typing = event.target.matches('input, textarea, select, [contenteditable]');
        if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        input.focus();
        input.select();
    });
});
