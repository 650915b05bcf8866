"""A job that does nothing but ask: one real gateway, a few clients side by side, until the campaign's cap says no.

python hammer.py RESULTS CONFIG SETTING CLAIM CLIENTS GO: begins when the file GO is there, prints the statuses it got.
"""

import json
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx2

from matproof.config.campaign import budget_of
from matproof.config.models import ModelTable
from matproof.config.settings import Limits
from matproof.core.files import read_model
from matproof.models.funds import Funds
from matproof.models.gateway import Gateway
from matproof.models.scripted import ScriptedBackend

MODELS = """providers: {here: {api: anthropic, base_url: "http://127.0.0.1:1"}}
models: {priced: {provider: here, prices: {input: 0, output: 500}}}
"""
"""Half a dollar for the thousand tokens of an answer; a dollar is reserved."""
SCRIPT = "version: 1\nsessions: {x: [{text: hello, delay_s: 0.02, usage: {input_tokens: 0, output_tokens: 1000}}]}\n"
BODY = {"model": "priced", "max_tokens": 1000, "messages": [{"role": "user", "content": "go"}]}


def main(results: str, config: str, setting: str, claim: str, clients: str, go: str) -> None:
    """Ask until refused."""
    statuses: list[int] = []
    funds = Funds(Path(results), budget_of(Path(config)), setting=setting, scripted=True)
    with tempfile.TemporaryDirectory(prefix="hm", dir="/tmp") as short:
        place, script = Path(short) / "s", Path(short) / "script.yaml"
        script.write_text(SCRIPT)
        (Path(short) / "models.yaml").write_text(MODELS)
        with (
            funds.account(claim=claim, repeat=1, attempt=1),
            Gateway(
                socket=place,
                exchanges=Path(short) / "exchanges.jsonl",
                backend=ScriptedBackend(script, files=()),
                limits=Limits(),
                table=read_model(ModelTable, Path(short) / "models.yaml"),
                funds=funds,
            ) as gateway,
            gateway.session("x") as label,
        ):

            def ask() -> None:
                with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(place)), timeout=60) as client:
                    status = 200
                    while status == 200:
                        status = client.post(f"http://gateway/s/{label}/v1/messages", json=BODY).status_code
                        statuses.append(status)

            Path(f"{go}.{claim}").touch()
            while not Path(go).exists():
                time.sleep(0.005)
            threads = [threading.Thread(target=ask) for _ in range(int(clients))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    print(json.dumps({"statuses": statuses, "cut": funds.cut, "refusal": gateway.refusal}))


if __name__ == "__main__":
    main(*sys.argv[1:])
