"""Small scripts as users of Surprise write them, for `test_import_line`.

Each reads ``ratings.csv`` (user, item, rating from 1 to 5, timestamp) in the current folder and
stores its outcome in `result`.
"""

from __future__ import annotations

SCRIPTS: dict[str, str] = {}

_READ = """
import pandas as pd

frame = pd.read_csv("ratings.csv", names=["user", "item", "rating", "timestamp"])
data = Dataset.load_from_df(frame[["user", "item", "rating"]], Reader(rating_scale=(1, 5)))
"""

SCRIPTS["cross-validation as in the documentation"] = f"""
import numpy as np
from surprise import SVD, Dataset, Reader
from surprise.model_selection import cross_validate

np.random.seed(0)
{_READ}
algo = SVD(n_factors=3, n_epochs=3)
scores = cross_validate(algo, data, measures=["RMSE", "MAE"], cv=3, verbose=True)
result = scores["test_rmse"], scores["test_mae"], algo.predict("u001", "i001")
"""

SCRIPTS["star imports"] = f"""
from surprise import *
from surprise.model_selection import *
{_READ}
trainset, testset = train_test_split(data, random_state=0)
algo = KNNWithZScore(k=5)
result = algo.fit(trainset).test(testset)[:5], get_dataset_dir(), Trainset is type(trainset)
"""

SCRIPTS["module names"] = """
import surprise
import surprise.model_selection as selection

reader = surprise.Reader(line_format="user item rating timestamp", sep=",")
data = surprise.Dataset.load_from_file("ratings.csv", reader)
trainset, testset = surprise.model_selection.train_test_split(data, random_state=0)
algo = surprise.prediction_algorithms.SVD(n_epochs=2, random_state=0).fit(trainset)
folds, predictions = selection.split.KFold(2, random_state=0), algo.test(testset)
result = (
    surprise.accuracy.rmse(predictions),
    surprise.accuracy.mae(predictions, verbose=True),
    surprise.accuracy.mse(predictions, False),
    surprise.accuracy.fcp(predictions, verbose=False),
    surprise.model_selection.cross_validate(algo, data, cv=folds, verbose=True)["test_mae"],
    surprise.__version__,
)
"""
