"""`matproof parse`: the paper of one claim as Markdown, links to released code removed."""

from pathlib import Path

import click


@click.command("parse")
@click.argument("claim_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Markdown to write.  [default: results/…]")
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of parsed papers, by content.  [default: beside the results]",
)
@click.option("--no-cache", is_flag=True, help="Parse anew and keep nothing.")
@click.option(
    "--parser",
    default="light",
    show_default=True,
    envvar="MATPROOF_PARSER",
    help="light, or docling: with its models, else light with a warning.  [env: MATPROOF_PARSER]",
)
@click.option(
    "--timeout", "timeout_s", type=click.FloatRange(min=1), help="Seconds a PDF.  [default: light 120, docling 900]"
)
def command(
    claim_dir: Path, out: Path | None, cache: Path | None, no_cache: bool, parser: str, timeout_s: float | None
) -> None:
    """Turn the paper of CLAIM_DIR into Markdown and cut out links that could lead to released code.

    Where the claim brings agent_view/paper.md, it is used as it is; else its PDFs are parsed, once for their content.
    Beside the Markdown, paper.figures/ holds the figures and paper.links.json lists the links.

    \b
    Examples:
      matproof parse tasks/MD-0002_lj-hcp-fcc
      matproof parse tasks/MD-0002_lj-hcp-fcc --out paper.md --no-cache
    """
    from matproof.papers.parse import parse_claim
    from matproof.records.places import Results

    results = Results(Path("results"))
    target = out if out is not None else results.claim(claim_dir.resolve().name).paper
    kept = None if no_cache else cache or results.paper_cache
    summary = parse_claim(
        claim_dir, target, kept, parser, timeout_s=timeout_s, warn=lambda line: click.echo(f"warning: {line}", err=True)
    )
    how = "as it is" if summary.parser is None else f"by {summary.parser}"
    if summary.cached:
        how += f", {summary.cached} of {len(summary.sources)} from the cache"
    click.echo(
        f"{summary.out}: {', '.join(summary.sources)} {how}; "
        f"{summary.characters} characters, {summary.figures} figures, "
        f"{summary.links} links removed ({summary.links_file.name})"
    )
