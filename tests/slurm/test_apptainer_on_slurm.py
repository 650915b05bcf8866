"""The sample campaign with the other sandbox engine: a real Apptainer in every Slurm job, by the site's one file."""

import json
import sys
from pathlib import Path

import pytest
import yaml
from campaign_project import REPOSITORY
from cluster import Cluster
from slurm_checkout import GPU, STEPS, Checkout, check_out

from matproof.core.files import write_text
from matproof.core.processes import run
from matproof.records.evaluation import EvaluationRecord
from matproof.records.run import RunRecord, SandboxReport
from matproof.sandbox.image import image_digest

SETTING = "scripted-orchestrated"
JUDGES = ("checks", "scripted-judge")


@pytest.fixture
def checkout(cluster: Cluster, tmp_path: Path) -> Checkout:
    """Two sample claims at a site with Apptainer: its image shows this machine's programs (docs/containers.md)."""
    made = check_out(tmp_path / "checkout", cluster, GPU, STEPS)
    made.edit("config/config.yaml", "settings: [", f"settings: [{SETTING}] # [")
    made.edit(f"tasks/{GPU}/meta/claim.yaml", "gpus: 0", "gpus: 1")
    image = tmp_path / "checkout/containers/host"
    filled = run([sys.executable, str(REPOSITORY / "containers/local_root.py"), str(image), "--bare"])
    assert filled.ok, filled.stderr
    site = {
        "engine": "apptainer",
        "image": "containers/host",
        "digests": {image.name: image_digest(image)},
        "software": ["/usr"],
        "python": "ours",
    }
    write_text(made.root / "config/sandbox.yaml", yaml.safe_dump(site))
    return made


def test_the_sample_campaign_runs_and_is_judged_in_apptainer(checkout: Checkout, apptainer: Path) -> None:
    finished = checkout.snakemake(module=apptainer)
    assert finished.ok, finished.stderr
    for claim in (GPU, STEPS):
        place = checkout.run(claim, SETTING)
        record = RunRecord.read(place.run_json)
        assert (record.outcome, record.self_reproduced) == ("completed", True), record.reason
        is_apptainer(record.sandbox, checkout)
        (job,) = checkout.cluster.jobs(str(record.job))
        assert job["JobName"] == f"reproduce-{claim}-{SETTING}-1"
        for judge in JUDGES:
            judged = json.loads(place.evaluation(judge).read_text())
            assert judged["status"] == "scored", judged
        is_apptainer(EvaluationRecord.read(place.evaluation("scripted-judge")).sandbox, checkout)
    assert (checkout.root / "results/report/index.html").is_file()


def is_apptainer(sandbox: SandboxReport | None, checkout: Checkout) -> None:
    assert sandbox is not None
    digest = image_digest(checkout.root / "containers/host")
    assert (sandbox.engine, sandbox.image_digest) == ("apptainer", digest)
