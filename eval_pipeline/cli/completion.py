"""`eval-pipeline completion`: the script that lets a shell complete what is typed."""

import click
from click.shell_completion import get_completion_class

from eval_pipeline.terminal import write

PROGRAM = "eval-pipeline"
VARIABLE = "_EVAL_PIPELINE_COMPLETE"
SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    r"""Print a script that completes commands, options, suites, versions and engines.

    \b
    bash, in ~/.bashrc:  eval "$(eval-pipeline completion bash)"
    zsh, in ~/.zshrc:    eval "$(eval-pipeline completion zsh)"
    fish, in ~/.config/fish/config.fish:
                         eval-pipeline completion fish | source
    """
    kind = get_completion_class(shell)
    assert kind is not None
    write(kind(context.find_root().command, {}, PROGRAM, VARIABLE).source())
