"""Small scripts as users of Surprise write them, for `test_import_line`.

Each finds a file ``ratings.csv`` (user, item, rating from 1 to 5, timestamp) where it runs, and
leaves what came of it in `result`.
"""

from __future__ import annotations

SCRIPTS: dict[str, str] = {}

_READ = """
import pandas as pd

frame = pd.read_csv("ratings.csv", names=["user", "item", "rating", "timestamp"])
data = Dataset.load_from_df(frame[["user", "item", "rating"]], Reader(rating_scale=(1, 5)))
"""

SCRIPTS["the first lines of all"] = (
    """
import numpy as np
from surprise import SVD, Dataset, Reader
from surprise.model_selection import cross_validate

np.random.seed(0)
"""
    + _READ
    + """
algo = SVD(n_factors=3, n_epochs=3)
scores = cross_validate(algo, data, measures=["RMSE", "MAE"], cv=3, verbose=True)
result = scores["test_rmse"], scores["test_mae"], algo.predict("u001", "i001")
"""
)

SCRIPTS["from a file, split once"] = """
from surprise import BaselineOnly, Dataset, Reader, accuracy
from surprise.model_selection import train_test_split

reader = Reader(line_format="user item rating timestamp", sep=",")
data = Dataset.load_from_file("ratings.csv", reader=reader)
trainset, testset = train_test_split(data, test_size=0.25, random_state=1)
predictions = BaselineOnly(verbose=False).fit(trainset).test(testset)
result = (
    accuracy.rmse(predictions),
    accuracy.mae(predictions, verbose=True),
    accuracy.mse(predictions, False),
    accuracy.fcp(predictions, verbose=False),
)
"""

SCRIPTS["the whole as trainset"] = (
    "from surprise import Dataset, KNNBasic, Reader\n"
    + _READ
    + """
trainset = data.build_full_trainset()
algo = KNNBasic()
algo.fit(trainset)
result = algo.predict("u002", "i003", r_ui=4, verbose=True), trainset.global_mean
"""
)

SCRIPTS["the folds one by one"] = (
    "from surprise import SVD, Dataset, Reader, accuracy\n"
    "from surprise.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit\n"
    + _READ
    + """
result = []
for folds in (
    KFold(n_splits=3, random_state=0),
    RepeatedKFold(n_splits=2, n_repeats=2, random_state=0),
    ShuffleSplit(n_splits=2, test_size=0.3, random_state=0),
    LeaveOneOut(n_splits=2, random_state=0, min_n_ratings=3),
):
    for trainset, testset in folds.split(data):
        algo = SVD(n_factors=2, n_epochs=2, random_state=0)
        algo.fit(trainset)
        result.append(accuracy.rmse(algo.test(testset), verbose=True))
"""
)

SCRIPTS["folds of files"] = """
from surprise import SVD, Dataset, Reader, accuracy
from surprise.model_selection import PredefinedKFold, cross_validate

lines = open("ratings.csv").read().splitlines()
for fold in (0, 1):
    open(f"train{fold}", "w").write("\\n".join(lines[1 - fold :: 2]))
    open(f"test{fold}", "w").write("\\n".join(lines[fold::2]))
reader = Reader(line_format="user item rating timestamp", sep=",")
data = Dataset.load_from_folds([("train0", "test0"), ("train1", "test1")], reader=reader)
result = []
for trainset, testset in PredefinedKFold().split(data):
    algo = SVD(n_factors=2, n_epochs=2, random_state=0).fit(trainset)
    result.append(accuracy.rmse(algo.test(testset)))
result.append(cross_validate(algo, data, cv=PredefinedKFold())["test_mae"])
"""

