from recsys_ndcg.ratings.interactions import Interactions as Interactions
from recsys_ndcg.ratings.reading import read_interactions as read_interactions
