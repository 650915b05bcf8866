"""Nothing that leads to released code stays in a paper's text, and nothing else is touched."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.papers.links import PLACEHOLDER, remove_links

LINKS = (
    "https://github.com/foo/bar",
    "http://example.org",
    "HTTPS://GitHub.COM/Foo",
    "www.example.org/code",
    "ftp://ftp.example.org/pub",
    "git@github.com:foo/bar.git",
    "git+https://github.com/foo/bar@v1#egg=bar",
    "ssh://git@example.org/x",
    "github.com/foo/bar",
    "foo.github.io/bar",
    "github . com / foo / bar",
    "github[dot]com/foo",
    "github (dot) com/foo",
    "zenodo dot org",
    "https%3A%2F%2Fgithub.com%2Ffoo%2Fbar",
    "github%2Ecom/foo",
    "github&#46;com/foo",
    r"github\.com/foo",
    "git\u200bhub.com/foo",
    "ｇithub.com/foo",
    "hxxps://github.com/foo",
    "zenodo.org/record/123",
    "gitlab.inria.fr/team/code",
    "huggingface.co/org/model",
    "hf.co/org/model",
    "osf.io/ab12c",
    "figshare.com/articles/1",
    "archive.materialscloud.org/record/2020.1",
    "bit.ly/3abcd",
    "doi.org/10.5281/zenodo.123",
    "https://dx.doi.org/10.1016/0022-3697(66)90113-1",
    "10.5281/zenodo.1234567",
    "doi:10.1103/PhysRevB.79.085104",
    "DOI: 10.1098/rspa.1934.0106",
    "10.1038/35065725",
    "arXiv:2605.00803v1",
    "arxiv.org/abs/2605.00803",
    "swh:1:rev:0123456789012345678901234567890123456789",
    "gh:foo/bar",
    "foo/bar.git",
    "//github.com/foo",
    "user@github.com",
)
BROKEN = (
    "https://github.com/foo/\nbar-baz",
    "https://github.com/fo\no/bar",
    "https://github.\ncom/foo/bar",
    "https://\ngithub.com/foo",
    "git-\nhub.com/foo",
    "git\nhub.com/foo",
    "https://github.com/foo-\nbar/x",
    "10.5281/zenodo.\n1234567",
    "10.5281/\nzenodo.1234567",
    "10.\n5281/zenodo.1234567",
    "10.1103/PhysRevB.\n79.085104",
)
NO_LINKS = (
    "The ratio 10.1/3.5 and 10.1000 / x and 10.1000/x and 10.1234/5.6.",
    "from ase.io import read; read('a.cif')",
    "5.0 eV/atom, eV/f.u., S cm^-1, W/(m K), 3/4 and and/or",
    "in HF. Co is a metal. The zenodo project and GitHub are named.",
    "write to a.b@uni.edu",
    "![Figure 1](figures/1.png) and [the results](#results) and [a](../b.md)",
    'see <a href="#table-1">Table 1</a> and <b>bold</b>',
    "Haas, Tran, Blaha, Phys. Rev. B 79, 085104 (2009)",
    "The HTTP protocol; time 12:30; key: value; C:\\path; x := y/z; 2 // 3",
    "a_0 = 5.43\n\n| a | b |\n| --- | --- |\n| 1.0 | 2.0 |\n",
    "",
)


@pytest.mark.parametrize("link", LINKS)
def test_a_link_is_removed_and_listed_with_its_line(link: str) -> None:
    text, removed = remove_links(f"First line.\nThe code is at {link} now.\n")
    assert text == f"First line.\nThe code is at {PLACEHOLDER} now.\n"
    assert [(one.text, one.line) for one in removed] == [(link, 2)]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("around", ["({})", "{}.", "<{}>", '"{}"', "see {}, and", "**{}**", "`{}`"])
def test_punctuation_around_a_link_stays(link: str, around: str) -> None:
    text, _ = remove_links(around.format(link))
    wanted = PLACEHOLDER if around == "<{}>" else around.format(PLACEHOLDER)
    assert text == wanted


@pytest.mark.parametrize("link", BROKEN)
def test_a_link_broken_across_lines_is_removed_whole_and_no_line_moves(link: str) -> None:
    text, removed = remove_links(f"At {link} and then.\nLast line 10.5281/zenodo.1")
    assert text == f"At {PLACEHOLDER}\n and then.\nLast line {PLACEHOLDER}"
    assert [one.line for one in removed] == [1, 3]


@pytest.mark.parametrize("text", NO_LINKS)
def test_what_is_no_link_stays_as_it_is(text: str) -> None:
    assert remove_links(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[our code](https://github.com/a/b)", f"our code {PLACEHOLDER}"),
        ('[our code](<https://github.com/a/b> "title")', f"our code {PLACEHOLDER}"),
        ("[x](https://doi.org/10.1016/0022-3697(66)90113-1).", f"x {PLACEHOLDER}."),
        ("[https://github.com/a](https://github.com/a)", PLACEHOLDER),
        ("![plot](https://example.org/p.png)", f"plot {PLACEHOLDER}"),
        ("[a [b] c](http://x.org)", f"a [b] c {PLACEHOLDER}"),
        ("as shown [here][1]\n\n[1]: https://x.org/y 'title'", f"as shown [here][1]\n\n[1]: {PLACEHOLDER} 'title'"),
        ('<a class="x" href="https://x.org">the data</a>', f"the data {PLACEHOLDER}"),
        ('<a href="https://x.org">https://x.org</a>', PLACEHOLDER),
        ('<img src="https://x.org/a.png" alt="a">', PLACEHOLDER),
        (r"\url{https://x.org/a}", r"\url{" + PLACEHOLDER + "}"),
    ],
)
def test_the_words_of_a_markdown_or_html_link_stay(text: str, wanted: str) -> None:
    assert remove_links(text)[0] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("https://x.org/\nThe code", f"{PLACEHOLDER}\nThe code"),
        ("https://x.org/a\nand more", f"{PLACEHOLDER}\nand more"),
        ("https://x.org/a/\nand more", f"{PLACEHOLDER}\nand more"),
        ("doi:10.1103/PhysRevB.79.085104.\n2. Author", f"{PLACEHOLDER}.\n2. Author"),
        ("https://x.org/a/\n\nnext paragraph", f"{PLACEHOLDER}\n\nnext paragraph"),
        ("https://x.org/a/\n- item", f"{PLACEHOLDER}\n- item"),
        ("https://x.org/a/\n# Heading", f"{PLACEHOLDER}\n# Heading"),
    ],
)
def test_the_line_after_a_link_is_not_swallowed(text: str, wanted: str) -> None:
    assert remove_links(text)[0] == wanted


_PIECES = st.one_of(
    st.sampled_from(LINKS + BROKEN + NO_LINKS),
    st.sampled_from(["[", "](", ")", "<", ">", '<a href="', '">', "</a>", "\n", " ", "/", ".", "-", "\\", "%", "10."]),
    st.sampled_from(["http", "://", "git", "hub", ".com", "doi", ".org", "&#46;", "\u200b", "word"]),
    st.text(max_size=5),
)


@given(st.lists(_PIECES, max_size=12).map("".join))
def test_removal_is_complete_and_a_second_one_finds_nothing(text: str) -> None:
    once, removed = remove_links(text)
    assert remove_links(once) == (once, [])
    assert not re.search(r"https?://|doi\.org\b|github\.com\b", once, re.IGNORECASE)
    assert once.count("\n") == text.count("\n")
    assert bool(removed) == (once != text)


@given(st.lists(st.sampled_from(LINKS), min_size=1, max_size=5))
def test_each_link_on_its_own_line_is_listed_with_that_line(links: list[str]) -> None:
    _, removed = remove_links("\n\n".join(f"see {link} for it" for link in links))
    assert [one.line for one in removed] == [2 * index + 1 for index in range(len(links))]


@given(st.text(alphabet="abcdefg 0123456789,;()[]\n*#_=+", max_size=300))
def test_text_without_a_dot_slash_or_colon_is_never_changed(text: str) -> None:
    assert remove_links(text) == (text, [])


def test_only_the_start_of_a_very_long_link_is_listed() -> None:
    _, removed = remove_links("https://x.org/" + "a" * 10_000)
    assert len(removed[0].text) == 500
