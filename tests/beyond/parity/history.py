"""Serendipity by distance from the user's training items."""

from tests.beyond.parity import Ask

ASKS = {
    ("evidently", "Serendipity"): Ask("serendipity(topics)"),
    ("recommenders", "serendipity(features)"): Ask("serendipity(topics)"),
    ("recommenders", "serendipity(cooccurrence)"): Ask("serendipity", {"distance": "cooccurrence"}),
    ("recommenders", "serendipity(cooccurrence, relevance)"): Ask(
        "serendipity(by=relevant)", {"distance": "cooccurrence"}
    ),
}
