"""Steps as Slurm jobs, without a Slurm: what is asked of it, what is read of its answers, what an order does."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from matproof.agents.orchestrated.plan import Bounds, bounded
from matproof.config.settings import Setting
from matproof.config.steps import Steps
from matproof.core.errors import InfrastructureError
from matproof.core.files import read_model, write_json, write_text
from matproof.execution.slurm_steps import end_jobs
from matproof.execution.step import StepCommand
from matproof.execution.step_job import ALIVE, OVER, StepOrder, begun_file, read_done, with_devices, work
from matproof.execution.step_submission import JobNames, left_behind, parameters
from matproof.execution.step_watch import Seen, parse_squeue
from matproof.execution.steps import Needs
from matproof.records.places import AttemptPlace
from matproof.sandbox.engine import Engine, Mount, SandboxSpec
from matproof.sandbox.policy import Policy

NAMES = JobNames(step="relax", claim="A-1_sum", setting="sonnet, twice", repeat="2")
POLICY = Path(__file__).parents[2] / "sandbox/step.yaml"


def asked(needs: Needs, steps: dict[str, object], constraint: str | None = None) -> dict[str, object]:
    setting = Steps.model_validate({"executor": "slurm", **steps})
    return parameters(setting, NAMES, needs, timeout_s=90, constraint=constraint)


def test_a_job_asks_for_the_steps_needs_and_room_for_its_harness() -> None:
    found = asked(Needs(cpus=8, memory_gb=2.5, gpus=0), {"partition": "cpu", "gpu_partition": "gpu"}, "a100")
    assert (found["cpus_per_task"], found["mem"], found["time"]) == (8, "3000M", 4)
    assert (found["partition"], found["constraint"]) == ("cpu", "a100")
    assert found["additional_parameters"] == {"no-requeue": True}


def test_graphics_processors_are_asked_for_in_the_sites_own_words() -> None:
    site = {"partition": "cpu", "gpu_partition": "gpu", "gpu_option": "--gres=gpu:a100:{n}"}
    found = asked(Needs(cpus=1, memory_gb=1, gpus=2), {**site, "options": {"reservation": "friday"}})
    assert found["partition"] == "gpu"
    assert found["additional_parameters"] == {"no-requeue": True, "gres": "gpu:a100:2", "reservation": "friday"}


def test_a_jobs_comment_and_name_say_whose_it_is_in_plain_characters() -> None:
    assert NAMES.comment == "matproof rule=step step=relax claim=A-1_sum setting=sonnet_twice repeat=2"
    assert NAMES.name == "step-relax-A-1_sum-sonnet_twice-2"


def test_keys_and_the_words_of_a_job_around_us_stay_behind() -> None:
    environment = [
        "PATH",
        "HOME",
        "SLURM_CONF",
        "ANTHROPIC_API_KEY",
        "SLURM_JOB_ID",
        "SLURM_CPUS_PER_TASK",
        "SBATCH_MEM",
    ]
    left = left_behind([*environment, "HTTPS_PROXY"])
    assert left == ["ANTHROPIC_API_KEY", "HTTPS_PROXY", "SBATCH_MEM", "SLURM_CPUS_PER_TASK", "SLURM_JOB_ID"]


def test_squeue_is_read_whatever_stands_in_a_reason() -> None:
    text = "7|RUNNING|None\n8|PENDING|(launch|failed)\nslurm_load_jobs error\n"
    assert parse_squeue(text) == {"7": Seen("RUNNING", "None"), "8": Seen("PENDING", "(launch|failed)")}


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ({"executor": "slurm", "gpu_option": "--gres=gpu:a100"}, "is not an option of sbatch with {n}"),
        ({"executor": "slurm", "gpu_option": "--gres=gpu:{n};rm"}, "is not an option of sbatch with {n}"),
        ({"executor": "slurm", "partition": "a b"}, "pattern"),
        ({"executor": "slurm", "options": {"comment": "x"}}, "is set by Matproof itself"),
        ({"executor": "slurm", "options": {"Bad Name": "x"}}, "pattern"),
        ({"partition": "gpu"}, "write `executor: slurm`"),
    ],
)
def test_a_wrong_setting_is_told_before_anything_runs(steps: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Setting.model_validate({"agent": "orchestrated", "model": "m", "steps": steps})


@pytest.mark.parametrize(
    ("needs", "words"),
    [
        ({"cpus": 5}, "asks for cpus 5, and 4 is the most"),
        ({"memory_gb": 8.5}, "asks for memory_gb 8.5, and 8 is the most"),
        ({"gpus": 1}, "asks for gpus 1, and 0 is the most"),
        ({"timeout_s": 7200}, "asks for timeout_s 7200, and 3600 is the most"),
    ],
)
def test_a_plan_may_ask_for_no_more_than_its_claim(needs: dict[str, object], words: str) -> None:
    shape = bounded(Bounds(cpus=4, memory_gb=8, gpus=0, timeout_s=3600))
    step = {"id": "a", "purpose": "p", "proves": "q", "command": "true", "timeout_s": 10}
    assert shape.model_validate({"approach": "a", "steps": [{**step, "cpus": 4, "memory_gb": 8}]}).steps[0].cpus == 4
    with pytest.raises(ValidationError, match=words):
        shape.model_validate({"approach": "a", "steps": [{**step, **needs}]})


def order(folder: Path) -> StepOrder:
    return StepOrder(
        step=StepCommand(id="add", command="true", workdir=".", timeout_s=5, outputs=("t.json",)),
        number=1,
        sandbox=SandboxSpec(
            policy=read_model(Policy, POLICY),
            mounts=(Mount(source=folder, target="/work/artifacts", writable=True),),
            environment={"OMP_NUM_THREADS": "2"},
            hidden=(folder / "jobs",),
            engine=Engine(name="apptainer", image=folder / "x.sif"),
        ),
        artifacts=folder / "artifacts",
        logs=folder / "steps",
        result=folder / "jobs/add-1.result.json",
        orphan_s=60,
        gpus=1,
        allow_weaker=False,
    )


def test_an_order_arrives_at_the_node_as_it_was_given(tmp_path: Path) -> None:
    file = tmp_path / "jobs/add-1.order.json"
    write_json(file, order(tmp_path))
    assert read_model(StepOrder, file) == order(tmp_path)


def test_a_step_learns_which_graphics_processors_are_its_own_and_no_others(tmp_path: Path) -> None:
    node = {"CUDA_VISIBLE_DEVICES": "1,3", "SECRET": "x"}
    spec = order(tmp_path).sandbox
    assert with_devices(spec, node, 2).environment == {"OMP_NUM_THREADS": "2", "CUDA_VISIBLE_DEVICES": "1,3"}
    assert with_devices(spec, node, 0).environment == {"OMP_NUM_THREADS": "2", "CUDA_VISIBLE_DEVICES": ""}


def test_a_job_that_begins_after_its_run_ended_does_nothing(tmp_path: Path) -> None:
    file = tmp_path / "jobs/add-1.order.json"
    write_json(file, order(tmp_path))
    write_text(tmp_path / "jobs" / ALIVE, OVER)
    work(str(file))
    assert not begun_file(order(tmp_path).result).exists()
    assert read_done(order(tmp_path).result) is None


def test_a_result_of_another_shape_is_refused_not_used(tmp_path: Path) -> None:
    write_text(tmp_path / "add-1.result.json", '{"attempt": {"returncode": 0}}')
    with pytest.raises(InfrastructureError, match="can't be read"):
        read_done(tmp_path / "add-1.result.json")


def test_an_attempt_without_jobs_is_left_alone(tmp_path: Path) -> None:
    end_jobs(AttemptPlace(tmp_path))
    assert list(tmp_path.iterdir()) == []
