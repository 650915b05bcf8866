"""A judge does not learn whose run it reads."""

from hypothesis import given
from hypothesis import strategies as st

from matproof.evaluation.blind import MASK, mask

NAMES = ("claude-sonnet-4-6", "claude", "sonnet", "gpt", "CC-Opus")


def test_names_and_versions_are_masked_in_any_case() -> None:
    text = "I am Claude Sonnet 4.6 (claude-sonnet-4-6), not GPT-5.4, under cc-opus."
    masked = mask(text, NAMES)
    assert masked == f"I am {MASK} {MASK} 4.6 ({MASK}), not {MASK}, under {MASK}."


def test_words_that_only_contain_a_name_stay() -> None:
    assert mask("sonnets and gptx and claudette", NAMES) == "sonnets and gptx and claudette"


@given(st.text(alphabet='aclude-GPT5.4 \n{}"', max_size=80))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    assert mask(mask(text, NAMES), NAMES) == mask(text, NAMES)
