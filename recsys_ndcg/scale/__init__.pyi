from recsys_ndcg.scale.engines import find_engine as find_engine
from recsys_ndcg.scale.engines import find_files as find_files
from recsys_ndcg.scale.engines import is_files as is_files
from recsys_ndcg.scale.engines import is_pair as is_pair
