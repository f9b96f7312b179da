"""The choices of measures beyond accuracy: popularity, novelty, diversity, coverage, Gini."""

from __future__ import annotations

#: A sentence about each value of each choice, the default first.
DESCRIPTIONS: dict[str, dict[str | float, str]] = {
    "popularity_of": {
        "users": "The popularity of an item is the number of its users in training.",
        "rows": "The popularity of an item is the number of its rows in training; repeated rows "
        "count in their user's history, too.",
    },
    "popularity_as": {
        "count": "Popularity is a count.",
        "share": "Popularity is divided by the number of training rows.",
        "max": "Popularity is divided by the largest popularity.",
        "rank": "Popularity is the item's rank from the least popular, over the number of items "
        "(equal counts share their mean rank).",
    },
    "cold_item": {
        "by_measure": "An item without training rows has the popularity 0, the novelty of an item "
        "of one user, and in EPC the value 1.",
        "zero": "An item without training rows counts as 0.",
        "one_user": "An item without training rows counts like an item of one user.",
        "rarest": "An item without training rows counts like the rarest item of training.",
        "drop": "An item without training rows is left out of numerator and denominator.",
        "raise": "An item without training rows is an error.",
    },
    "missing_feature": {
        "raise": "An item without an entry in the features is an error.",
        "drop": "An item without an entry in the features is left out.",
        "zero": "An item without an entry in the features has the value 0, or no members.",
    },
    "list_over": {
        "n": "A mean over a list is over its items, at most k.",
        "k": "A mean over a list is over k, also if the list is shorter.",
        "one": "Values of a list are added up, not averaged.",
        "full": "A mean over a list is over k; personalization counts the overlap of a list with "
        "itself as k items.",
    },
    "distance": {
        "by_column": "Distances: Jaccard of sets, cosine of vectors and of several columns of "
        "numbers, 0 or 1 of categories, the number of different columns if there are several of "
        "other kinds.",
        "hamming": "The distance of two items is the number of columns in which they differ.",
        "jaccard": "The distance of two items is 1 minus the share of common features.",
        "cosine": "The distance of two items is 1 minus the cosine of their features.",
        "category": "The distance of two items is 1 if they differ, else 0.",
        "cooccurrence": "The distance of two items is 1 minus the cosine of their training users.",
    },
    "universe": {
        "catalogue": "All items are the catalogue's.",
        "train": "All items are the training items.",
        "recommended": "All items are the recommended ones.",
        "padded": "All items are the catalogue's, and one more.",
    },
    "outside": {
        "raise": "A recommended item that is not among all items is an error.",
        "count": "A recommended item that is not among all items counts.",
        "ignore": "A recommended item that is not among all items is ignored.",
    },
    "tail": {
        "reach": "The tail is all items but the most popular ones that reach a share of all "
        "popularity.",
        "pass": "The tail is all items but the most popular ones that pass a share of all "
        "popularity.",
        "rarest": "The tail is a share of the items, the rarest.",
        "count": "The tail is the items with at most a number of training users (or rows).",
    },
    "seen": {
        "count": "A recommended item that the user had in training counts like any other.",
        "raise": "A recommended item that the user had in training is an error.",
    },
    "parity_of": {
        "hits": "Rates of groups: hits per relevant item (reo), or recommendations per item that "
        "the user did not have in training (rsp).",
        "shown": "Rates of groups: recommendations per relevant item (reo), or per item of the "
        "group (rsp).",
    },
}  # fmt: skip
#: The choices that are numbers: the share or count that ends the tail, the patience of a user.
NUMBERS = ("tail_at", "patience")
