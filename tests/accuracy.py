"""The metrics of relevance and of errors, which need nothing besides the lists."""

from recsys_ndcg import Convention, metrics

#: The choices that they read.
FIELDS = [name for name in Convention.field_names() if name not in Convention.BEYOND_ACCURACY]
METRICS = {name: kind for name, kind in metrics.METRICS.items() if not kind.needs}
