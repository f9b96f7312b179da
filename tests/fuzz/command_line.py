"""The command line under random arguments: it ends with a code of its own and prints no controls.

Arguments are drawn from what people type, cut and glued, with text among them that acts on a
terminal or that no file system or encoding takes. Whatever is written stays in one folder.
"""

from __future__ import annotations

import io
import json
import operator
import pickle
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any
from unicodedata import category
from unittest.mock import patch

import pandas as pd

import recsys_ndcg as rn
from recsys_ndcg.cli import main
from tests.commands import StandardInput

HEADING = "user,item,estimated,true\n"
ROWS = "ann,a,4.5,5\nann,b,3.0,2\nann,c,2.0,4\nbob,a,2.0,4\nbob,b,3.5,3\n"
HOSTILE = "\x1b[31mred,=1+1,4,1\n\x9b2J,\u202ebob,3,0\n'=x,[bold]y,2,1\n:car:,[/],1,1\n"
OWN = "import recsys_ndcg as rn\n\n@rn.metric\ndef early(ranks):\n    return 1 / ranks\n"
FILES = {
    "data.csv": HEADING + ROWS, "odd.csv": HEADING + HOSTILE, "\x1b[31m.csv": HEADING + ROWS,
    "headings.csv": "\x1b]0;x\x07,\u2066b\u2069,c\td,e\n" + ROWS, "bare.csv": ROWS,
    "binary.csv": HEADING + "ann,a,4.5,1\nann,b,3.0,0\nbob,a,2.0,0\n", "packed.csv.gz": "no gzip",
    "lines.jsonl": '{"user": "\\u001b[31m", "item": 1, "estimated": 2, "true": 3}\n{"user": [1]}\n',
    "qrels": "1 0 d1 2\n1 0 d2 1\n", "run": "1 Q0 d2 1 0.5 \x1b[31m\n", "bad.parquet": "PAR1\x00",
    "numbers.csv": HEADING + "1,1,2,3\n1,2,1,4\n2,1,5,0\n", "bad.pickle": "\x80\x04\x95",
    "same.csv": HEADING + ROWS.replace("3.0", "1.0"), "bad.csv": HEADING + "ann,a,\x1b[2J,5\n",
    "other.csv": HEADING + ROWS.replace("bob", "cid"), "ragged.csv": HEADING + "ann,a,1,5,\x07\n",
    "huge.csv": HEADING + "1,1,1e308,1023\n1,2,-1e308,1e5\n", "empty.csv": "", "own.py": OWN,
    "ratings.csv": "".join(f"{n % 9},{n // 9},{n % 5 + 1}\n" for n in range(81)),
    "raises.py": "raise ValueError('\\x1b[31m')\n", "leaves.py": "raise SystemExit('\\x1b[31m')\n",
    "ends.py": "raise GeneratorExit\n",
}  # fmt: skip
#: What an option of each kind takes; Ω is a number of 5000 digits, Λ a name of 300 letters.
WORDS = {
    "file": "none.csv~.~folder.csv~folder.parquet~ok.parquet~ok.pickle~/dev/null~/nowhere/x.csv~"
        "Λ~\udcff.csv~-",
    "other": "data.csv~qrels~run~-~none~odd.csv",
    "sep": ',~;~tab~::~\n~"~ab',
    "decimal": ".~,~x",
    "encoding": "utf-8~latin-1~utf-16~cp500~base64~x",
    "form": "text~markdown~latex~json~JSON~x",
    "output": "-~out.parquet~out.csv.gz~out~out.json~out.csv~data.csv~folder.csv~/dev/null~"
        "/dev/full~/nowhere/x~Λ~\x1b[31m.json~./data.csv",
    "k": "1~2~10~5,10~0~-1~1e9~99999999999999999999~9223372036854775807~Ω~,~1,~ 3 ~٣~1_0~nan~2.0",
    "number": "4~0~-1~nan~inf~-inf~1e400~1e308~-0~x~4,5~1_0~0x1~٣~1e-400",
    "metric": "ndcg~ndcg@5~precision@2~map@10~rr~rbp(p=0.9)@3~rbp(2)~auc~rmse~ndcg@~ndcg@_~"
        "ndcg@-1~ndcg@1e9~ndcg@99999999999999999999~ndcg@Ω~rbp(p=((((~rbp(p='\x1b')~"
        "rbp(p=1or 2)~ndgc~,~own:early~own:early@5~own:late~raises:x~leaves:x~ends:x~os:system~"
        "os.:x~a..b:c~:~none:x~(~ndcg(~@~rbp(p=1e400)@2~hit@1,rr",
    "preset": "sklearn~catboost~trec_eval~sklaern~\x1b[31m",
    "choice": "gain=linear~ties=input~ties=worst~gain=0:0/1:1~gain=1:0/5~gain=map(~"
        "gain=map(0=0,5=1)~gain=callable(x)~gain=:~gain=nan:1~undefined=0~undefined=raise~"
        "ideal=max~max_grade=1e400~max_grade=5~tie_tolerance=-1~tie_tolerance=nan~"
        "tie_tolerance=1e-400~tie_tolerance=1e308~x=y~=~ties~recommend_from=threshold~"
        "recommend_from=inf~short_list=drop~a|b~|~x|threshold:4.0.0~mean_over=relevant~"
        "unlabelled=filter~gain=binary~ndcg@10|defaults:50b6cd49|threshold:1e400~"
        "defaults:50b6cd49|threshold:-.-~ndcg@10|defaults:50b6cd49|threshold:e~"
        "discount=log2_max~gain=exponential_above~ideal=max,max_grade=2000~duplicates=mean~"
        "\x1b=\x1b",
    "columns": "user=uid~user=item~user=item,item=user~estimated=true~true=rank~rank=true~"
        "user=\x1b]0;x\x07~item=\u2066b\u2069,user=c\td~=~user~,~user=~x=y~estimated=user~"
        "user=user,user=item~true=estimated",
    "user": "ann~1~\x1b[31mred~\u202e~nan~none~[bold]x",
    "limit": "ndcg@10=0.5~ndcg@2=1~rmse=1~mae=0~ndcg=0~rr=80~=~=1~ndcg@10=~ndcg@10=nan~"
        "rmse=1e400~x=1~rbp(p=0.9)@3=0.2~own:early=0.1~\x1b=1",
    "model": "data.csv~same.csv~saved.json~numbers.csv~none.csv~data~a~=~a=~=data.csv~-~"
        "a=data.csv~\x1b[31m=odd.csv~\x1b[31m.csv~\u202e~folder.csv~cut.json~./data.csv~chance~"
        "other.csv~data.csv,sep=,~data.csv,sep=~data.csv,heading=x~-,encoding=x~data.csv,sep=\x1b",
    "by": "activity~list_length~relevant~cold~training_ratings~x~data.csv~same.csv~none.csv~"
    "folder.csv~bare.csv",
    "test": "t~randomisation~bootstrap~wilcoxon~sign~f",
    "correction": "max-T~holm~bonferroni~bh~none~x",
    "users": "all~common~some",
    "sort": "score~adjusted~z~zz",
    "seed": "0~1~-1~4294967295~4294967296~99999999999~Ω~x",
}  # fmt: skip
#: Text that any option may get.
ODD = ["", "\x1b", "\udcff", "\0"]
COMMON = (
    "--threshold=number --preset=preset --convention=choice --columns=columns --format=form "
    "--sep=sep --decimal=decimal --encoding=encoding --list-sep=sep --labels=other --qrels=other "
)
GATES = (
    "--fail-under=limit --fail-above=limit --fail-if-worse=model --gate-metric=metric "
    "--margin=number --alpha=number --users=users -k=k --metrics=metric "
)
TABLES = COMMON + "--results=other --run=other "
#: The options of each command, and the kinds of text that they take.
COMMANDS = {
    "evaluate": f"{TABLES}{GATES}--per-user=output --json=output",
    "compare": f"{COMMON}{GATES}--baseline=model --by=by --test=test --correction=correction "
               "--seed=seed --save=output --train=by",
    "leaderboard": f"{TABLES}--metric=metric --sort=sort -n=k", "presets": "--format=form",
    "explain": f"{TABLES}-k=k --user=user", "metrics": "--format=form",
    "reconcile": f"{TABLES}--metric=metric --reported=number",
    "demo": "--threshold=number -k=k --seed=seed",
}  # fmt: skip
NEEDED = ("--user", "--metric")
FLAGS = ["--no-heading", "--quiet", "--full-signature", "--version"]
GLUE = [
    "--", "-", "--help", "=", ",", "|", ":", "@", "\x1b[2J", "\x9b", "\x7f", "\r", "\n", "\t",
    "\u202e", "\u200b", "\ufeff", "\udc80", "\udcff", "\0", "[bold]", ":smile:", "é", "😀",
]  # fmt: skip


