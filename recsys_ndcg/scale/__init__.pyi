from recsys_ndcg.scale.duckdb import read_users_in_batches as read_users_in_batches
from recsys_ndcg.scale.engines import find_engine as find_engine
from recsys_ndcg.scale.engines import is_pair as is_pair
from recsys_ndcg.scale.engines import list_tables as list_tables