SCRIPTS["a grid search"] = (
    "from surprise import SVD, Dataset, Reader\n"
    "from surprise.model_selection import GridSearchCV, KFold\n"
    + _READ
    + """
grid = {"n_epochs": [2, 4], "lr_all": [0.002, 0.02], "reg_all": [0.4], "random_state": [0]}
search = GridSearchCV(SVD, grid, measures=["rmse", "mae"], cv=KFold(3, random_state=0))
search.fit(data)
print(search.best_score["rmse"], search.best_params["rmse"])
algo = search.best_estimator["rmse"]
algo.fit(data.build_full_trainset())
table = pd.DataFrame.from_dict(search.cv_results)
result = (
    algo.predict("u001", "i002"),
    table[[name for name in table if not name.endswith("_time")]].to_csv(),
    search.best_index,
)
"""
)

SCRIPTS["neighbours and their options"] = (
    "from surprise import Dataset, KNNBaseline, KNNWithMeans, Reader\n"
    "from surprise.model_selection import GridSearchCV\n"
    "from surprise.model_selection import KFold as Folds\n"
    + _READ
    + """
grid = {
    "k": [3, 10],
    "sim_options": {"name": ["msd", "pearson"], "min_support": [1, 2], "user_based": [False]},
    "verbose": [False],
}
search = GridSearchCV(KNNWithMeans, grid, ["fcp"], cv=Folds(2, random_state=0), refit=True)
search.fit(data)
algo = KNNBaseline(sim_options={"name": "pearson_baseline", "shrinkage": 0, "user_based": False})
algo.fit(data.build_full_trainset())
inner = algo.trainset.to_inner_iid("i001")
near = [algo.trainset.to_raw_iid(one) for one in algo.get_neighbors(inner, k=5)]
result = search.best_params, search.test([("u001", "i001", 3.0)]), near
"""
)

SCRIPTS["a search at random"] = (
    "from scipy import stats\nfrom surprise import SVD, Dataset, Reader\n"
    "from surprise.model_selection import KFold, RandomizedSearchCV\n"
    + _READ
    + """
drawn = {
    "n_epochs": stats.randint(1, 5), "lr_all": stats.uniform(0.002, 0.02), "random_state": [0]
}
search = RandomizedSearchCV(
    SVD, drawn, n_iter=3, measures=["RMSE", "fcp"], cv=KFold(2, random_state=0), refit="fcp",
    random_state=3,
)
search.fit(data)
result = search.best_params, search.best_score, search.predict("u001", "i001").est
"""
)

SCRIPTS["precision and recall at k"] = (
    "from collections import defaultdict\nfrom surprise import SVD, Dataset, Reader\n"
    "from surprise.model_selection import KFold\n"
    + _READ
    + """
def at_k(predictions, k=5, threshold=3.5):
    of_user = defaultdict(list)
    for user, _, true, estimate, _ in predictions:
        of_user[user].append((estimate, true))
    found = {}
    for user, rows in of_user.items():
        first = sorted(rows, key=lambda row: row[0], reverse=True)[:k]
        hits = sum(true >= threshold and estimate >= threshold for estimate, true in first)
        relevant = sum(true >= threshold for _, true in rows)
        shown = sum(estimate >= threshold for estimate, _ in first)
        found[user] = (hits / shown if shown else 0, hits / relevant if relevant else 0)
    return found


result = [
    at_k(SVD(n_epochs=3, random_state=0).fit(trainset).test(testset))
    for trainset, testset in KFold(n_splits=2, random_state=0).split(data)
]
"""
)

SCRIPTS["the top n of everybody"] = (
    "from collections import defaultdict\nfrom surprise import NMF, Dataset, Reader\n"
    + _READ
    + """
trainset = data.build_full_trainset()
algo = NMF(n_factors=3, n_epochs=4, random_state=0)
algo.fit(trainset)
top = defaultdict(list)
for user, item, _, estimate, _ in algo.test(trainset.build_anti_testset()):
    top[user].append((item, estimate))
result = {user: sorted(rows, key=lambda row: -row[1])[:4] for user, rows in top.items()}
"""
)

