from recsys_ndcg.background.background import SOURCES as SOURCES
from recsys_ndcg.background.background import Background as Background
from recsys_ndcg.background.background import BackgroundOptions as BackgroundOptions
from recsys_ndcg.background.background import Propensity as Propensity
from recsys_ndcg.background.background import read_catalogue as read_catalogue
from recsys_ndcg.background.features import Feature as Feature
