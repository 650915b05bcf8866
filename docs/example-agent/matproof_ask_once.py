"""An agent in one module: it asks a model once what it thinks of a claim, and computes nothing.

What it leaves is an opinion without evidence: a floor for agents that compute. It runs no command of the model's, so it
needs no sandbox; an agent that does opens one with `matproof.sandbox.engine.open_sandbox`.
"""

import httpx2
from openai import APITimeoutError, OpenAI, OpenAIError

from matproof.agents.base import AgentReport, Work
from matproof.core.clock import elapsed, timestamp
from matproof.core.errors import InfrastructureError
from matproof.core.files import write_text
from matproof.records.run import Phase, RunOutcome

ASK = """Say whether you believe this claim, without computing anything. Answer with a JSON object and nothing else:
{{"reproduced": true, "summary": "Two sentences.", "results": [{{"quantity": "name", "value": 1.5, "unit": ""}}]}}

CLAIM: {claim}
QUANTITIES: {quantities}
"""


class AskOnce:
    """See the module."""

    name = "ask_once"
    has_steps = False

    def run(self, work: Work) -> AgentReport:
        """Ask, and keep the answer as the analysis. Raises InfrastructureError where the provider failed."""
        started, began = timestamp(), elapsed()
        outcome: RunOutcome = "completed"
        reason = None
        with work.gateway.session("session") as label:
            try:
                write_text(work.place.analysis_result, _asked(work, label))
            except APITimeoutError:
                outcome, reason = "walltime", "the walltime ended the session"
            except OpenAIError as error:
                outcome, reason = "agent_error", str(error)
        if work.gateway.refusal is not None:
            outcome, reason = "budget", work.gateway.refusal
        elif outcome == "agent_error" and (failure := work.gateway.failure_of(label)) is not None:
            raise InfrastructureError(f"the model provider failed: {failure}")
        phase = Phase(
            name="session",
            started=started,
            seconds=round(elapsed() - began, 3),
            status={"completed": "done", "agent_error": "failed"}.get(outcome, "stopped"),
            detail=reason,
        )
        return AgentReport(outcome=outcome, reason=reason, phases=(phase,), versions={"ask_once": "1.0.0"})


def _asked(work: Work, label: str) -> str:
    """The model's answer. The gateway adds the key; that no record of the run is missing is its business too."""
    prompt = ASK.format(
        claim=work.claim.text.strip(), quantities=[each.name for each in work.claim.metadata.quantities]
    )
    work.trace.write("session", "message", prompt, data={"role": "user"})
    way_out = httpx2.HTTPTransport(uds=str(work.socket))
    with httpx2.Client(transport=way_out, trust_env=False) as http:
        client = OpenAI(base_url=f"http://gateway/s/{label}/v1", api_key="none", http_client=http, max_retries=0)
        response = client.responses.create(
            model=work.setting.model, input=prompt, store=False, timeout=max(1.0, work.seconds_left)
        )
    work.trace.write("session", "message", response.output_text, data={"role": "assistant"})
    return response.output_text
