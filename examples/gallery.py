"""Compare four Surprise models on a page: on sample ratings, and on a file of ratings.

``python examples/gallery.py [ratings.dat] [--picture page.png]`` writes a page for each into the
current folder, and a picture of the first page if a Chromium is installed.
"""

import argparse
import shutil
import subprocess
import warnings
from pathlib import Path

import pandas as pd

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.ratings import read_ratings
from recsys_ndcg.surprise import (
    SVD,
    BaselineOnly,
    Dataset,
    KNNBaseline,
    MostPopular,
    Reader,
    train_test_split,
)

WIDTH, HEIGHT = 1200, 1300
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")


def compare_models(ratings: pd.DataFrame, threshold: float) -> rn.Comparison:
    """Train on four fifths of the ratings, and compare the models on the rest."""
    scale = ratings["rating"].min(), ratings["rating"].max()
    data = Dataset.load_from_df(ratings[["user", "item", "rating"]], Reader(rating_scale=scale))
    trainset, testset = train_test_split(data, test_size=0.2, random_state=0)
    models = {
        "KNN": KNNBaseline(sim_options={"user_based": False}, verbose=False),
        "SVD": SVD(n_factors=20, random_state=0),
        "biases": BaselineOnly(verbose=False),
        "popular": MostPopular(),
    }
    predictions = {name: one.fit(trainset).test(testset) for name, one in models.items()}
    metrics = ["ndcg@10", "precision@10", "recall@10", "rmse"]
    return rn.compare(predictions, metrics=metrics, threshold=threshold, by="activity")


def draw(page: Path, picture: Path) -> None:
    """Draw the top of a page with a headless browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        msg = f"No browser draws {picture}: install one of {', '.join(BROWSERS)}."
        raise SystemExit(msg)
    size = f"--window-size={WIDTH},{HEIGHT}"
    still = ["--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=5000"]
    command = [browser, *still, size, f"--screenshot={picture}", page.resolve().as_uri()]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a browser


def main() -> None:
    """Write the requested pages."""
    warnings.simplefilter("ignore", rn.DataWarning)  # about ties; the pages report them
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings", nargs="?", type=Path)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    pages = {Path("sample.html"): (sample_ratings(), 4.0)}
    if arguments.ratings is not None:
        ratings = read_ratings(arguments.ratings)
        pages[Path(f"{arguments.ratings.stem}.html")] = ratings, 0.8 * ratings["rating"].max()
    for page, (ratings, threshold) in pages.items():
        comparison = compare_models(ratings, threshold)
        comparison.to_html(page)
        print(f"{page}: {page.stat().st_size / 1e6:.1f} MB. {comparison.verdict}")
    if arguments.picture is not None:
        draw(next(iter(pages)), arguments.picture)
        print(f"{arguments.picture}: {arguments.picture.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
