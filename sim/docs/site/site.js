// SPDX-License-Identifier: Apache-2.0
// Colours, the list of pages on a phone, meanings of terms, copying of commands, and where in the
// page the reader is. Without this script all text is there and every link works.
'use strict';
(() => {
    const root = document.documentElement;
    root.classList.add('script');

    // The choice is kept where the browser lets a page keep anything (from a file, some do not).
    const kept = {
        get() { try { return localStorage.getItem('lockstep-theme'); } catch { return null; } },
        set(theme) { try { localStorage.setItem('lockstep-theme', theme); } catch { /* this page only */ } },
    };
    const themes = ['auto', 'light', 'dark'];
    const names = {auto: 'as the system', light: 'light', dark: 'dark'};
    let theme = themes.includes(kept.get()) ? kept.get() : 'auto';
    const showTheme = () => {
        if (theme === 'auto') delete root.dataset.theme;
        else root.dataset.theme = theme;
    };
    showTheme();

    const addThemes = () => {
        const button = document.querySelector('.theme');
        const label = () => {
            button.textContent = theme[0].toUpperCase() + theme.slice(1);
            button.setAttribute('aria-label', 'Colours: ' + names[theme]);
        };
        label();
        button.onclick = () => {
            theme = themes[(themes.indexOf(theme) + 1) % themes.length];
            kept.set(theme);
            showTheme();
            label();
        };
    };

    const addMenu = () => {
        const button = document.querySelector('.menu'), rooms = document.getElementById('rooms');
        const open = is => {
            rooms.classList.toggle('open', is);
            button.setAttribute('aria-expanded', is);
        };
        button.onclick = () => open(!rooms.classList.contains('open'));
        document.addEventListener('keydown', event => {
            if (event.key !== 'Escape' || !rooms.classList.contains('open')) return;
            open(false);
            button.focus();
        });
        const here = rooms.querySelector('[aria-current]');
        if (here && here.offsetTop > rooms.clientHeight) rooms.scrollTop = here.offsetTop - rooms.clientHeight / 2;
    };

    const addMeanings = () => {
        let box = null;
        const hide = () => {
            if (box) box.remove();
            box = null;
        };
        const show = term => {
            hide();
            box = document.createElement('div');
            box.className = 'meaning';
            box.id = 'meaning';
            box.setAttribute('role', 'tooltip');
            box.textContent = term.dataset.meaning;
            document.body.append(box);
            term.setAttribute('aria-describedby', 'meaning');
            const at = term.getBoundingClientRect();
            const left = Math.max(8, Math.min(at.left, root.clientWidth - box.offsetWidth - 8));
            const below = at.bottom + box.offsetHeight + 12 < innerHeight;
            box.style.left = left + scrollX + 'px';
            box.style.top = (below ? at.bottom + 6 : at.top - box.offsetHeight - 6) + scrollY + 'px';
        };
        for (const term of document.querySelectorAll('.term')) {
            term.addEventListener('mouseenter', () => show(term));
            term.addEventListener('focus', () => show(term));
            term.addEventListener('mouseleave', hide);
            term.addEventListener('blur', hide);
        }
        document.addEventListener('keydown', event => { if (event.key === 'Escape') hide(); });
    };

    // Of a session only the commands are copied.
    const commands = pre => {
        const text = pre.textContent.replace(/\n$/, '');
        if (!('shell' in pre.dataset) || !text.startsWith('$ ')) return text;
        const lines = [];
        let continues = false;
        for (const line of text.split('\n')) {
            if (line.startsWith('$ ')) lines.push(line.slice(2));
            else if (continues) lines.push(line);
            continues = line.endsWith('\\') && (continues || line.startsWith('$ '));
        }
        return lines.join('\n');
    };
    const copy = async text => {
        try {
            await navigator.clipboard.writeText(text);
            return true;
        } catch { return false; }
    };
    const addCopies = () => {
        for (const block of document.querySelectorAll('.code')) {
            const pre = block.querySelector('pre'), button = document.createElement('button');
            button.type = 'button';
            button.className = 'copy';
            button.textContent = 'Copy';
            button.onclick = async () => {
                button.textContent = await copy(commands(pre)) ? 'Copied' : 'Not allowed';
                setTimeout(() => { button.textContent = 'Copy'; }, 1500);
            };
            block.append(button);
        }
    };

    const addContents = () => {
        const contents = document.querySelector('.contents');
        if (!contents) return;
        const narrow = matchMedia('(max-width: 1240px)');
        const fold = () => { contents.firstElementChild.open = !narrow.matches; };
        narrow.addEventListener('change', fold);
        fold();
        const links = [...contents.querySelectorAll('a')];
        const heads = links.map(link => document.getElementById(decodeURIComponent(link.hash.slice(1))));
        let waits = false;
        const follow = () => {
            waits = false;
            let here = heads.findLastIndex(head => head.getBoundingClientRect().top < 120);
            const atEnd = innerHeight + scrollY >= root.scrollHeight - 2;
            if (atEnd && scrollY > 0) here = links.length - 1;
            links.forEach((link, i) => link.classList.toggle('here', i === here));
        };
        addEventListener('scroll', () => {
            if (!waits) requestAnimationFrame(follow);
            waits = true;
        }, {passive: true});
        follow();
    };

    document.addEventListener('DOMContentLoaded', () => {
        addThemes();
        addMenu();
        addMeanings();
        addCopies();
        addContents();
    });
})();
