"""Agents on nodes whose only way to a model provider is the site's proxy: the live gateway in a real Slurm job."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from campaign_project import REPOSITORY, Project, write_project
from cluster import Cluster
from single_run import CLAIM, Bench
from site_proxy import HOST, Site, site

from matproof.core.files import write_text
from matproof.core.processes import Finished
from matproof.records.run import RunRecord

KEY = "sk-of-the-site-0123456789"
JUDGED = f"results/runs/{CLAIM}/scripted/1/evaluations/checks.json"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A campaign whose one setting asks a real provider, with its key in a file."""
    made = write_project(tmp_path / "project")
    write_text(made.root / "key", KEY + "\n", mode=0o600)
    provider = {"api": "anthropic", "base_url": f"https://{HOST}", "key_file": str(made.root / "key")}
    models = {"providers": {"site": provider}, "models": {"claude-sonnet-4-6": {"provider": "site"}}}
    write_text(made.root / "config/models.yaml", yaml.safe_dump(models))
    Bench(made).setting(script=None)
    return made


@pytest.fixture
def behind(project: Project) -> Iterator[Site]:
    """The proxy, and the provider behind it."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = Path(tempfile.mkdtemp(prefix="site-"))  # short: a socket is below it
    with site(folder, project.root / "scripts" / f"{CLAIM}.yaml") as here:
        yield here
    shutil.rmtree(folder)


def snakemake(project: Project, cluster: Cluster, **environment: str) -> Finished:
    return cluster.run(
        *("env", *(f"{name}={value}" for name, value in environment.items())),
        *("snakemake", "--snakefile", str(REPOSITORY / "Snakefile"), "--profile", str(REPOSITORY / "profiles/slurm")),
        *("--configfile", "config/config.yaml", "--directory", str(project.root)),
        *("--matproof-slurm-poll-seconds", "1", "--latency-wait", "5", "--", JUDGED),
        cwd=project.root,
        timeout_s=200,
    )


def test_the_proxy_of_the_environment_leads_a_job_to_its_provider(
    cluster: Cluster, project: Project, behind: Site
) -> None:
    finished = snakemake(
        project,
        cluster,
        HTTPS_PROXY=behind.proxy,
        NO_PROXY="localhost,127.0.0.1",
        SSL_CERT_FILE=str(behind.authority),
    )
    assert finished.ok, finished.stderr + reproduced(project)
    record = RunRecord.read(Bench(project).attempt().run_json)
    assert (record.outcome, record.self_reproduced, record.scripted) == ("completed", True, False)
    assert record.job is not None
    assert set(behind.asked) == {f"{HOST}:443"}
    assert behind.keys == {KEY}
    assert json.loads((project.root / JUDGED).read_text())["success"] is True
    assert KEY not in Bench(project).attempt().exchanges.read_text()


def reproduced(project: Project) -> str:
    log = project.root / f"results/runs/{CLAIM}/scripted/1/logs/reproduce.log"
    return log.read_text() if log.exists() else ""