def case(random: Random) -> bytes:
    """Return arguments, and the encoding of the terminal, as JSON."""
    takes = {kind: _words(text) for kind, text in WORDS.items()}
    takes["file"] += [*FILES]
    command = random.choice([*COMMANDS] * 5 + ["", "evalaute", "--help"])
    words = [command]
    if command == "demo":
        words += ["--ratings", random.choice(["ratings.csv", random.choice(takes["file"])])]
    elif "--columns" in COMMANDS.get(command, "") and random.random() < 0.95:
        words.append(random.choice(["data.csv", "odd.csv", random.choice(takes["file"])]))
    if command == "compare":
        words += random.choices(takes["model"][:3] * 3 + takes["model"], k=random.randrange(4))
    options = dict(one.split("=") for one in COMMANDS.get(command, TABLES).split())
    wanted = [one for one in NEEDED if one in options and command not in {"evaluate", "compare"}]
    for option in wanted + random.choices([*options], k=random.randrange(4)):
        value = random.choice(takes[options[option]])
        if random.random() < 0.1 and options[option] != "output":
            place = random.randrange(len(value) + 1)
            value = value[:place] + random.choice(GLUE) + value[place:]
        words += [f"{option}={value}"] if random.random() < 0.1 else [option, value]
    if random.random() < 0.2:
        words.append(random.choice(FLAGS))
    if random.random() < 0.1:
        words.insert(random.randrange(len(words) + 1), random.choice(GLUE))
    encoding = random.choice(["utf-8", "utf-8", "ascii", "cp1252"])
    return json.dumps({"encoding": encoding, "words": words}).encode()


