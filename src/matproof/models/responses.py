"""What stands behind a `previous_response_id`: conversations of which the provider keeps the earlier part."""

from collections import OrderedDict
from dataclasses import replace

from matproof.models.base import Json
from matproof.models.conversation import Conversation

KEPT_RESPONSES = 1000


class KeptResponses:
    """Conversations by the id of their last response; the oldest are forgotten."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Conversation] = OrderedDict()

    def joined(self, body: Json, talk: Conversation) -> Conversation:
        """The whole conversation of a request that says `talk` itself."""
        before = self._kept.get(str(body.get("previous_response_id")))
        if before is None:
            return talk
        return replace(
            talk,
            turn=before.turn + talk.turn,
            tool_results=before.tool_results + talk.tool_results,
            prompt=before.prompt,
            opening=before.opening,
            cwd=talk.cwd or before.cwd,
        )

    def keep(self, response: str, talk: Conversation) -> None:
        """The conversation `talk` was answered with `response`."""
        self._kept[response] = replace(talk, turn=talk.turn + 1)
        self._kept.move_to_end(response)
        while len(self._kept) > KEPT_RESPONSES:
            self._kept.popitem(last=False)
