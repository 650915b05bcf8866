"""A planned command line that would work outside the artifact directory is found before it runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from matproof.agents.orchestrated.command_line import departure
from matproof.agents.orchestrated.sessions import Diagnosis

HOME = "/work/artifacts"


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("cd /work/payload/code && python run.py", "changes to /work/payload/code"),
        ("cd .. && ls", "changes to /work"),
        ("cd sub/../../x; ls", "changes to /work/x"),
        ("mkdir a && cd a && cd ../..", "changes to /work"),
        ("if true; then cd /root; fi", "changes to /root"),
        ("A=1 pushd /etc", "changes to /etc"),
        ("bash -c 'cd /etc; make'", "changes to /etc"),
        ("python x.py > /work/out.txt", "writes to /work/out.txt"),
        ("python x.py >> ../out.txt", "writes to /work/out.txt"),
        ("python x.py 2>/home/agent/err", "writes to /home/agent/err"),
        ("cp -r data /work/payload/", "cp writes to /work/payload"),
        ("echo x | tee /work/steps/log", "tee writes to /work/steps/log"),
        ("(cd sub && make) && cd ..", "changes to /work"),
        ("true\ncd /etc\n", "changes to /etc"),
    ],
)
def test_a_way_out_is_named(line: str, how: str) -> None:
    assert departure(line, ".", HOME) == how


@pytest.mark.parametrize(
    "line",
    [
        "python run.py --data /work/payload/inputs/a.csv > out.txt 2>&1",
        "cp -r /work/payload/code/. code && cd code && make",
        "cd /work/artifacts/sub && python x.py",
        "(cd sub && cd deeper) && touch a",
        "mkdir -p sub && cd sub && cd .. && ls",
        'cd "$TMPDIR" && cd ../.. && touch x',
        "python x.py > /dev/null",
        "tar xf a.tar -C /tmp && rm -rf /tmp/a",
        "echo 'cd /etc > /etc/passwd'",
        "cat > run.py <<'EOF'\ncd /etc\nit's > /x\nEOF\npython run.py",
        'grep -c "a" < /work/payload/claim.txt',
        "awk '{ print $1 > \"/etc/x\" }' file",
        'echo "unclosed',
        "",
    ],
)
def test_work_inside_and_what_only_the_shell_knows_is_let_be(line: str) -> None:
    assert departure(line, ".", HOME) is None


def test_a_step_that_starts_below_may_go_up_to_the_artifacts() -> None:
    assert departure("cd ..", "sub", HOME) is None
    assert departure("cd ../..", "sub", HOME) == "changes to /work"


@given(st.text(alphabet="cd /.;&|()<>'\"\\$`\n aEOF-=2", max_size=60))
def test_any_line_is_read_to_its_end(line: str) -> None:
    departure(line, ".", HOME)


def test_a_diagnosis_that_leaves_is_sent_back_too() -> None:
    with pytest.raises(ValidationError, match="changes to /etc"):
        Diagnosis(decision="retry_changed", command="cd /etc && ls", explanation="x")
    with pytest.raises(ValidationError, match="outside the artifact directory"):
        Diagnosis(decision="retry_changed", workdir="../..", explanation="x")
