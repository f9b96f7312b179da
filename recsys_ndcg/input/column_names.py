"""The names that other libraries and people give to our columns, read where it is plain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

#: What a column may be to us, and what people call it:
#: in small letters, without what stands between words, and without the type that RecBole appends.
#: A further column is one line here: its numbers are read where a table has it, and then taken,
#: grouped and joined like all others.
ROLES = {
    "user": "user uid userid useridx username customer customerid visitorid reviewerid accountid "
    "memberid query queryid qid topic topicid",
    "item": "item iid itemid itemidx movie movieid product productid book bookid isbn asin "
    "parentasin article articleid track trackid song songid artist artistid anime animeid "
    "business businessid game gameid news newsid video videoid sku doc docid docno document "
    "documentid",
    "estimated": "estimated est estimate prediction pred predicted predictedrating predictedscore "
    "ypred yhat score",
    "true": "true rui rating bookrating label grade relevance rel truerating "
    "truelabel groundtruth ytrue actual actualrating weight",
    "rank": "rank",
}
#: What is no grade nor score: when an interaction was, and the number of its row.
_BESIDE = (
    "unnamed index timestamp time datetime date day ts unixtime unixtimestamp unixreviewtime "
    "reviewtime eventtime createdat updatedat playedat"
)
#: A word in the name of a column that may hold grades, and the end of a name that does not.
_GRADE_WORD = re.compile(
    "(amount|bought|buy|click|clicked|cnt|confidence|count|duration|dwell|engagement|favou?rite|"
    "feedback|freq|frequency|gain|gold|grade|hour|interaction|interest|judge?ment|label|like|liked|"
    "listen|listened|mark|minute|play|playcount|played|point|pref|preference|purchase|purchased|"
    "qrel|qty|quality|quantity|rate|rated|.*rating|rel|relevance|relevant|response|reward|score|"
    "second|spend|spent|star|strength|target|thumb|times|truth|utility|val|.*value|view|viewcount|"
    "viewed|vote|watch|watched|weight)s?"
)
_NO_GRADE_END = re.compile("at|date|datetime|day|ids?|idx|index|time|timestamp|ts")
_DURATION = re.compile("(dwell|listen|listening|play|spent|view|viewing|watch)time")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NUMBER = re.compile(r"[-+]?[0-9]+([.,][0-9]*)?([eE][-+]?[0-9]+)?")


def roles_of(
    names: Iterable[Any], columns: Mapping[str, Any] | None = None
) -> dict[str, list[Any]]:
    """Return which columns of a table may be read as each of ours.

    Parameters
    ----------
    names : iterable
        Those of the table.
    columns : mapping, optional
        Our names to those of the table, where somebody says so.

    Returns
    -------
    dict of list
        One name where it is plain: the one that was said, or our own, or the only one known.

    Examples
    --------
    >>> roles_of(["userId", "movieId", "rating", "prediction"])
    {'user': ['userId'], 'item': ['movieId'], 'true': ['rating'], 'estimated': ['prediction']}
    >>> roles_of(["user", "uid", "score"], {"true": "score"})
    {'true': ['score'], 'user': ['user']}
    """
    found: dict[str, list[Any]] = {ours: [theirs] for ours, theirs in (columns or {}).items()}
    said = set(found)
    for name in names:
        role = _role_of(name)
        if role is None or role in said or any(name in found[one] for one in said):
            continue
        if name == role:
            found[role] = [name]
        elif role not in found.get(role, []):
            found.setdefault(role, []).append(name)
    return found


def column_list(names: Iterable[Any]) -> str:
    """Return the names of columns as a message shows them.

    Examples
    --------
    >>> column_list(["user", ""])
    "user, ''"
    """
    return ", ".join(str(one) if str(one).strip() else repr(one) for one in names) or "none"


def _role_of(name: Any) -> str | None:
    if not isinstance(name, str):
        return None
    word = _word(name)
    return next((role for role, words in ROLES.items() if word in words.split()), None)


def is_beside(name: Any) -> bool:
    """Tell the name of a column of times, or of the numbers of the rows.

    Examples
    --------
    >>> [is_beside(name) for name in ("timestamp:float", "Unnamed: 0", "playtime")]
    [True, True, False]
    """
    return isinstance(name, str) and _word(name) in ("", *_BESIDE.split())


def may_be_grade(name: Any) -> bool:
    """Return whether a column of labels may hold the grade, by its name.

    The name has a word for grades or counts, or says nothing at all.

    Examples
    --------
    >>> [may_be_grade(name) for name in ("play_count", "watch_time", "stars", "x", 2)]
    [True, True, True, True, True]
    >>> [may_be_grade(name) for name in ("session", "device", "click_id", "country", "timestamp")]
    [False, False, False, False, False]
    """
    if is_beside(name):
        return False
    words = [one.lower() for one in _WORDS.findall(str(name).partition(":")[0])]
    if _DURATION.fullmatch("".join(words)):
        return True
    if not isinstance(name, str) or len("".join(words)) <= 1:
        return True
    return any(map(_GRADE_WORD.fullmatch, words)) and not _NO_GRADE_END.fullmatch(words[-1])


def _word(name: str) -> str:
    """Return a name as those above are written."""
    return re.sub(r"[\W_]", "", name.partition(":")[0]).lower()


def seems_headless(names: Iterable[Any]) -> bool:
    """Tell names among which are numbers: the first row of a file that has no heading.

    Examples
    --------
    >>> seems_headless(["ann", "a", "4.5", "5"]), seems_headless(["user", "item", "est"])
    (True, False)
    """
    return any(isinstance(name, str) and _NUMBER.fullmatch(name) for name in names)
