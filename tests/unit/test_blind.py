"""A judge does not learn whose run it reads."""

from hypothesis import given
from hypothesis import strategies as st

from matproof.core.masking import MASK, mask

NAMES = ("claude-sonnet-4-6", "claude", "sonnet", "gpt", "CC-Opus")


def test_names_and_versions_are_masked_in_any_case() -> None:
    text = "I am Claude Sonnet 4.6 (claude-sonnet-4-6), not GPT-5.4, under cc-opus."
    masked = mask(text, NAMES)
    assert masked == f"I am {MASK} {MASK} ({MASK}), not {MASK}, under {MASK}."


def test_words_that_only_contain_a_name_stay() -> None:
    assert mask("sonnets and gptx and claudette", NAMES) == "sonnets and gptx and claudette"


@given(st.text(alphabet='aclude-GPT5.4 \n{}"', max_size=80))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    assert mask(mask(text, NAMES), NAMES) == mask(text, NAMES)


def test_an_underscore_parts_words_and_a_version_may_follow_a_space() -> None:
    assert mask("claude_notes.py by Opus 4.6 and my_gpt", ["claude", "opus", "gpt"]) == (
        f"{MASK}_notes.py by {MASK} and my_{MASK}"
    )
    assert mask("the opuses saw 3 claude files, 12 opus 3 times", ["opus", "claude"]) == (
        f"the opuses saw 3 {MASK} files, 12 {MASK} 3 times"
    )
