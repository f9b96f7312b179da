from recsys_ndcg.ranking.exposures import Exposures as Exposures
from recsys_ndcg.ranking.exposures import ItemTotals as ItemTotals
from recsys_ndcg.ranking.graded_lists import GradedLists as GradedLists
from recsys_ndcg.ranking.ranking import ItemValues as ItemValues
from recsys_ndcg.ranking.ranking import Ranking as Ranking
from recsys_ndcg.ranking.ranking import rank as rank
from recsys_ndcg.ranking.ranking import weighted_sum as weighted_sum
from recsys_ndcg.ranking.sorted_lists import SortedLists as SortedLists