SCRIPTS["dumped and loaded"] = (
    "from surprise import SVD, Dataset, Reader, dump\nfrom surprise.dump import load\n"
    + _READ
    + """
trainset = data.build_full_trainset()
algo = SVD(n_epochs=2, random_state=0).fit(trainset)
predictions = algo.test(trainset.build_testset())
dump.dump("dumped", predictions=predictions, algo=algo, verbose=1)
again, loaded = load("dumped")
result = again == predictions, loaded.test(trainset.build_testset()) == predictions, again[:3]
"""
)

SCRIPTS["an algorithm of one's own"] = (
    "import numpy as np\nfrom surprise import AlgoBase, Dataset, PredictionImpossible, Reader\n"
    "from surprise.model_selection import cross_validate, KFold\n"
    + _READ
    + """
class MyOwn(AlgoBase):
    def __init__(self, sim_options={}, bsl_options={}):
        AlgoBase.__init__(self, sim_options=sim_options, bsl_options=bsl_options)

    def fit(self, trainset):
        AlgoBase.fit(self, trainset)
        self.bu, self.bi = self.compute_baselines()
        self.sim = self.compute_similarities()
        return self

    def estimate(self, u, i):
        if not (self.trainset.knows_user(u) and self.trainset.knows_item(i)):
            raise PredictionImpossible("User and/or item is unknown.")
        near = sorted(((self.sim[u, v], r) for v, r in self.trainset.ir[i]), reverse=True)[:3]
        return np.mean([r for _, r in near]) + self.bu[u] / 10, {"neighbours": len(near)}


algo = MyOwn(sim_options={"name": "msd"}, bsl_options={"method": "sgd", "n_epochs": 2})
scores = cross_validate(algo, data, cv=KFold(2, random_state=0), verbose=True)
result = scores["test_rmse"], algo.predict("u001", "i001"), algo.predict("u001", "unknown")
"""
)

SCRIPTS["baselines configured"] = (
    "from surprise import BaselineOnly, Dataset, KNNBasic, Reader\n"
    "from surprise.model_selection import cross_validate, KFold\n"
    + _READ
    + """
result = []
for options in (
    {"method": "als", "n_epochs": 5, "reg_u": 12, "reg_i": 5},
    {"method": "sgd", "learning_rate": 0.00005},
):
    for algo in (
        BaselineOnly(bsl_options=options),
        KNNBasic(bsl_options=options, sim_options={"name": "pearson_baseline"}),
    ):
        scores = cross_validate(algo, data, cv=KFold(2, random_state=0), verbose=True)
        result.append(scores["test_rmse"])
"""
)

SCRIPTS["which algorithm"] = (
    """
import random
import numpy as np
from surprise import NMF, SVD, BaselineOnly, CoClustering, Dataset, KNNBaseline, KNNBasic
from surprise import KNNWithMeans, KNNWithZScore, NormalPredictor, Reader, SlopeOne, SVDpp
from surprise.model_selection import KFold, cross_validate

np.random.seed(0)
random.seed(0)
"""
    + _READ
    + """
kf = KFold(random_state=0)
result = {}
for algo in (
    SVD(n_epochs=2), SVDpp(n_factors=2, n_epochs=1), NMF(n_factors=2, n_epochs=2), SlopeOne(),
    KNNBasic(), KNNWithMeans(), KNNWithZScore(), KNNBaseline(), CoClustering(n_epochs=2),
    BaselineOnly(), NormalPredictor(),
):
    out = cross_validate(algo, data, ["rmse", "mae"], kf, verbose=True, return_train_measures=True)
    result[type(algo).__name__] = [out[name].mean() for name in sorted(out) if "time" not in name]
"""
)

SCRIPTS["everything by a star"] = (
    "from surprise import *\nfrom surprise.model_selection import *\n"
    + _READ
    + """
trainset, testset = train_test_split(data, random_state=0)
algo = KNNWithZScore(k=5)
result = algo.fit(trainset).test(testset)[:5], get_dataset_dir(), Trainset is type(trainset)
"""
)

