"""What the whole campaign may still spend, asked before a request is sent and before a run starts.

How a cap that many jobs share is kept without a lock: a request is first reserved in the job's own account, durably,
and then all accounts are looked at. The only request of a job goes out while what all have *spent* is below the cap; a
further one beside it only where it fits together with all that is reserved by anyone. So when the cap is passed, each
running job has at most one request under way that did not fit. Docs: docs/budgets.md.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from matproof.config.budget import CampaignBudget
from matproof.config.models import ModelTable
from matproof.config.settings import Answers, Caps
from matproof.core.clock import timestamp
from matproof.core.errors import BudgetReachedError, InfrastructureError, InputError
from matproof.models.base import Rejection
from matproof.models.prices import prices_of
from matproof.records.account import Account, Entry, Holding
from matproof.records.ledger import Ledger, Look
from matproof.records.places import Results

GPU_LOOK_S = 30.0
"""Seconds between two looks at the GPU hours, of a run that has any."""


@dataclass(frozen=True, slots=True)
class _Cap:
    """One block of caps, and what it bounds."""

    field: str
    whose: str
    setting: str | None
    caps: Caps


class UnaccountedError(Exception):
    """What is spent can't be known or written down: nothing more is bought, and that is not the agent's doing."""


class Funds:
    """Keeps the caps of `budget` for one job of `setting`. `cut` says why it bought no more, once that happened.

    `gpus` is what the job has all the time; a cap on GPU hours stops no job without any. `scripted`: the job's tokens
    and dollars are a rehearsal, held against the same caps but apart from what real models cost.
    """

    def __init__(self, results: Path, budget: CampaignBudget, *, setting: str, scripted: bool, gpus: int = 0) -> None:
        place = Results(results).ledger
        self._caps = (
            _Cap("budget.campaign", "the campaign's", None, budget.campaign),
            _Cap(
                f"budget.settings.{setting}" if setting in budget.settings else "budget.setting",
                f"setting {setting}'s",
                setting,
                budget.of_setting(setting),
            ),
        )
        self._place, self._setting, self._scripted, self._gpus = place, setting, scripted, gpus
        self._ledger = Ledger(place)
        self._account: Account | None = None
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ledger")
        self.cut: str | None = None

    @property
    def money_cap(self) -> str | None:
        """Name of a cap in dollars, where there is one."""
        return next((f"{cap.field}.cost_usd" for cap in self._caps if cap.caps.cost_usd is not None), None)

    def check(self, answers: Answers, table: ModelTable) -> None:
        """Before a run starts: raises BudgetReachedError where a cap is met, and InputError where it can't be kept."""
        if not answers.scripted and self.money_cap is not None:
            _need_price(answers.model, table, self.money_cap)
        if any(cap.caps != Caps() for cap in self._caps) and (met := self._met(self._ledger.look())) is not None:
            raise BudgetReachedError(f"not started: {met}")

    @contextlib.contextmanager
    def account(
        self,
        *,
        claim: str,
        repeat: int,
        attempt: int,
        judge: str | None = None,
        stop: Callable[[str], None] | None = None,
    ) -> Iterator["Funds"]:
        """Have an account for the length of the block. `stop` is called, from another thread, when GPU hours run out.

        Raises InfrastructureError where the account can't be kept.
        """
        head = Entry(
            claim=claim,
            setting=self._setting,
            repeat=repeat,
            attempt=attempt,
            judge=judge,
            scripted=self._scripted,
            succeeds=self._ledger.left_open((claim, self._setting, repeat, judge)),
            time=timestamp(),
        )
        self._account = account = Account(self._place, head, gpus=self._gpus)
        over = threading.Event()
        watch = None
        if self._gpus and stop is not None:
            watch = threading.Thread(target=self._watch, args=(account, over, stop), name="gpu-hours", daemon=True)
        if watch is not None:
            watch.start()
        try:
            yield self
        finally:
            over.set()
            if watch is not None:
                watch.join()
            self._writer.shutdown(wait=True)
            account.close()
            # Tidying must not cost a result that is paid for: who needs the ledger next says what is wrong with it.
            with contextlib.suppress(InfrastructureError):
                self._ledger.fold()

    async def draw(self, number: int, *, tokens: int, usd: float) -> None:
        """Reserve what request `number` may use, waiting for others of this job where needed.

        Raises Rejection where a cap is met, and UnaccountedError. Call `settle` for every request that was drawn for.
        """
        while True:
            changed = self._changed
            async with self._turn:
                if self.cut is not None:
                    raise _refused(self.cut)
                self._own.hold(number, Holding(tokens, usd))
                try:
                    met, fits = await self._in_writer(self._reserved)
                except BaseException as error:
                    self._own.release(number)
                    if isinstance(error, InfrastructureError):
                        raise UnaccountedError(str(error)) from error
                    raise
                if met is None and (fits or self._own.holding == 1):
                    return
                self._own.release(number)
                self._writer.submit(self._own.write)
            if met is not None:
                self.cut = met
                raise _refused(met)
            await changed.wait()

    def settle(self, number: int, *, tokens: int, usd: float, estimated_usd: float | None) -> None:
        """Count what a request used. It is durable before the job's next request is sent."""
        self._own.settle(number, tokens=tokens, usd=usd, estimated_usd=estimated_usd)
        self._writer.submit(self._own.write)  # a failure shows at the next line
        self._changed.set()
        self._changed = asyncio.Event()

    async def _in_writer(self, action: Callable[[], tuple[str | None, bool]]) -> tuple[str | None, bool]:
        return await asyncio.get_running_loop().run_in_executor(self._writer, action)

    def _reserved(self) -> tuple[str | None, bool]:
        """Make the reservation durable, then look: why nothing may be bought, and whether all reserved fits."""
        self._own.write()
        if all(cap.caps == Caps() for cap in self._caps):
            return None, True
        look = self._ledger.look()
        if self._ledger.succeeded(self._own.name):
            raise InfrastructureError("another attempt took the place of this one")
        return self._met(look), self._met(look, reserved=True) is None

    def _met(self, look: Look, *, reserved: bool = False) -> str | None:
        """Which cap is met by what is spent, or by that and what is reserved."""
        for cap in self._caps:
            models = look.of(scripted=self._scripted, setting=cap.setting)
            gpu_h = look.of(scripted=None, setting=cap.setting).gpu_s / 3600
            tokens = models.tokens + (models.held_tokens if reserved else 0)
            usd = models.usd + (models.held_usd if reserved else 0.0)
            amounts = (
                ("tokens", f"{tokens} of {cap.caps.tokens} tokens", tokens),
                ("cost_usd", f"{usd:.4f} of {cap.caps.cost_usd or 0:g} dollars", usd),
                ("gpu_h", f"{gpu_h:.3g} of {cap.caps.gpu_h or 0:g} GPU hours", gpu_h),
            )
            for name, said, amount in amounts:
                bound = getattr(cap.caps, name)
                if bound is not None and amount >= bound and (name != "gpu_h" or self._gpus):
                    return f"{said} of {cap.whose} budget are used; raise {cap.field}.{name} and start again"
        return None

    def _watch(self, account: Account, over: threading.Event, stop: Callable[[str], None]) -> None:
        """Write down the GPU hours as they pass, and stop the run when they are used up."""
        capped = any(cap.caps.gpu_h is not None for cap in self._caps)
        while not over.wait(GPU_LOOK_S):
            try:
                account.write()
                met = self._met(self._ledger.look()) if capped else None
            except InfrastructureError as error:
                stop(str(error))
                return
            if met is not None:
                self.cut = met
                stop(met)
                return

    @property
    def _own(self) -> Account:
        if self._account is None:
            raise RuntimeError("the funds have no account")
        return self._account


def _refused(reason: str) -> Rejection:
    return Rejection(403, "permission_error", f"matproof limit: {reason}", retry=False)


def _need_price(model: str, table: ModelTable, cap: str) -> None:
    if model in table.models and prices_of(table, model) is None:
        remedy = f"add a price for {model}, or remove {cap}"
        raise InputError("models.yaml", f"models.{model}.prices", f"{cap} needs a price", remedy)
