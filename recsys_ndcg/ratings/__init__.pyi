from recsys_ndcg.ratings.interactions import GroupedRows as GroupedRows
from recsys_ndcg.ratings.interactions import Interactions as Interactions
from recsys_ndcg.ratings.interactions import is_table_by_item as is_table_by_item
from recsys_ndcg.ratings.interactions import read_interactions as read_interactions
from recsys_ndcg.ratings.interactions import read_ratings as read_ratings
from recsys_ndcg.ratings.interactions import split_catalogue as split_catalogue
