"""Ranking evaluation for recommenders: every score comes with the choices that it depends on.

Evaluate one model: ``report = rn.evaluate(predictions, k=10, threshold=4)``
    The data can be rows (user, item, estimated, true), a pandas, polars or pyarrow table, a file,
    Surprise predictions, ``{"labels": ..., "results": ...}``, TREC qrels and runs.
    report.summary, report.per_user, report.audit, report.leaderboard(), report.explain(user),
    report.by("activity"), report.signature(), report.to_html("page.html")

Compare models: ``rn.compare({"SVD": a, "KNN": b}, threshold=4)``
    .verdict, .leaderboard, .pairwise, .movers(), .not_worse("SVD", margin=0.01), .to_latex()
    rn.across: on several data sets. rn.power: how many users a comparison needs.

Train and compare: ``rn.experiment(ratings, {"SVD": SVD(), "mine": train}, folder="runs/today")``
    recsys_ndcg.surprise: all of surprise.model_selection and surprise.accuracy, with ranking
    metrics, and rank_catalogue, evaluate_catalogue, splits by user and by time.

Why numbers differ: ``rn.reconcile(predictions, "precision@10", threshold=4, reported=0.591)``
    rn.Convention: every choice that can change a number. convention="trec_eval" in any of these
    computes metrics as that library does; ``rn.Convention.presets()`` lists the libraries.

One list: ``rn.ndcg_at_k([(4.5, 5), (3.0, 2)], 10)``
    Also dcg_at_k, precision_at_k, recall_at_k, average_precision_at_k, reciprocal_rank,
    jaccard_at_k, rbo.

Other libraries train by these metrics: rn.integrations has
    scorer             scikit-learn: cross-validation and search
    lightgbm_metric    LightGBM: feval
    xgboost_metric     XGBoost: custom_metric
    catboost_curve     CatBoost: the score by number of trees
    torchmetric        torchmetrics and Lightning
    keras_callback     Keras: a score after each epoch
    OptunaPruner       Optuna: ends trials that are significantly worse
    mlflow_metric      MLflow: mlflow.models.evaluate

More: rn.metric (a metric of your own), rn.Accumulator (batches, training loops),
    rn.RankedLists.from_... (other data), rn.datasets.sample_ratings (ratings to try it with),
    rn.NDCG(10) and other metrics (all are in rn.metrics), rn.results (the types of results, for
    annotations), DataWarning and InvalidInputError.

help(rn.evaluate), help(rn.Report) and so on explain each; the pages are in docs/, and
recsys-ndcg --help is the command line.
"""

from recsys_ndcg.lazy import attach_stub
from recsys_ndcg.version import __version__ as __version__

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
