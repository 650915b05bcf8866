"""What a job asks of Slurm beyond the published executor."""

import re
from pathlib import Path

import pytest
import yaml
from snakemake_interface_common.exceptions import WorkflowError

from matproof.core.slurm import is_unconfigured
from snakemake_executor_plugin_matproof_slurm.asking import (
    gpu_options,
    log_beside,
    partition,
    refuse_other_clusters,
    require_slurm,
)
from snakemake_executor_plugin_matproof_slurm.settings import ExecutorSettings

REPOSITORY = Path(__file__).parents[2]
PROFILE = REPOSITORY / "profiles/slurm/config.yaml"


def test_the_lines_that_the_manual_names_are_at_the_top_of_the_profile() -> None:
    manual = (REPOSITORY / "docs/cluster.md").read_text()
    top = PROFILE.read_text().partition("# What keeps a campaign whole")[0]
    table = manual.partition("| line | when |")[2].partition("\n\n")[0]
    named = [name for row in table.splitlines()[2:] for name in re.findall(r"`([a-z_-]+)`", row.split("|")[1:2][0])]
    assert len(named) >= 9
    assert [name for name in named if f"{name}:" not in top] == []


def test_the_profile_is_valid_with_all_of_its_choices_taken() -> None:
    taken = re.sub(r"^(\s*)# (?=(?:  )*[a-z-]+[a-z_-]*: )", r"\1", PROFILE.read_text(), flags=re.MULTILINE)
    chosen = yaml.safe_load(taken.replace("#   ", "  "))
    assert chosen["default-resources"]["slurm_account"] == "my_account"
    assert chosen["set-resources"] == {"evaluate": {"slurm_partition": "short"}}
    settings = {name.removeprefix("matproof-slurm-").replace("-", "_"): value for name, value in chosen.items()}
    known = {name: value for name, value in settings.items() if name in ExecutorSettings.__dataclass_fields__}
    assert ExecutorSettings(**known).gpu_partition == "gpu"


@pytest.mark.parametrize(
    ("resources", "template", "options"),
    [
        ({"gpu": 2}, "--gpus={n}", " --gpus=2"),
        ({"gpu": 2}, "--gres=gpu:a100:{n}", " --gres=gpu:a100:2"),
        ({"gpu": 1, "gpu_model": "a100"}, "--gpus={n}", " --gpus=a100:1"),
        ({"gpu": 0, "gpu_model": "a100"}, "--gpus={n}", ""),
        ({"gpu": 1, "gres": "gpu:h100:1"}, "--gpus={n}", " --gres=gpu:h100:1"),
        ({}, "--gpus={n}", ""),
    ],
)
def test_gpus_are_asked_for_in_the_sites_words(resources: dict[str, object], template: str, options: str) -> None:
    assert gpu_options(resources, template) == options


def test_only_jobs_with_gpus_go_to_the_partition_of_gpus() -> None:
    assert partition({"gpu": 1, "slurm_partition": "cpu"}, "gpu") == "gpu"
    assert partition({"gpu": 0, "slurm_partition": "cpu"}, "gpu") == "cpu"
    assert partition({"gpu": 1, "slurm_partition": "cpu"}, None) == "cpu"
    assert partition({}, "gpu") is None


def test_slurms_log_is_beside_the_rules() -> None:
    assert log_beside(Path("runs/A/logs/reproduce.log")) == Path("runs/A/logs/reproduce.slurm-%j.log")


@pytest.mark.parametrize("template", ["--gpus=1", "gpu:{n}", "--gpus={n}:{n}", "--gpus={0}", "--gpus={n.real}"])
def test_a_gpu_option_that_does_not_say_how_many_is_refused(template: str) -> None:
    with pytest.raises(WorkflowError, match="gpu-option"):
        ExecutorSettings(gpu_option=template)


def test_the_gpu_option_of_the_manual_is_taken() -> None:
    assert ExecutorSettings(gpu_option="--gres=gpu:a100:{n}").gpu_option == "--gres=gpu:a100:{n}"


def test_a_host_without_slurm_is_told_at_once_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkflowError, match="no Slurm here: sbatch, squeue, scancel not on PATH"):
        require_slurm()


@pytest.mark.parametrize(
    "resources",
    [{"clusters": "b"}, {"slurm_cluster": "b"}, {"slurm_extra": "-M b"}, {"slurm_extra": "-x n1 --cluster=b"}],
)
def test_another_cluster_is_refused_by_name(resources: dict[str, object]) -> None:
    with pytest.raises(WorkflowError, match="jobs go to one cluster"):
        refuse_other_clusters(resources)


def test_options_that_name_no_cluster_are_taken() -> None:
    refuse_other_clusters({"slurm_extra": "--mail-user=a-M@b --exclude=cluster3"})


def test_slurm_without_a_cluster_is_told_from_one_that_is_away() -> None:
    assert is_unconfigured(
        "_establish_config_source: failed to fetch config; Could not establish a configuration source"
    )
    assert is_unconfigured("s_p_parse_file: unable to status file /etc/slurm/slurm.conf: No such file or directory")
    assert not is_unconfigured("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
    assert not is_unconfigured("no message")
