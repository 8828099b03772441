// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/links.h"

#include <fmt/format.h>

#include <filesystem>

#include "sim/docs/source.h"
#include "sim/html/plot.h"

namespace lockstep::docs {

namespace {

namespace fs = std::filesystem;

bool is_elsewhere(std::string_view url) {
    return url.starts_with("http://") || url.starts_with("https://") || url.starts_with("mailto:");
}

/// The page at a path, or that of a folder.
const Page* page_at(const PagesByPath& pages, const std::string& path) {
    if (const auto page = pages.find(path); page != pages.end()) return page->second;
    const auto readme = pages.find((fs::path(path) / "README.md").lexically_normal().string());
    return readme != pages.end() ? readme->second : nullptr;
}

class Resolver {
  public:
    Resolver(Page& page, const PagesByPath& pages, std::vector<Problem>& problems,
             std::vector<OutsideLink>& outside)
        : page_(page), pages_(pages), problems_(problems), outside_(outside) {}

    void resolve(cmark_node* link) {
        const std::string url = cmark_node_get_url(link);
        if (is_elsewhere(url)) return;
        const std::size_t hash = url.find('#');
        const std::string file = url.substr(0, hash);
        const std::string anchor = hash == std::string::npos ? "" : url.substr(hash + 1);
        const std::string path =
            file.empty() ? page_.path
                         : (fs::path(page_.path).parent_path() / file).lexically_normal().string();
        const Page* const target = path.starts_with("..") ? nullptr : page_at(pages_, path);
        if (target != nullptr) {
            lead(link, *target, anchor, url);
        } else if (path.starts_with("..") || path.ends_with(".md") || url.starts_with('/') ||
                   url.find(':') != std::string::npos) {
            problems_.push_back({page_.place(link), fmt::format("no page is at {}", url)});
            replace_by_html(link, "", "");
        } else {
            outside_.push_back({page_.place(link), path});
            replace_by_html(link,
                            fmt::format("<span class=\"file\" title=\"{} in the source tree\">",
                                        html::escape(path)),
                            "</span>");
        }
    }

    /// Code that is the path of a page, from the root or from this page's folder.
    void link_code(cmark_node* code) {
        std::string path = cmark_node_get_literal(code);
        if (path.find('/') == std::string::npos && !path.ends_with(".md")) return;
        if (path.ends_with('/')) path.pop_back();
        const Page* target = page_at(pages_, path);
        if (target == nullptr)
            target = page_at(
                pages_, (fs::path(page_.path).parent_path() / path).lexically_normal().string());
        if (target == nullptr || target == &page_) return;
        cmark_node* const link = cmark_node_new(CMARK_NODE_LINK);
        cmark_node_set_url(link, relative_url(page_.url, target->url).c_str());
        cmark_node_insert_before(code, link);
        cmark_node_append_child(link, code);
    }

  private:
    void lead(cmark_node* link, const Page& target, const std::string& anchor,
              const std::string& url) {
        if (!anchor.empty() && !target.anchors.contains(anchor)) {
            problems_.push_back({page_.place(link), fmt::format("{}: {} has no heading for #{}",
                                                                url, target.path, anchor)});
            return;
        }
        const std::string base = &target == &page_ ? "" : relative_url(page_.url, target.url);
        cmark_node_set_url(
            link,
            (anchor.empty() ? relative_url(page_.url, target.url) : base + '#' + anchor).c_str());
    }

    Page& page_;
    const PagesByPath& pages_;
    std::vector<Problem>& problems_;
    std::vector<OutsideLink>& outside_;
};

/// The picture as a part of the page; empty: there is none.
std::string picture(const Page& page, cmark_node* image) {
    const std::string path =
        (fs::path(page.path).parent_path() / cmark_node_get_url(image)).lexically_normal().string();
    for (const Source& file : pictures())
        if (file.path == path)
            return fmt::format(
                "<img class=\"picture\" alt=\"{}\" src=\"data:image/png;base64,{}\">",
                html::escape(text_of(image)), file.text);
    return "";
}

}  // namespace

std::string relative_url(std::string_view from, std::string_view to) {
    return fs::path(to)
        .lexically_relative(fs::path(from).parent_path().empty() ? fs::path(".")
                                                                 : fs::path(from).parent_path())
        .string();
}

void resolve_links(Page& page, const PagesByPath& pages, std::vector<Problem>& problems,
                   std::vector<OutsideLink>& outside) {
    Resolver resolver(page, pages, problems, outside);
    cmark_node* const root = page.document.root();
    for (cmark_node* const link :
         nodes(root, [](cmark_node* node) { return is(node, CMARK_NODE_LINK); }))
        resolver.resolve(link);
    for (cmark_node* const image :
         nodes(root, [](cmark_node* node) { return is(node, CMARK_NODE_IMAGE); })) {
        const std::string html = picture(page, image);
        if (html.empty())
            problems.push_back({page.place(image), "pictures are .png files of sim/docs/pictures"});
        // Its text is in the picture's tag.
        while (cmark_node* const child = cmark_node_first_child(image)) cmark_node_free(child);
        replace_by_html(image, html, "");
    }
    const auto is_plain_code = [](cmark_node* node) {
        return is(node, CMARK_NODE_CODE) && !is_within(node, CMARK_NODE_LINK);
    };
    for (cmark_node* const code : nodes(root, is_plain_code)) resolver.link_code(code);
}

}  // namespace lockstep::docs