def _words(text: str) -> list[str]:
    return text.replace("Ω", "9" * 5000).replace("Λ", "n" * 300).split("~") + ODD


def run(case: bytes, folder: Path) -> None:
    """Run the command line with such arguments; what it does not expect is raised.

    Raises
    ------
    AssertionError
        It ends with a code that is none of its own, or prints what acts on a terminal.
    """
    _prepare(folder)
    encoding, words = operator.itemgetter("encoding", "words")(json.loads(case))
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="") for _ in range(2))
    code: Any = None
    with (
        chdir(folder),
        # no system hands a zero byte over
        patch.object(sys, "argv", ["recsys-ndcg", *(one.replace("\0", "") for one in words)]),
        patch.object(sys, "stdin", io.TextIOWrapper(StandardInput((HEADING + ROWS).encode()))),
        patch.dict("os.environ", {"RECSYS_NDCG_TRACEBACK": "1"}),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    printed = []
    for stream in (out, err):
        stream.flush()
        printed.append(stream.buffer.getvalue().decode(encoding))
    assert code in (None, 0, 1, 2), f"ended with {code!r}"
    assert code != 2 or printed[1].startswith("error: "), f"no error message: {printed[1]!r}"
    if "--per-user" in words or "--per-user=-" in words:
        del printed[0]  # perhaps for a program, which gets ids as they are
    acting = {one for one in "".join(printed) if category(one) in {"Cc", "Cf", "Cs"}} - {"\n"}
    assert not acting, f"{sorted(acting)!r} in {''.join(printed)!r}"


def _prepare(folder: Path) -> None:
    """Write the files that are missing, and the one that a case may have written over."""
    for name, text in FILES.items():
        path = folder / name
        if not path.exists() or name == "data.csv":
            path.write_text(text, encoding="utf-8")
    if not (folder / "ok.pickle").exists():
        for name in ("folder.csv", "folder.parquet"):
            (folder / name).mkdir(exist_ok=True)
        rows: list[Any] = [("\x1b[31m", "a", 1.0, 2.0, {}), ("\u2066", "b", 3.0, 1.0, {})]
        (folder / "ok.pickle").write_bytes(pickle.dumps(rows))
        pd.read_csv(folder / "odd.csv").to_parquet(folder / "ok.parquet")
        rn.evaluate(folder / "data.csv").save(folder / "saved.json")
        saved = (folder / "saved.json").read_text(encoding="utf-8")
        (folder / "cut.json").write_text(saved[: len(saved) // 2], encoding="utf-8")
