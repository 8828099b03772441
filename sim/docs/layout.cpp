// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/html/plot.h"

namespace lockstep::docs {

namespace {

using html::escape;

std::string link(const Page& from, const Page& to, std::string_view text) {
    return fmt::format("<a href=\"{}\"{}>{}</a>", relative_url(from.url, to.url),
                       &from == &to ? " aria-current=\"page\"" : "", escape(text));
}

std::string rooms_of_page(const Page& page, const Surroundings& site) {
    std::string text;
    for (const Room& room : site.rooms) {
        const bool is_here =
            std::find(room.pages.begin(), room.pages.end(), &page) != room.pages.end();
        const bool is_open = is_here || room.name == "Start";
        text += fmt::format("<details{}><summary>{}</summary><ul>", is_open ? " open" : "",
                            escape(room.name));
        for (const Page* const other : room.pages)
            text += fmt::format("<li>{}</li>", link(page, *other, other->title));
        text += "</ul></details>\n";
    }
    return text;
}

/// The folders above a page; those that have a page are links.
std::string way_back(const Page& page, const Surroundings& site) {
    std::string text = "<ol class=\"way\">";
    const auto front = site.pages.find("README.md");
    if (front == site.pages.end() || front->second == &page) return "";
    text += fmt::format("<li>{}</li>", link(page, *front->second, "Lockstep"));
    std::size_t at = 0;
    for (std::size_t slash; (slash = page.path.find('/', at)) != std::string::npos;
         at = slash + 1) {
        const std::string name = page.path.substr(at, slash - at);
        const auto folder = site.pages.find(page.path.substr(0, slash) + "/README.md");
        const bool is_page = folder != site.pages.end() && folder->second != &page;
        text +=
            fmt::format("<li>{}</li>", is_page ? link(page, *folder->second, name) : escape(name));
    }
    const std::string name = page.path.substr(at);
    if (name != "README.md") text += fmt::format("<li>{}</li>", escape(name));
    return text + "</ol>";
}

std::string contents(const Page& page) {
    constexpr std::size_t kMost = 40;
    const auto count = [&](int level) {
        return std::count_if(page.headings.begin(), page.headings.end(),
                             [&](const Heading& h) { return h.level >= 2 && h.level <= level; });
    };
    const int deepest = static_cast<std::size_t>(count(3)) <= kMost ? 3 : 2;
    if (count(deepest) < 2) return "";
    std::string text =
        "<nav class=\"contents\" aria-label=\"On this page\"><details open><summary>On this "
        "page</summary><ul>";
    for (const Heading& heading : page.headings)
        if (heading.level >= 2 && heading.level <= deepest)
            text += fmt::format("<li class=\"level{}\"><a href=\"#{}\">{}</a></li>", heading.level,
                                heading.anchor, escape(heading.text));
    return text + "</ul></details></nav>";
}

std::string neighbours(const Page& page, const Surroundings& site) {
    std::vector<const Page*> all;
    for (const Room& room : site.rooms) all.insert(all.end(), room.pages.begin(), room.pages.end());
    const auto here = std::find(all.begin(), all.end(), &page);
    std::string text = "<nav class=\"neighbours\" aria-label=\"Previous and next\">";
    if (here != all.begin())
        text += fmt::format("<a rel=\"prev\" href=\"{}\"><small>Previous</small>{}</a>",
                            relative_url(page.url, here[-1]->url), escape(here[-1]->title));
    if (here + 1 < all.end())
        text += fmt::format("<a rel=\"next\" href=\"{}\"><small>Next</small>{}</a>",
                            relative_url(page.url, here[1]->url), escape(here[1]->title));
    return text + "</nav>";
}

constexpr std::string_view kPage =
    R"page(<!doctype html>
<html lang="en" data-root="{root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{root}site/style.css">
<script src="{root}site/site.js"></script>
<script defer src="{root}site/search.js"></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<button type="button" class="menu" aria-expanded="false" aria-controls="rooms">Pages</button>
<a class="home" href="{root}index.html">Lockstep</a>
<form class="search" role="search">
<input type="search" placeholder="Search ( / )" aria-label="Search the documentation" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list" autocomplete="off" spellcheck="false">
<div id="results" role="listbox" aria-label="Results" hidden></div>
<p class="status" role="status"></p>
</form>
<button type="button" class="theme" aria-label="Colours: as the system">Auto</button>
</header>
<nav id="rooms" class="rooms" aria-label="Pages">
{rooms}</nav>
<main id="text" tabindex="-1">
{way}
{contents}
<article>
{text}
</article>
{neighbours}
<footer>{path} &middot; Lockstep {version}</footer>
</main>
</body>
</html>
)page";

}  // namespace

std::string layout(const Page& page, const Surroundings& site) {
    std::string root;
    for (const char c : page.url)
        if (c == '/') root += "../";
    return fmt::format(
        kPage, fmt::arg("root", root),
        fmt::arg("title",
                 escape(page.title == "Lockstep" ? "Lockstep" : page.title + " - Lockstep")),
        fmt::arg("rooms", rooms_of_page(page, site)), fmt::arg("way", way_back(page, site)),
        fmt::arg("contents", contents(page)), fmt::arg("text", page.document.html()),
        fmt::arg("neighbours", neighbours(page, site)), fmt::arg("path", escape(page.path)),
        fmt::arg("version", escape(site.version)));
}

}  // namespace lockstep::docs
