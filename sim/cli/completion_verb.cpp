// SPDX-License-Identifier: Apache-2.0
// `lockstep completion bash|zsh`: a script for the shell. It asks `lockstep complete -- WORDS` what
// may stand at the end of the line: a candidate a line, behind a tab what it means; the line :files
// says that names of files are right too.
#include <fmt/format.h>

#include "sim/cli/completion.h"
#include "sim/cli/verbs.h"
#include "sim/error/error.h"

namespace lockstep::cli {

namespace {

/// bash takes a line apart at = and : too, and wants back only what stands behind the last of them.
constexpr const char* kBash =
    R"sh(# Completion of lockstep in bash. Load it with:  source <(./lockstep completion bash)
_lockstep() {
    local line=${COMP_LINE:0:COMP_POINT} words=() word rest i
    rest=$line
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        # The word under the cursor ends there.
        ((i == COMP_CWORD)) && [[ $rest != *"$word"* ]] && word=${rest##*[[:space:]]}
        if ((i > 0)) && [[ $rest != [[:space:]]* ]]; then
            words[${#words[@]} - 1]+=$word  # no space in between: one word to us
        else
            words+=("$word")
        fi
        rest=${rest#*"$word"}
    done
    local current=${words[${#words[@]} - 1]} files=
    local cut=${current%"${current##*[:=]}"}
    [[ $COMP_WORDBREAKS == *[:=]* ]] || cut=
    COMPREPLY=()
    while IFS= read -r word; do
        word=${word%%$'\t'*}
        if [[ $word == :files ]]; then files=1; else COMPREPLY+=("${word#"$cut"}"); fi
    done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${current#"$cut"}")
    fi
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:,] ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -F _lockstep lockstep
)sh";

constexpr const char* kZsh = R"sh(#compdef lockstep
# Completion of lockstep in zsh. Load it behind compinit with:  source <(./lockstep completion zsh)
_lockstep() {
    local line text files=
    local -a texts shown open open_shown
    for line in "${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] || continue
        text=${line%%$'\t'*}
        if [[ $text == :files ]]; then
            files=1
        elif [[ $text == *= ]]; then
            open+=("$text") open_shown+=("${line/$'\t'/  -- }")
        else
            texts+=("$text") shown+=("${line/$'\t'/  -- }")
        fi
    done
    (( ${#open} )) && compadd -S '' -l -d open_shown -a open
    (( ${#texts} )) && compadd -l -d shown -a texts
    [[ -n $files ]] && _files
    return 0
}
(( $+functions[compdef] )) && compdef _lockstep lockstep
)sh";

void print_script(const std::string& shell) {
    fmt::print("{}", shell == "bash" ? kBash : kZsh);
}

void print_candidates(const CLI::App& app, const Words& words) {
    const Completion completion = complete(app, words);
    for (const Candidate& candidate : completion.candidates)
        fmt::print("{}{}{}\n", candidate.text, candidate.meaning.empty() ? "" : "\t",
                   candidate.meaning);
    if (completion.files) fmt::print(":files\n");
}

}  // namespace

void add_completion(CLI::App& app, const Words& after_dashes, int&) {
    auto shell = std::make_shared<std::string>();
    CLI::App* script =
        app.add_subcommand("completion", "Print a script that completes command lines in a shell");
    script->add_option("shell", *shell, "bash or zsh")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh"}));
    script->callback([shell] { print_script(*shell); });
    CLI::App* words =
        app.add_subcommand("complete", "What may stand at the end of the words")->group("");
    words->callback([&app, &after_dashes] { print_candidates(app, after_dashes); });
}

}  // namespace lockstep::cli
