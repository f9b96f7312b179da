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
    "novelty_model": {
        "discovery": "The probability of an item is its share of the training users.",
        "choice": "The probability of an item is its share of the training interactions.",
    },
    "novelty_as": {
        "bits": "Novelty is in bits.",
        "share": "Novelty is divided by the novelty of an item with one user.",
    },
    "list_over": {
        "n": "A mean over a list is over its items, at most k.",
        "k": "A mean over a list is over k, also if the list is shorter.",
        "one": "Values of a list are added up, not averaged.",
        "full": "A mean over a list is over k; personalization counts the overlap of a list with "
        "itself as k items.",
    },
    "pairs_over": {
        "pairs": "Distances are averaged over the pairs of a list.",
        "k": "The sum of the distances is divided by k(k-1)/2, also if the list is shorter.",
        "n": "The sum of the distances is divided by the number of items, not of pairs.",
    },
    "pairs_as": {
        "distance": "Pairs are compared by distance.",
        "similarity": "Pairs are compared by similarity, 1 - distance.",
    },
    "single_item": {
        "undefined": "A list of one item has no pairs, and no score.",
        0.0: "A list of one item has no pairs, and scores 0.",
        1.0: "A list of one item has no pairs, and scores 1.",
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
    "coverage_as": {
        "share": "Coverage is a share of all items.",
        "count": "Coverage is a number of items.",
        "percent": "Coverage is a percentage of all items, rounded to two decimals.",
    },
    "inequality_over": {
        "n": "Gini is divided by the number of items.",
        "n-1": "Gini is divided by the number of items minus 1.",
    },
    "gini_as": {
        "inequality": "Gini is 0 if all items are recommended equally often.",
        "equality": "Gini is subtracted from 1: 1 if all items are recommended equally often.",
    },
    "log_base": {
        2.0: "Entropy is in bits.",
        "e": "Entropy is in nats.",
    },
    "entropy_over": {
        "recommendations": "Each recommendation counts the same in entropy.",
        "items": "Entropy is divided by the number of recommended items.",
        "lists": "Each list counts the same in entropy, however short it is.",
    },
    "tail": {
        "reach": "The tail is all items but the most popular ones that reach a share of all "
        "popularity.",
        "pass": "The tail is all items but the most popular ones that pass a share of all "
        "popularity.",
        "rarest": "The tail is a share of the items, the rarest.",
        "count": "The tail is the items with at most a number of training users (or rows).",
    },
    "serendipity_by": {
        "ranks": "Serendipity: how much higher a relevant item stands than by its popularity.",
        "history": "Serendipity: the mean distance of the list from the user's training items.",
        "relevant": "Serendipity: the mean distance of the list from the user's training items, 0 "
        "for items that are not relevant.",
        "hits": "Serendipity: 1 minus the sum of the similarities of relevant items to the user's "
        "training items, for users with a relevant recommendation.",
    },
    "divergence": {
        "kl": "Calibration: the Kullback-Leibler divergence of the list from the history.",
        "js": "Calibration: the Jensen-Shannon divergence of list and history.",
    },
    "population": {
        "train": "The share of the users who had an item is of the users of training.",
        "known": "The share of the users who had an item is of all users in train= or groups=.",
    },
    "seen": {
        "count": "A recommended item that the user had in training counts like any other.",
        "raise": "A recommended item that the user had in training is an error.",
    },
    "topics_over": {
        "all": "Distinct topics are over all topics.",
        "relevant": "Distinct topics are over the topics of the user's relevant items.",
        "train": "Distinct topics are over the topics of the training items.",
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
