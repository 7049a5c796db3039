"""Shell completion: a script with the words of each command, made from the command line itself."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import cast

from .output import block

BASH = """\
_kassa() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} word command= words
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$command $word" in
{steps}
        esac
    done
    case "$command" in
{words}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}}
complete -F _kassa kassa"""


def completion(options: argparse.Namespace) -> int:
    """Prints the script."""
    from .arguments import PROGRAM, parser

    commands = dict(_commands(parser(PROGRAM), ()))
    if options.shell == "fish":
        for path, words in commands.items():
            block(_fish(path, words))
        return 0
    steps = "\n".join(
        f'            "{" ".join(path[:-1])} {path[-1]}") command="{" ".join(path)}" ;;' for path in commands if path
    )
    following = "\n".join(
        f'        "{" ".join(path)}") words="{" ".join(words)}" ;;' for path, words in commands.items()
    )
    if options.shell == "zsh":
        block("autoload -U +X bashcompinit && bashcompinit")
    block(BASH.format(steps=steps, words=following))
    return 0


def _commands(
    parser: argparse.ArgumentParser, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The words that may follow each command."""
    words: list[str] = []
    within: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            within = cast("dict[str, argparse.ArgumentParser]", action.choices)  # pyright: ignore[reportUnknownMemberType]
        elif action.option_strings:
            words += action.option_strings
        else:
            words += map(str, action.choices or ())
    yield path, (*within, *words)
    for name, command in within.items():
        yield from _commands(command, (*path, name))


def _fish(path: tuple[str, ...], words: tuple[str, ...]) -> str:
    """Completes after a command, and not after the ones below it."""
    seen = " && ".join(f"__fish_seen_subcommand_from {name}" for name in path)
    condition = seen or "__fish_use_subcommand"
    return f'complete -c kassa -n "{condition}" -a "{" ".join(words)}"'