SCRIPTS["the module by its name"] = """
import surprise
import surprise.model_selection as selection

reader = surprise.Reader(line_format="user item rating timestamp", sep=",")
data = surprise.Dataset.load_from_file("ratings.csv", reader)
trainset, testset = surprise.model_selection.train_test_split(data, random_state=0)
algo = surprise.prediction_algorithms.SVD(n_epochs=2, random_state=0).fit(trainset)
folds = selection.split.KFold(2, random_state=0)
result = (
    surprise.accuracy.rmse(algo.test(testset)),
    surprise.model_selection.cross_validate(algo, data, cv=folds, verbose=True)["test_mae"],
    surprise.__version__,
)
"""

SCRIPTS["out of submodules"] = (
    """
from surprise import similarities as sims
from surprise.accuracy import fcp, rmse
from surprise.builtin_datasets import BUILTIN_DATASETS
from surprise.dataset import Dataset, DatasetAutoFolds
from surprise.model_selection.search import GridSearchCV
from surprise.model_selection.split import KFold, train_test_split
from surprise.model_selection.validation import cross_validate
from surprise.prediction_algorithms import AlgoBase, KNNBasic
from surprise.prediction_algorithms.matrix_factorization import SVD
from surprise.prediction_algorithms.predictions import Prediction
from surprise.reader import Reader
from surprise.trainset import Trainset
from surprise.utils import get_rng
"""
    + _READ
    + """
trainset, testset = train_test_split(data, random_state=get_rng(4))
algo = SVD(n_epochs=2, random_state=0).fit(trainset)
predictions = algo.test(testset)
folds = KFold(2, random_state=0)
search = GridSearchCV(SVD, {"n_epochs": [1, 2], "random_state": [1]}, cv=folds)
search.fit(data)
result = (
    rmse(predictions, verbose=False), fcp(predictions), search.best_params,
    cross_validate(algo, data, cv=folds)["test_rmse"], sorted(BUILTIN_DATASETS),
    isinstance(data, DatasetAutoFolds), isinstance(algo, AlgoBase), isinstance(trainset, Trainset),
    type(predictions[0]) is Prediction, sims.msd.__name__, KNNBasic.__mro__[1].__name__,
)
"""
)

SCRIPTS["a part kept for the end"] = (
    "import random\nfrom surprise import SVD, Dataset, Reader, accuracy\n"
    "from surprise.model_selection import GridSearchCV\n"
    + _READ
    + """
import numpy as np

random.seed(0)
np.random.seed(0)
raw = data.raw_ratings
random.shuffle(raw)
kept = int(0.9 * len(raw))
data.raw_ratings = raw[:kept]
search = GridSearchCV(SVD, {"n_epochs": [2, 5], "random_state": [0]}, measures=["rmse"], cv=3)
search.fit(data)
algo = search.best_estimator["rmse"]
trainset = data.build_full_trainset()
algo.fit(trainset)
result = (
    accuracy.rmse(algo.test(trainset.build_testset())),
    accuracy.rmse(algo.test(data.construct_testset(raw[kept:]))),
)
"""
)

SCRIPTS["one left out of each"] = (
    "import pickle\nfrom surprise import Dataset, KNNBaseline, Reader\n"
    "from surprise.model_selection import LeaveOneOut\n"
    + _READ
    + """
algo = KNNBaseline(sim_options={"name": "cosine", "user_based": False}, verbose=False)
hits = users = 0
for trainset, testset in LeaveOneOut(n_splits=1, random_state=1).split(data):
    algo.fit(trainset)
    best = {}
    for one in algo.test(trainset.build_anti_testset()):
        best.setdefault(one.uid, []).append((one.est, one.iid))
    for user, item, _ in testset:
        users += 1
        hits += item in {iid for _, iid in sorted(best.get(user, ()), reverse=True)[:5]}
result = hits, users, pickle.loads(pickle.dumps(algo)).predict("u001", "i001")
"""
)
