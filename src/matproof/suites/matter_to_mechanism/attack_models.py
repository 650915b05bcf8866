"""Attacks that a model writes: it is given the problem and told to look good and say nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from matproof.suites.matter_to_mechanism.answering import SCRIPTED_PREFIX
from matproof.suites.matter_to_mechanism.asking import Asker, NoAnswerError
from matproof.suites.matter_to_mechanism.attacks import Row
from matproof.suites.matter_to_mechanism.interview import Interview, cost_words
from matproof.suites.matter_to_mechanism.problems import SHOWN_COLUMNS, Problem, prompt
from matproof.suites.matter_to_mechanism.tagged import parse_tagged
from matproof.suites.matter_to_mechanism.working import Progress, Worked, work_through


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """Style → twins in the order of their originals; and what made none."""

    attacked: dict[str, list[Row]]
    unusable: list[str]
    """`<paper_id>, <style>: <reason>`."""
    worked: Worked[Row | str]
    writer: str


@dataclass(frozen=True, slots=True)
class _Task:
    row: Row
    style: str


def by_model(originals: Sequence[Row], styles: Sequence[str], asker: Asker, *, parallel: int) -> Attacked:
    """Let the model write a twin of each original in each style; the stage is `attack-<style>`."""
    tasks = [_Task(row, style) for style in styles for row in originals]
    scripted = asker.asked.backend.scripted

    def work(task: _Task) -> Row | str:
        fields = {name: task.row.get(name, "") for name in SHOWN_COLUMNS}
        problem = Problem(paper_id=task.row["paper_id"], fields=fields)
        text = prompt(f"attack-{task.style}").render(problem=problem.text, form=prompt("form").render().strip())
        try:
            tagged = parse_tagged(Interview(asker, problem.paper_id).ask(f"attack-{task.style}", text))
        except NoAnswerError as error:
            return str(error)
        if tagged.problem is not None:
            return tagged.problem
        written = {name: text for name, text in tagged.fields.items() if name != "target_property"}
        return {**task.row, **written}

    progress = Progress("attack", len(tasks), lambda: cost_words(asker.usage().cost_usd, scripted=scripted))
    worked = work_through(tasks, work, parallel=parallel, progress=progress)
    attacked: dict[str, list[Row]] = {style: [] for style in styles}
    unusable = []
    for index in sorted(worked.results):
        task, result = tasks[index], worked.results[index]
        if isinstance(result, str):
            unusable.append(f"{task.row['paper_id']}, {task.style}: {result}")
        else:
            attacked[task.style].append(result)
    model = asker.asked.model
    marked = scripted and not model.startswith(SCRIPTED_PREFIX)
    return Attacked(
        attacked=attacked, unusable=unusable, worked=worked, writer=f"{SCRIPTED_PREFIX}{model}" if marked else model
    )
