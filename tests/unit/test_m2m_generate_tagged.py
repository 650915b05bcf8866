"""Tagged replies: read as models write them, never guessed, never slow."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matproof.suites.matter_to_mechanism.rows import steps
from matproof.suites.matter_to_mechanism.tagged import MAX_FIELD_CHARS, TAGS, parse_tagged

FORM = {
    "HYPOTHESIS": "a coat protects",
    "INTERVENTION": "coat it",
    "MECHANISM": "it blocks",
    "REASONING": "[Begin Step 1] look [End Step 1]",
    "TARGET_PROPERTY": "life",
    "CLAIMED_OUTCOME": "80 %",
}
WORD = st.text("abcdefghij klmno 0123456789 %.,", min_size=1, max_size=60).filter(
    lambda text: any(map(str.isalnum, text))
)


def test_the_form_that_is_asked_for_is_read_whole() -> None:
    read = parse_tagged("\n".join(f"[{tag}]\n{text}" for tag, text in FORM.items()))
    assert read.fields == {TAGS[tag]: text for tag, text in FORM.items()}
    assert (read.missing, read.notes, read.problem) == ((), (), None)


@pytest.mark.parametrize(
    "pattern",
    [
        "[{tag}] {text}",
        "[{lower}]: {text}",
        "**[{tag}]** {text}",
        "### [{tag}]\n\n{text}",
        "> [{tag}]\n{text}",
        "[{tag}]\n{text}\n[/{tag}]",
        "<{lower}>{text}</{lower}>",
        "[ {tag} ]\n```\n{text}\n```",
        "## {title}\n{text}",
        "**{title}:** {text}",
        "{title}: {text}",
    ],
)
def test_common_other_ways_of_writing_tags_are_read(pattern: str) -> None:
    parts = [
        pattern.format(tag=tag, lower=tag.lower(), title=tag.replace("_", " ").title(), text=text)
        for tag, text in FORM.items()
    ]
    assert parse_tagged("\n".join(parts)).fields == {TAGS[tag]: text for tag, text in FORM.items()}


def test_tags_on_one_line_are_read() -> None:
    read = parse_tagged("[HYPOTHESIS] a [INTERVENTION] b [MECHANISM] c")
    assert [read.fields[name] for name in ("hypothesis", "intervention_or_solution", "mechanism_or_rationale")] == [
        "a",
        "b",
        "c",
    ]
    assert read.missing == ("REASONING", "TARGET_PROPERTY", "CLAIMED_OUTCOME")


def test_a_tag_that_is_mentioned_inside_a_sentence_cuts_nothing() -> None:
    read = parse_tagged("[HYPOTHESIS]\nas [MECHANISM] tells, it holds\n[MECHANISM]\nit blocks")
    assert read.fields["hypothesis"] == "as [MECHANISM] tells, it holds"


def test_thoughts_before_the_answer_are_left_out() -> None:
    read = parse_tagged("<think>[HYPOTHESIS]\ndraft</think>\n[HYPOTHESIS]\nfinal\n[INTERVENTION]\nx")
    assert read.fields["hypothesis"] == "final"


def test_a_reply_that_ends_in_thought_is_no_answer() -> None:
    assert parse_tagged("<think>\n[HYPOTHESIS]\ndraft\n[MECHANISM]\nm").problem == "none of the tags is in the reply"


def test_of_a_tag_given_twice_the_last_counts_and_is_noted() -> None:
    read = parse_tagged("[HYPOTHESIS]\none\n[INTERVENTION]\nx\n[HYPOTHESIS]\ntwo")
    assert read.fields["hypothesis"] == "two"
    assert "HYPOTHESIS given 2 times, the last counts" in read.notes


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("I can't help with that.", "none of the tags is in the reply"),
        ("", "none of the tags is in the reply"),
        ("[INTERVENTION]\ncoat", "the reply has no text under [HYPOTHESIS]"),
        ("[HYPOTHESIS]\n...\n[INTERVENTION]\ncoat", "the reply has no text under [HYPOTHESIS]"),
        ("[HYPOTHESIS]\n[your hypothesis here]\n[MECHANISM]\nm", "the reply has no text under [HYPOTHESIS]"),
    ],
)
def test_a_reply_without_a_hypothesis_says_why(reply: str, problem: str) -> None:
    assert parse_tagged(reply).problem == problem


@pytest.mark.parametrize(
    "reasoning",
    [
        "[begin  step 1] look [END STEP 1]\n[Begin Step 2:] think [End Step 2:]",
        "Step 1: look\nStep 2: think",
        "**Step 1.** look\n**Step 2.** think",
        "- Step 1 – look\n- Step 2 – think",
    ],
)
def test_steps_end_up_in_the_tags_that_the_scorer_reads(reasoning: str) -> None:
    read = parse_tagged(f"[HYPOTHESIS]\nh\n[REASONING]\n{reasoning}\n[MECHANISM]\nm")
    assert steps(read.fields["reasoning_process"]) == ["look", "think"]


def test_a_field_that_is_too_long_is_cut_and_noted() -> None:
    read = parse_tagged(f"[HYPOTHESIS]\n{'x' * 30_000}\n[MECHANISM]\nm")
    assert len(read.fields["hypothesis"]) == MAX_FIELD_CHARS
    assert any("cut at" in note for note in read.notes)


@settings(max_examples=60, deadline=None)
@given(st.fixed_dictionaries(dict.fromkeys(("HYPOTHESIS", "INTERVENTION", "MECHANISM"), WORD)))
def test_what_is_written_under_a_tag_comes_back(texts: dict[str, str]) -> None:
    read = parse_tagged("\n".join(f"[{tag}]\n{text}" for tag, text in texts.items()))
    assert {tag: read.fields[TAGS[tag]] for tag in texts} == {tag: text.strip() for tag, text in texts.items()}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["[HYPOTHESIS]", "[/HYPOTHESIS]", "[", "<", "*", "\n", " ", "step 1:", "# ", "```", "é"]))
)
def test_no_reply_makes_the_reader_fail(parts: list[str]) -> None:
    read = parse_tagged("".join(parts))
    assert set(read.fields) == set(TAGS.values())


@pytest.mark.parametrize(
    "piece", ["[HYPOTHESIS]", "[", "*", " ", "\n", "```\n", "# ", "Step 1:", "[/HYPOTHESIS] ", "<think>"]
)
def test_long_hostile_replies_are_read_in_time(piece: str) -> None:
    """200,000 characters, the longest reply; a quadratic pattern would take minutes here."""
    text = "[HYPOTHESIS]\n" + piece * (200_000 // len(piece)) + "x"
    assert set(parse_tagged(text).fields) == set(TAGS.values())
