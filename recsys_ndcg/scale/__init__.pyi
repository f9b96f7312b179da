from recsys_ndcg.scale.engines import engine_for as engine_for
from recsys_ndcg.scale.engines import is_files as is_files
from recsys_ndcg.scale.engines import is_pair as is_pair
from recsys_ndcg.scale.engines import paths_of as paths_of
