"""The metrics of relevance and of errors, which need nothing besides the lists."""

from recsys_ndcg import metrics

METRICS = {name: kind for name, kind in metrics.METRICS.items() if not kind.needs}
