from recsys_ndcg.comparison.comparison import Comparison as Comparison
from recsys_ndcg.comparison.model_scores import CHANCE as CHANCE
from recsys_ndcg.comparison.model_scores import ModelScores as ModelScores
from recsys_ndcg.comparison.model_scores import flatten_parameters as flatten_parameters
from recsys_ndcg.comparison.page import build_comparison_page as build_comparison_page
from recsys_ndcg.comparison.reading_models import check_test_options as check_test_options
from recsys_ndcg.comparison.reading_models import compare as compare
from recsys_ndcg.comparison.reading_models import map_models as map_models
